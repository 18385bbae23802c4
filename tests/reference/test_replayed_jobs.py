"""Choices from jobs that PICO has measured on two supercomputers, judged on jobs that the choice did not see."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from needs import require_data
from scripts import load_script

DATA = "pico/leonardo_fugaku.npz"


@pytest.fixture(scope="module")
def replay() -> ModuleType:
    return load_script("benchmarks/replay.py")


def judged(replay: ModuleType, path: Path, share: float | None) -> dict[str, object]:
    by_system = {}
    for system, races in replay.real_jobs(path).items():
        truth = replay.first_jobs(races)
        by_system[system] = result = replay.Judged()
        for seed in range(2):
            random = np.random.default_rng(seed)
            if share is None:
                replay.two_jobs(truth, random, result)
            else:
                replay.planned(truth, share, random, result)
    return by_system


def test_two_jobs_give_choices_near_the_best_and_none_slower_than_the_default(
    replay: ModuleType,
) -> None:
    """The default is off by 1.8 and 1.5 times in the mean."""
    systems = judged(replay, require_data(DATA), None)
    assert set(systems) == {"fugaku", "leonardo"}
    for result in systems.values():
        assert np.mean(result.regrets) < 1.04  # type: ignore[attr-defined]
        assert max(result.against_default) <= replay.SLOWER  # type: ignore[attr-defined]


def test_a_fifth_of_the_cells_gives_most_of_it_where_the_plan_is_followed(
    replay: ModuleType,
) -> None:
    for result in judged(replay, require_data(DATA), 0.2).values():
        assert np.mean(result.regrets) < 1.10  # type: ignore[attr-defined]
        assert max(result.against_default) <= replay.SLOWER  # type: ignore[attr-defined]


def test_two_real_jobs_that_differ_much_are_promised_nothing(replay: ModuleType) -> None:
    """A broadcast's default takes 4 us in one job, and 34 us in the other."""
    races = replay.real_jobs(require_data(DATA))["leonardo"]
    jobs = {
        place: [
            replay.MeasuredJob(name, None, {c: replay.JobTime(s, None) for c, s in times.items()})
            for name, times in of_race.items()
        ]
        for place, of_race in races.items()
    }
    for place, choices in replay.chosen(jobs):
        if len(jobs[place]) == 1:
            assert choices.missing
            assert not any(verdict.is_changed for verdict in choices.verdicts)
        elif place.operation == "bcast":
            assert not any(verdict.is_changed for verdict in choices.verdicts)
