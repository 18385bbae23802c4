"""The sizes that predictions ask for are those that schedules send."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from prediction import fit_of

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.registry import OPERATIONS, algorithms
from chiplog.fitting.predictions.known import Array
from chiplog.fitting.predictions.span import extreme_points
from chiplog.prediction.loggp import LogGPSpeaker
from chiplog.prediction.sent_sizes import message_counts

TASKS = ((2, 1), (3, 7), (4, 64), (5, 8), (8, 16384), (13, 100_000), (16, 48))
"""Ranks and bytes."""
EVERY_ALGORITHM = [one for operation in OPERATIONS for one in algorithms(operation).values()]


@pytest.mark.parametrize(
    "algorithm", EVERY_ALGORITHM, ids=lambda one: f"{one.operation}-{one.name}"
)
def test_a_prediction_asks_for_the_sizes_that_the_schedule_sends(algorithm: Algorithm) -> None:
    theta = {"L": 5e-6, "o_s": 1e-6, "o_r": 1.2e-6, "g": 2e-6, "G": 0.5e-9}
    speaker = LogGPSpeaker(fit_of("loggp", theta))
    for task in (Task(*one) for one in TASKS):
        if algorithm.accepts(task):
            sent = message_counts(algorithm.schedule(replace(task, peers=1)))
            assert speaker.sizes(algorithm, task) == set(sent), task


@pytest.mark.parametrize("rounding", [1e-12, -1e-12])
def test_rounding_to_picoseconds_does_not_choose_between_points_that_tie(rounding: float) -> None:
    def seconds(fractions: Array, whole: bool) -> Array:
        del whole
        return np.asarray(1e-5 * (1.0 + (fractions[:, :1] > 0.5)))

    def rounded(fractions: Array, whole: bool) -> Array:
        return np.asarray(seconds(fractions, whole) + rounding * fractions[:, 1:2])

    ends, rounded_ends = (extreme_points(one, 2) for one in (seconds, rounded))
    assert np.array_equal(ends, rounded_ends)
