"""Intervals, what counts as extrapolated, which model is asked, and models of nodes and of many peers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from prediction import fit_of

from chiplog.collectives.algorithm import Task
from chiplog.collectives.registry import OPERATIONS
from chiplog.errors import UsageError
from chiplog.fitting.estimates.parameters import interval
from chiplog.fitting.result import Curve, Fit
from chiplog.prediction.predict import models_of, predict
from chiplog.prediction.result import Prediction

VALUES = {"L": 2.5e-6, "o_s": 1.5e-6, "o_r": 1.5e-6, "g": 1e-6, "G": 6e-9}
LOGGP = fit_of("loggp", VALUES, last_bytes=65536)
LOGFP = {"L": 5e-6, "g": 5e-6, "f": 7.0, "o_min": 0.18e-6, "o_max": 1.6e-6}
RATES = {"s0": 5e-6, "R_C": 4e9, "R_N": 7e9}


def curve(quantity: str, peers: list[int] | None = None) -> Curve:
    sizes = np.full(len(peers) if peers else 1, 8)
    seconds = np.full(sizes.size, 1e-6)
    return Curve(
        quantity, sizes, seconds, seconds, seconds, seconds, np.array(peers) if peers else None
    )


def only(*rows: Prediction) -> Prediction:
    return rows[0]


def test_the_interval_is_that_of_the_fits_draws() -> None:
    """P = 2: one message of L + 2 o, with draws of L between 2 and 3 us and o fixed."""
    L = np.linspace(2e-6, 3e-6, 200)
    fixed = {"o_s": np.full(200, 1.5e-6), "o_r": np.full(200, 1.5e-6)}
    fit = fit_of("loggp", VALUES, draws={"L": L, **fixed})
    row = only(*predict([fit], "bcast", Task(2), algorithm="linear"))
    low, high = np.array(interval(L)) + 3e-6
    assert row.seconds == pytest.approx(5.5e-6)
    assert (row.low, row.high) == pytest.approx((low, high))


def test_draws_of_two_parameters_stay_together() -> None:
    """L and o that make up for each other leave one message's time certain."""
    o = np.linspace(1e-6, 2e-6, 200)
    fit = fit_of("loggp", VALUES, draws={"L": 5.5e-6 - 2 * o, "o_s": o, "o_r": o})
    row = only(*predict([fit], "bcast", Task(2), algorithm="linear"))
    assert row.high - row.low < 1e-12


def test_without_draws_the_parameters_intervals_are_carried_through() -> None:
    exact = only(*predict([LOGGP], "barrier", Task(64), algorithm="dissemination"))
    assert exact.low == exact.seconds == exact.high
    unsure = only(
        *predict(
            [fit_of("loggp", VALUES, spread=0.1)], "barrier", Task(64), algorithm="dissemination"
        )
    )
    assert unsure.seconds == exact.seconds
    assert 0.05 < (unsure.high - unsure.low) / (2 * unsure.seconds) < 0.1


def test_overlapping_intervals_are_unclear() -> None:
    sure = predict([fit_of("loggp", VALUES, spread=0.001)], "barrier", Task(33))
    assert [row.verdict for row in sure][:2] == ["fastest", "slower"]
    unsure = predict([fit_of("loggp", VALUES, spread=0.6)], "barrier", Task(33))
    assert [row.verdict for row in unsure][:2] == ["unclear", "unclear"]
    assert sure[-1].verdict == unsure[-1].verdict == "bound"


def test_a_bound_is_never_called_the_fastest() -> None:
    """Beyond 128 ranks, broadcast by scatter and allgather has a bound only; it is the first row here."""
    small, large = (predict([LOGGP], "bcast", Task(ranks, 8_000_000)) for ranks in (128, 4096))
    assert {row.method for row in small[:-1]} == {"closed-form", "simulation"}
    by_name = {row.algorithm: row for row in large}
    assert by_name["scatter-allgather"].method == by_name["chain"].method == "bound"
    assert large[0].method == "bound" and large[0].verdict == "unclear"
    assert "fastest" not in {row.verdict for row in large}


def test_longer_messages_than_were_measured_are_extrapolated() -> None:
    """A gather's blocks add up on their way, a linear one's do not."""
    rows = {row.algorithm: row for row in predict([LOGGP], "gather", Task(64, 10000))}
    assert not rows["linear"].extrapolated and rows["linear"].reason is None
    assert rows["binomial"].extrapolated
    assert rows["binomial"].reason == "messages of 320,000 B, 1 to 65,536 B were measured"


def test_more_peers_and_ranks_than_were_measured_are_extrapolated() -> None:
    fit = fit_of("logfp", LOGFP, curves=[curve("round_trip_over_peers", [1, 4, 16])])
    rows = {row.algorithm: row for row in predict([fit], "barrier", Task(16))}
    assert not any(row.extrapolated for row in rows.values())
    rows = {row.algorithm: row for row in predict([fit], "barrier", Task(64), peers=63)}
    assert rows["dissemination"].reason == "64 ranks, up to 17 were measured"
    assert rows["n-way-dissemination"].reason == (
        "63 peers, up to 16 were measured; 64 ranks, up to 17 were measured"
    )


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_a_halo_exchange_shares_the_rate_of_its_node(dimensions: int) -> None:
    """s0 + m max(k n/R_N, n/R_C), m = 2 faces a dimension: one rank is bound by R_C, sixteen by R_N."""
    fit = fit_of("max-rate", RATES, curves=[curve("half_round_trip(k=4)")])
    for per_node, rate in ((1, 4e9), (16, 7e9 / 16)):
        task = Task(64, 100_000, dimensions=dimensions)
        row = only(*predict([fit], "halo", task, per_node=per_node))
        assert row.seconds == pytest.approx(5e-6 + 2 * dimensions * 100_000 / rate)
        assert row.extrapolated == (per_node > 4)
    assert row.reason == "16 ranks a node, up to 4 were measured"


def test_with_ranks_that_share_a_node_max_rate_comes_first() -> None:
    fits = [LOGGP, fit_of("max-rate", RATES)]
    assert only(*predict(fits, "halo", Task(16))).model == "loggp"
    assert only(*predict(fits, "halo", Task(16), per_node=4)).model == "max-rate"
    assert only(*predict(fits, "halo", Task(16), model="max-rate")).model == "max-rate"
    assert only(*predict(fits, "bcast", Task(16), per_node=4)).model == "loggp"


@pytest.mark.parametrize("model", ["max-rate-4", "max-rate-modified", "postal"])
def test_every_model_of_a_node_predicts_an_alltoall(model: str) -> None:
    values = {"R_Cb": 4e9, "R_Ci": 1e9} if model == "max-rate-4" else {"R_C": 4e9}
    fit = fit_of(model, {"s0": 5e-6, **values, **({} if model == "postal" else {"R_N": 7e9})})
    *rows, bound = predict([fit], "alltoall", Task(16, 4096))
    assert len(rows) == 3 and 0 < bound.seconds <= rows[0].seconds * (1 + 1e-12)


def test_an_unidentified_gap_below_the_overhead_has_no_effect() -> None:
    without = fit_of("loggp", {**VALUES, "g": None}, bounds={"g": (0.0, 1.5e-6)})
    for ranks in (7, 64):
        rows = predict([without], "barrier", Task(ranks))
        assert [r.seconds for r in rows] == [
            r.seconds for r in predict([LOGGP], "barrier", Task(ranks))
        ]


def test_a_protocol_without_latency_is_refused_for_its_own_sizes_only() -> None:
    eager = fit_of("loggp", VALUES, last_bytes=1000)
    late = fit_of("loggp", {**VALUES, "L": None}, first_bytes=1001)
    fit = replace(eager, segments=(*eager.segments, *late.segments))
    assert predict([fit], "bcast", Task(4, 1000), algorithm="binomial")
    with pytest.raises(UsageError, match="1001 to 1048576 B: L is not identified"):
        predict([fit], "bcast", Task(4, 1001), algorithm="binomial")


def test_logfp_without_f_takes_what_its_draws_say() -> None:
    draws = {"f": np.full(50, 7.0), "g": np.full(50, 5e-6)}
    unsure = fit_of("logfp", {**LOGFP, "f": None, "g": None}, draws=draws)
    sure = fit_of("logfp", LOGFP)
    one, other = (predict([fit], "barrier", Task(64))[0].seconds for fit in (unsure, sure))
    assert one == pytest.approx(other)
    with pytest.raises(UsageError, match="f is not identified"):
        predict([fit_of("logfp", {**LOGFP, "f": None})], "barrier", Task(64))


def test_sends_that_wait_for_their_receivers_are_simulated() -> None:
    found = {
        S: only(
            *predict(
                [fit_of("loggps", {**VALUES, "S": S})],
                "bcast",
                Task(8, 1000),
                algorithm="scatter-allgather",
            )
        )
        for S in (500.0, 1.0)
    }
    assert {row.method for row in found.values()} == {"simulation"}
    dissemination = {
        S: only(
            *predict(
                [fit_of("loggps", {**VALUES, "S": S})],
                "barrier",
                Task(8, 100),
                algorithm="dissemination",
            )
        ).method
        for S in (100.0, 99.0)
    }
    assert dissemination == {100.0: "closed-form", 99.0: "simulation"}


@pytest.mark.parametrize("fit", [LOGGP, fit_of("logfp", LOGFP), fit_of("max-rate", RATES)])
def test_one_rank_waits_for_nobody(fit: Fit) -> None:
    seen = 0
    for operation in OPERATIONS:
        if fit.model in models_of(operation):
            rows = predict([fit], operation, Task(1, 8))
            seen += len(rows)
            assert all(row.seconds == row.low == row.high == 0 for row in rows), operation
    assert seen > 5


def test_no_algorithm_is_faster_than_the_lower_bound_where_short_segments_cost_less_a_byte() -> (
    None
):
    sizes = np.array([1, 1024, 8192, 65536])
    # Half round trips of a ring buffer: a train's steps, far below them, overlap their copies.
    half, step = 1e-6 + 1e-9 * sizes, 0.5e-6 + 0.05e-9 * sizes
    measured = (("half_round_trip", half), ("gap", step))
    curves = tuple(Curve(name, sizes, times, times, times, times) for name, times in measured)
    fitted = replace(
        fit_of("loggp", {**VALUES, "L": 0.5e-6, "o_s": 0.2e-6, "o_r": 0.2e-6}), curves=curves
    )
    *rows, bound = predict([fitted], "bcast", Task(2, 65536), anyway=True)
    assert min(rows, key=lambda row: row.seconds).algorithm == "chain"
    assert bound.seconds <= min(row.seconds for row in rows)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_algorithm_is_predicted_where_each_size_is_of_a_regime_of_its_own(
    operation: str,
) -> None:
    """Bounds ask for sizes that no message of the schedule has."""
    one_segment = LOGGP.segments[0]
    borders = [(1, 1), *((2**bit + 1, 2 ** (bit + 1)) for bit in range(17))]
    segments = tuple(
        replace(one_segment, first_bytes=first, last_bytes=last) for first, last in borders
    )
    fit = replace(LOGGP, segments=segments)
    for ranks in (2, 3, 8, 13):
        for size in (1, 3, 100, 5000) if operation != "barrier" else (1,):
            rows = predict([fit], operation, Task(ranks, size), anyway=True)
            assert all(0.0 <= row.low <= row.seconds <= row.high for row in rows)
