"""Every model of one to many and of many pairs finds the parameters of a simulated network that follows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from known_networks import (
    PAIRS,
    PUBLISHED_LOP,
    PUBLISHED_OVERHEAD,
    Theta,
    logfp_target,
    lop_target,
    pairs_target,
)
from simulated import over_pairs, over_peers, simulated_runs

from chiplog.collectives.algorithm import Task
from chiplog.dataset.series import Dataset
from chiplog.fitting.fit import fit
from chiplog.fitting.result import Fit
from chiplog.models.protocol import points
from chiplog.models.registry import load_model
from chiplog.plan.assessment import records_of
from chiplog.plan.request import SeriesRequest
from chiplog.prediction.predict import predict

EXACT = 1e-3
SIZES = tuple(1024 << step for step in range(0, 12, 2))
NUMBERS_OF_PAIRS = (1, 2, 3, 4, 6, 8)
PEERS = range(1, 33)


def measured(target: str, series: tuple[SeriesRequest, ...]) -> Dataset:
    return next(simulated_runs(target, series, samples=3))


def found(one: Fit, segment: int = 0) -> Mapping[str, float | None]:
    return {name: each.value for name, each in one.segments[segment].parameters.items()}


def expect(one: Fit, truth: Theta, segment: int = 0) -> None:
    values = found(one, segment)
    assert {name: values[name] for name in truth} == pytest.approx(dict(truth), rel=EXACT)


@pytest.mark.parametrize("f", [1, 2, 4, 7, 12])
@pytest.mark.parametrize(("L", "g"), [(5e-6, 5e-6), (2e-6, 1e-6)])
def test_logfp(f: int, L: float, g: float) -> None:
    truth = {"L": L, "o_min": 0.18e-6, "o_max": 1.6e-6, "g": g, "f": float(f)}
    (one,) = fit(measured(logfp_target(truth, 33), over_peers(PEERS)), ["logfp"])
    expect(one, truth)
    assert one.error.max_relative < EXACT


# Records keep whole nanoseconds: of the published times that is too coarse for a pole near 0.
@pytest.mark.parametrize("published", PUBLISHED_LOP)
def test_lop(published: str) -> None:
    times = ("C", "l1", "A")
    curve = {
        name: 100 * value if name in times else value
        for name, value in PUBLISHED_LOP[published].items()
    }
    overhead = {
        name: 100 * value if name != "l3" else value for name, value in PUBLISHED_OVERHEAD.items()
    }
    run = measured(lop_target(curve, overhead, 33), over_peers(PEERS))
    both = fit(run, ["lop", "lop-overhead"])
    expect(both[0], curve)
    expect(both[1], overhead)


@pytest.mark.parametrize("model", PAIRS)
def test_pairs(model: str) -> None:
    run = measured(pairs_target(model, 16), over_pairs(NUMBERS_OF_PAIRS, SIZES))
    one = fit(run, [model])[0]
    assert len(one.segments) == 1
    expect(one, PAIRS[model][1])
    assert one.error.max_relative < EXACT


def test_a_rate_of_the_node_that_no_number_of_pairs_reaches_is_not_made_up() -> None:
    run = measured("sim:ranks=16,L=3us,o=1us,R_C=2GB/s,R_N=17GB/s", over_pairs((1, 4, 8), SIZES))
    (one,) = fit(run, ["max-rate"])
    expect(one, {"s0": 5e-6, "R_C": 2e9})
    assert not one.segments[0].parameters["R_N"].identified


def test_protocols_of_pairs_are_found_with_the_rates_of_each() -> None:
    """Blue Waters' published ping-pongs: short, eager and rendezvous."""
    published = (
        "sim:ranks=32,L=4us,o=0,R_C=0.63GB/s,R_N=5.5GB/s,"
        "change=512:L=11us:R_C=1.7GB/s,change=8KiB:L=20us:R_C=3.6GB/s"
    )
    sizes = [8 << step for step in range(7)] + [1 << step for step in range(10, 24)]
    records = [over_pairs((1, 2, 4, 8, 16), sizes[first : first + 12]) for first in (0, 12)]
    parts = [measured(published, record) for record in records]
    run = replace(parts[0], series=tuple(one for part in parts for one in part.series))
    (one,) = fit(run, ["max-rate"])
    assert [segment.first_bytes for segment in one.segments] == [8, 1024, 16384]
    expect(one, {"s0": 20e-6, "R_C": 3.6e9, "R_N": 5.5e9}, segment=2)
    expect(one, {"s0": 11e-6, "R_C": 1.7e9}, segment=1)


@pytest.mark.parametrize("model", PAIRS)
def test_samples_of_pairs_are_the_formula_to_the_nanosecond(model: str) -> None:
    target, truth = PAIRS[model]
    for one in measured(f"sim:ranks=16,{target}", over_pairs(NUMBERS_OF_PAIRS, SIZES)).series:
        asked = points("pairs", one.message_bytes, pairs=one.pairs)
        exact = load_model(model).seconds(asked, truth)[0]
        assert np.all(np.abs(one.seconds - exact) < 0.6e-9)


@pytest.mark.parametrize("duplex", [1.0, 1.5, 2.0])
def test_messages_that_meet(duplex: float) -> None:
    truth = {"L": 3e-6, "o_s": 1e-6, "o_r": 1.2e-6, "g": 2e-6, "G": 0.5e-9}
    target = f"sim:L=3us,o_s=1us,o_r=1.2us,g=2us,G=0.5ns,duplex={duplex}"
    fits = fit(measured(target, prtt_and_exchanges()), ["loggp"])
    values = found(fits[0])
    assert {name: values[name] for name in truth} == pytest.approx(truth, rel=0.02)
    sent, start_up = 65_536, truth["L"] + truth["o_s"] + truth["o_r"]
    wire = duplex * truth["G"] * (sent - 1)

    def predicted(operation: str, algorithm: str, message_bytes: int = sent) -> float:
        return predict(fits, operation, Task(8, message_bytes), algorithm=algorithm)[0].seconds

    assert predicted("allgather", "ring") == pytest.approx(7 * (start_up + wire), rel=0.01)
    assert predicted("alltoall", "pairwise") == pytest.approx(7 * (start_up + wire), rel=0.01)
    halo = start_up + 3 * truth["g"] + 4 * wire
    assert predicted("halo", "direct") == pytest.approx(halo, rel=0.01)


def prtt_and_exchanges() -> tuple[SeriesRequest, ...]:
    """What a fit of LogGP with messages that meet needs."""
    return tuple(
        series
        for size in (1, 16, 256, 4096, 65_536)
        for records in (records_of("prtt", size, 2), records_of("exchange", size, 2))
        for record in records
        for series in record
        if series.pattern != "late_receiver"
    )
