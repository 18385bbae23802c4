"""What a change saves has an interval of its own, in which errors that both times share cancel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from prediction import fit_of

from chiplog.collectives.algorithm import Task
from chiplog.collectives.registry import algorithms
from chiplog.fitting.result import Band
from chiplog.jobs.paired import PairedTimes, Variant
from chiplog.jobs.replay import ReplayBy, saves_by
from chiplog.jobs.simulated_model import FittedParameters
from chiplog.prediction.network_change import NetworkChange, parse_change
from chiplog.schedule.arrays import Schedule

TRUTH = {"L": 8e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": 1e-9}
SPREAD = 0.1
CASES = 60
CHANGES = ("L*0.5", "G*2", "o*0.7,g*0.7")


def drawn_schedule(seed: int) -> Schedule:
    """An operation among some ranks, of some size."""
    draw = np.random.default_rng(seed)
    operation = ("allreduce", "bcast", "allgather", "alltoall")[seed % 4]
    task = Task(int(draw.integers(2, 6)), int(2 ** draw.uniform(0, 18)))
    able = [way for way in algorithms(operation).values() if way.accepts(task)]
    return able[int(draw.integers(len(able)))].schedule(task)


def fitted(values: dict[str, float], spread: float = 0.0, error: float = 0.0) -> ReplayBy:
    fit = fit_of("loggp", values, spread=spread)
    bands = (Band("half_round_trip", np.array([1, 1 << 20]), np.array([error, error])),)
    return ReplayBy(FittedParameters(replace(fit, bands=bands) if error else fit))


def test_intervals_of_savings_cover_the_truth_in_drawn_cases() -> None:
    """Fits miss the truth by what their intervals say; 95 % intervals hold in at least 85 % of so few cases."""
    covered = 0
    for seed in range(CASES):
        draw = np.random.default_rng(seed)
        schedule = drawn_schedule(seed)
        variant = Variant(schedule, parse_change(CHANGES[seed % len(CHANGES)]))
        truth = PairedTimes(schedule, fitted(TRUTH)).saved_seconds(variant).value
        off = 1.0 + SPREAD / 1.96 * draw.standard_normal(len(TRUTH))
        missed = {name: value * off[n] for n, (name, value) in enumerate(TRUTH.items())}
        saved = PairedTimes(schedule, fitted(missed, SPREAD)).saved_seconds(variant)
        assert saved.low <= saved.value <= saved.high
        covered += saved.low <= truth <= saved.high
    assert covered >= 0.85 * CASES


def test_what_both_times_have_in_common_cancels() -> None:
    """All messages may be 20 % longer or shorter: so may be what is saved, and no more."""
    schedule = drawn_schedule(1)
    by = fitted(TRUTH, error=0.2)
    saved = PairedTimes(schedule, by).saved_share(Variant(schedule, parse_change("L*0.5")))
    assert 0.0 < saved.low < saved.high
    alone = by.simulate(schedule)
    assert alone.high_ps > 1.1 * alone.simulation.makespan_ps
    assert saved.high - saved.low < 0.5 * (alone.high_ps - alone.low_ps) / alone.low_ps


def test_no_change_saves_nothing_for_sure() -> None:
    schedule = drawn_schedule(2)
    for by in (fitted(TRUTH, SPREAD, 0.2), fitted(TRUTH)):
        saved = PairedTimes(schedule, by).saved_share(Variant(schedule, NetworkChange()))
        assert saved.low == saved.value == saved.high == 0.0


def test_another_model_has_errors_of_its_own() -> None:
    """The same model again may be better or worse by what both intervals leave."""
    from chiplog.application.result import Replay

    other = fitted(TRUTH, error=0.2).simulate(drawn_schedule(3))
    seconds, low, high = (
        each * 1e-12 for each in (other.simulation.makespan_ps, other.low_ps, other.high_ps)
    )
    saves = saves_by(Replay(seconds, low, high, None, {}), other)
    assert saves.low < saves.value == 0.0 < saves.high
    assert 1.0 - saves.low == pytest.approx(np.exp(np.sqrt(2.0) * np.log(high / seconds)), rel=0.05)
