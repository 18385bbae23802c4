"""What a benchmark prints is the mean over ranks, which only the simulator tells."""

from __future__ import annotations

import numpy as np
import pytest
from prediction import fit_of

from chiplog.collectives.algorithm import Task
from chiplog.collectives.registry import load
from chiplog.errors import UsageError
from chiplog.jobs.simulated_model import FittedParameters
from chiplog.prediction.anchors import Anchor
from chiplog.prediction.convention import TimeConvention, convention_of
from chiplog.prediction.predict import predict

VALUES = {"L": 2.5e-6, "o_s": 1.5e-6, "o_r": 1.5e-6, "g": 1e-6, "G": 6e-9}
MODEL = fit_of("loggp", VALUES)
OSU = TimeConvention.OSU


def test_osu_is_the_mean_over_ranks_of_when_each_is_done() -> None:
    task = Task(8, 1024)
    (row,) = predict([MODEL], "bcast", task, algorithm="binomial", convention=OSU)
    schedule = load("bcast", "binomial").schedule(task)
    finish = FittedParameters(MODEL).simulate(schedule).simulation.finish_ps * 1e-12
    assert row.seconds == pytest.approx(float(np.mean(finish)), rel=1e-9)
    assert row.longest_seconds == pytest.approx(float(np.max(finish)), rel=1e-9)
    assert row.convention is OSU
    common = predict([MODEL], "bcast", task, algorithm="binomial")[0]
    assert common.convention is TimeConvention.COMMON_START
    assert row.seconds < common.seconds == pytest.approx(row.longest_seconds)


def test_where_all_ranks_do_the_same_both_are_one_time() -> None:
    osu = predict([MODEL], "barrier", Task(32), algorithm="dissemination", convention=OSU)[0]
    common = predict([MODEL], "barrier", Task(32), algorithm="dissemination")[0]
    assert osu.seconds == pytest.approx(common.seconds)


def test_an_anchor_is_predicted_as_what_it_is() -> None:
    """The mean over ranks at 4 of them corrects the time of a common start."""
    task = Task(4, 1024)
    mean = predict([MODEL], "bcast", task, algorithm="binomial", convention=OSU)[0].seconds
    anchor = Anchor("bcast", 4, 1024, 1.2 * mean, "osu.jsonl", "binomial", convention=OSU)
    row = predict([MODEL], "bcast", Task(64, 1024), anchors=[anchor])[0]
    uncorrected = predict([MODEL], "bcast", Task(64, 1024), algorithm="binomial")[0]
    assert row.seconds == pytest.approx(1.2 * uncorrected.seconds)


def test_the_longest_rank_is_corrected_as_the_mean_is() -> None:
    anchor = Anchor("bcast", 4, 1024, 1e-3, "a.csv", "binomial")
    plain = predict([MODEL], "bcast", Task(8, 1024), algorithm="binomial", convention=OSU)[0]
    (row,) = predict([MODEL], "bcast", Task(8, 1024), convention=OSU, anchors=[anchor])
    assert row.longest_seconds is not None
    assert plain.longest_seconds is not None
    ratio = row.longest_seconds / row.seconds
    assert ratio == pytest.approx(plain.longest_seconds / plain.seconds)


def test_what_tells_no_single_rank_is_refused() -> None:
    with pytest.raises(UsageError, match="up to 128 ranks"):
        predict([MODEL], "bcast", Task(256), convention=OSU)
    logfp = {"L": 5e-6, "g": 5e-6, "f": 7.0, "o_min": 0.18e-6, "o_max": 1.6e-6}
    with pytest.raises(UsageError, match="logfp does not say when each rank is done"):
        predict([fit_of("logfp", logfp)], "barrier", Task(8), convention=OSU)


def test_an_unknown_convention_is_refused_with_what_there_is() -> None:
    assert convention_of("osu", "--as") is OSU
    with pytest.raises(UsageError, match="--as: is 'imb'; it accepts common-start, osu"):
        convention_of("imb", "--as")
