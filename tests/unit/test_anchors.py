"""Measured operations of few ranks correct a model that is off by a known amount; what contradicts itself is wide."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from prediction import fit_of

from chiplog.collectives.algorithm import Task
from chiplog.collectives.registry import load
from chiplog.errors import UsageError
from chiplog.fitting.regimes.partition import EXCHANGE, HALF
from chiplog.fitting.result import Curve, Fit
from chiplog.prediction.anchored import rounds_of
from chiplog.prediction.anchors import MOST_ANCHORS, Anchor
from chiplog.prediction.convention import TimeConvention
from chiplog.prediction.correction import CorrectionKind
from chiplog.prediction.predict import predict
from chiplog.prediction.result import Prediction

VALUES = {"L": 2.5e-6, "o_s": 1.5e-6, "o_r": 1.5e-6, "g": 1e-6, "G": 6e-9}
MODEL = fit_of("loggp", VALUES)
SLOWER_BYTES = fit_of("loggp", VALUES | {"G": 9e-9})
MIB = 1 << 20
Truth = Fit | tuple[float, float]
"""Another machine, or a factor and seconds a round by which the model's times are off."""


def true_seconds(truth: Truth, ranks: int, message_bytes: int) -> float:
    fit, factor, offset = (truth, 1.0, 0.0) if isinstance(truth, Fit) else (MODEL, *truth)
    task = Task(ranks, message_bytes)
    seconds = predict([fit], "bcast", task, algorithm="binomial")[0].seconds
    return factor * seconds + offset * rounds_of(load("bcast", "binomial"), task)


def anchors(truth: Truth, *points: tuple[int, int]) -> list[Anchor]:
    return [
        Anchor("bcast", ranks, size, true_seconds(truth, ranks, size), "here.csv", "binomial")
        for ranks, size in points
    ]


def corrected(given: list[Anchor], ranks: int, message_bytes: int, fit: Fit = MODEL) -> Prediction:
    row, bound = predict([fit], "bcast", Task(ranks, message_bytes), anchors=given)
    assert bound.correction is None
    assert row.algorithm == "binomial"
    return row


def test_one_anchor_brings_back_a_model_whose_bytes_are_too_cheap() -> None:
    row = corrected(anchors(SLOWER_BYTES, (4, MIB)), 64, MIB)
    truth = true_seconds(SLOWER_BYTES, 64, MIB)
    assert row.seconds == pytest.approx(truth, rel=1e-3)
    assert row.low < truth < row.high
    assert row.correction is not None
    assert row.correction.kind is CorrectionKind.FACTOR
    assert row.correction.factor.value == pytest.approx(1.5, rel=2e-3)
    assert row.correction.left_out_error is None
    assert row.correction.uncorrected_error == pytest.approx(1 / 3, rel=0.01)


def test_the_interval_of_one_anchor_is_as_wide_as_its_correction() -> None:
    row = corrected(anchors((1.25, 0.0), (4, MIB)), 64, MIB)
    assert row.high / row.seconds == pytest.approx(1.25)
    assert row.seconds / row.low == pytest.approx(1.25)


def test_anchors_of_the_asked_size_decide_alone() -> None:
    given = anchors(SLOWER_BYTES, (4, 8), (4, MIB))
    assert corrected(given, 64, 8).seconds == pytest.approx(true_seconds(MODEL, 64, 8), rel=1e-2)
    assert corrected(given, 64, MIB).seconds == pytest.approx(
        true_seconds(SLOWER_BYTES, 64, MIB), rel=1e-3
    )


@pytest.mark.parametrize(
    ("truth", "kind"),
    [
        ((1.0, 0.0), CorrectionKind.NONE),
        ((1.3, 0.0), CorrectionKind.FACTOR),
        ((1.0, 4e-6), CorrectionKind.OFFSET),
        ((1.3, 4e-6), CorrectionKind.BOTH),
    ],
)
def test_several_sizes_tell_a_factor_from_an_offset_a_round(
    truth: tuple[float, float], kind: CorrectionKind
) -> None:
    given = anchors(truth, (4, 8), (8, 1024), (4, 65536), (8, 262144))
    row = corrected(given, 64, 4096)
    assert row.seconds == pytest.approx(true_seconds(truth, 64, 4096), rel=1e-6)
    assert row.correction is not None
    assert row.correction.kind is kind
    assert not row.correction.is_of_asked_size
    assert row.correction.factor.value == pytest.approx(truth[0])
    assert row.correction.offset_seconds_per_round.value == pytest.approx(truth[1], abs=1e-12)
    assert row.correction.left_out_error == pytest.approx(0.0, abs=1e-6)


def test_factors_that_differ_by_size_are_followed_where_that_predicts_anchors_left_out() -> None:
    given = [
        replace(anchor, seconds=anchor.seconds * (1.0 + 0.1 * math.log2(anchor.message_bytes / 8)))
        for anchor in anchors(
            MODEL, *[(ranks, 8 << n) for n in range(0, 12, 2) for ranks in (4, 8)]
        )
    ]
    row = corrected(given, 64, 32)
    assert row.correction is not None
    assert row.correction.kind is CorrectionKind.FACTOR  # of that size alone
    row = corrected(given, 64, 16)
    assert row.correction is not None
    assert row.correction.kind is CorrectionKind.BY_SIZE
    assert row.seconds == pytest.approx(1.1 * true_seconds(MODEL, 64, 16), rel=0.02)


def test_anchors_that_contradict_each_other_make_the_interval_wide() -> None:
    twice, half = anchors((2.0, 0.0), (4, MIB)), anchors((0.5, 0.0), (8, MIB))
    row = corrected(twice + half, 64, MIB)
    assert row.correction is not None
    assert row.correction.kind is CorrectionKind.NONE
    assert row.high / row.low > 16.0
    agreeing = corrected(anchors((2.0, 0.0), (4, MIB), (8, MIB)), 64, MIB)
    assert agreeing.high / agreeing.low < 1.01


def test_repeating_one_anchor_does_not_tell_how_far_it_holds() -> None:
    once = anchors((1.25, 0.0), (4, MIB))
    alone, repeated = corrected(once, 64, MIB), corrected(once * 3, 64, MIB)
    assert (repeated.seconds, repeated.low, repeated.high) == pytest.approx(
        (alone.seconds, alone.low, alone.high)
    )
    scattered = [replace(once[0], seconds=once[0].seconds * share) for share in (0.8, 1.0, 1.25)]
    row = corrected(scattered, 64, MIB)
    assert row.seconds == pytest.approx(alone.seconds)
    assert row.high > 1.1 * alone.high


def test_at_the_ranks_and_size_of_an_anchor_its_own_time_is_the_answer() -> None:
    (anchor,) = anchors((2.0, 0.0), (4, MIB))
    row = corrected([replace(anchor, width=0.1)], 4, MIB)
    assert row.seconds == pytest.approx(anchor.seconds)
    assert row.high == pytest.approx(anchor.seconds * math.exp(0.1))


def test_anchors_of_one_number_of_ranks_do_not_tell_how_ranks_change_it() -> None:
    given = anchors((1.5, 0.0), (4, 8), (4, 64), (4, 1024))
    beyond, within = corrected(given, 64, 256), corrected(given, 4, 256)
    assert beyond.high / beyond.seconds == pytest.approx(1.5)
    assert within.high / within.seconds == pytest.approx(1.0)


def test_what_the_data_leave_unknown_of_all_messages_alike_cancels() -> None:
    unsure = fit_of("loggp", VALUES, spread=0.3)
    alone = predict([unsure], "bcast", Task(64, MIB), algorithm="binomial")[0]
    row = corrected(anchors((1.2, 0.0), (4, MIB), (8, MIB)), 64, MIB, unsure)
    assert alone.high / alone.low > 1.5
    assert row.high / row.low < 1.1


def test_what_crossing_costs_is_the_anchors_to_tell() -> None:
    """Exchanges were measured that take 1.2 to 1.6 times a message alone; the anchor says 1.4 for its ring."""
    sizes = np.array([1, 4096, MIB, 4 * MIB])
    half = 5.5e-6 + 6e-9 * (sizes - 1)
    curves = [
        Curve(quantity, sizes, seconds, seconds, seconds, seconds)
        for quantity, seconds in (
            (HALF, half),
            (EXCHANGE, half * np.array([1.6, 1.5, 1.3, 1.2])),
        )
    ]
    alone, crossed = (
        fit_of("loggp", VALUES, last_bytes=4 * MIB, curves=c) for c in (curves[:1], curves)
    )
    few, many = (
        predict([alone], "allreduce", Task(ranks, 4 * MIB), algorithm="ring")[0].seconds
        for ranks in (4, 32)
    )
    anchor = Anchor("allreduce", 4, 4 * MIB, 1.4 * few, "here.csv", "ring")
    row = predict([crossed], "allreduce", Task(32, 4 * MIB), anchors=[anchor])[0]
    assert row.seconds == pytest.approx(1.4 * many, rel=1e-6)


def test_an_anchors_own_interval_is_in_the_answer() -> None:
    given = [replace(anchor, width=math.log(1.5)) for anchor in anchors(MODEL, (4, MIB))]
    assert corrected(given, 64, MIB).high == pytest.approx(1.5 * true_seconds(MODEL, 64, MIB))


@pytest.mark.parametrize(
    ("anchor", "algorithm", "said"),
    [
        (Anchor("reduce", 4, 8, 1e-5, "a.csv", "binomial"), None, "reduce was measured"),
        (Anchor("bcast", 4, 8, 1e-5, "a.csv", "linear"), "binomial", "linear was measured"),
        (Anchor("bcast", 4, 8, 1e-5, "a.csv"), None, "name it with --algorithm"),
        (
            Anchor("bcast", 4, 8, 1e-5, "a.csv", "quickest"),
            None,
            "--anchor a.csv: 'quickest' does no bcast",
        ),
    ],
)
def test_an_anchor_of_something_else_is_refused(
    anchor: Anchor, algorithm: str | None, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        predict([MODEL], "bcast", Task(64), algorithm=algorithm, anchors=[anchor])


def test_an_anchor_without_an_algorithm_is_of_the_named_one() -> None:
    anchor = replace(anchors((1.3, 0.0), (4, 8))[0], algorithm=None)
    row = predict([MODEL], "bcast", Task(64, 8), algorithm="binomial", anchors=[anchor])[0]
    assert row.seconds == pytest.approx(1.3 * true_seconds(MODEL, 64, 8))


def test_n_way_anchors_must_say_their_peers() -> None:
    anchor = Anchor("barrier", 4, 8, 2e-5, "a.csv", "n-way-dissemination")
    with pytest.raises(UsageError, match="--peers"):
        predict([MODEL], "barrier", Task(64, 8), anchors=[anchor])
    row = predict([MODEL], "barrier", Task(64, 8), anchors=[replace(anchor, peers=3)])[0]
    assert row.correction is not None


def test_too_many_anchors_are_refused() -> None:
    many = anchors(MODEL, (4, 8)) * (MOST_ANCHORS + 1)
    with pytest.raises(UsageError, match="at most 256"):
        corrected(many, 64, 8)


def test_one_process_to_many_takes_neither() -> None:
    with pytest.raises(UsageError, match="--as osu"):
        predict([MODEL], "one-to-many", Task(4), convention=TimeConvention.OSU)
    with pytest.raises(UsageError, match="--anchor"):
        predict([MODEL], "one-to-many", Task(4), anchors=anchors(MODEL, (4, 8)))


def shared_seconds(ranks: int, message_bytes: int) -> float:
    """A binomial tree where a rank's messages all end with its last one, on a power of two."""
    one_way, gap = (
        VALUES["L"] + VALUES["o_s"] + VALUES["o_r"] + (message_bytes - 1) * VALUES["G"],
        VALUES["g"] + (message_bytes - 1) * VALUES["G"],
    )
    levels = (ranks - 1).bit_length()
    return levels * one_way + levels * (levels - 1) / 2 * gap


def shared_anchors(*ranks: int) -> list[Anchor]:
    times = {count: shared_seconds(count, MIB) for count in ranks}
    return [Anchor("bcast", n, MIB, time, "here.csv", "binomial") for n, time in times.items()]


@pytest.mark.parametrize("ranks", [8, 64])
def test_anchors_of_several_numbers_of_ranks_tell_whether_sends_at_once_share_the_network(
    ranks: int,
) -> None:
    given = shared_anchors(2, 4)
    row = corrected(given, ranks, MIB)
    assert row.correction is not None and row.correction.shares_network
    assert row.seconds == pytest.approx(shared_seconds(ranks, MIB), rel=1e-3)
    in_turn = corrected(anchors((1.5, 0.0), (2, MIB), (4, MIB)), ranks, MIB)
    assert in_turn.correction is not None and not in_turn.correction.shares_network
    alone = corrected(shared_anchors(4), ranks, MIB)
    assert alone.correction is not None and not alone.correction.shares_network


def test_sharing_has_no_time_of_each_rank_so_the_mean_over_ranks_is_that_of_sends_in_turn() -> None:
    given, osu = shared_anchors(2, 4), TimeConvention.OSU
    row = predict([MODEL], "bcast", Task(8, MIB), anchors=given, convention=osu)[0]
    assert row.correction is not None and not row.correction.shares_network
