"""A race confirms what its file does, not what a forced algorithm does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from simulated_race import candidates

from chiplog.tune.measured.candidate import DEFAULT_NAME
from chiplog.tune.measured.choices import as_if_confirmed, tuning_of, verdicts
from chiplog.tune.measured.in_force import LaunchesWithAndWithout
from chiplog.tune.measured.launch import (
    BESIDE_FILE,
    BY_FILE,
    CandidateSamples,
    Cell,
    Effort,
    Failure,
    RaceEntry,
    Result,
)
from chiplog.tune.measured.race import Race
from chiplog.tune.measured.raced import RaceOptions, SizeToConfirm
from chiplog.tune.measured.raw_file import About, SamplesFile, read_samples

SIZES = (1, 64, 4096)
FILE = {"RULES": "file"}
LOOKUP, FORCED, DEFAULT = 0.4, 0.8, 1.0


@dataclass(frozen=True)
class RanksWithRules:
    """Takes the place of an MPI: the forced a1 takes 0.8 of the default; by a file it takes `lookup` more."""

    lookup: float
    environment: Mapping[str, str] | None = None
    fails_by_file: bool = False
    log: list[dict[str, str]] = field(default_factory=list)

    def launch(
        self, entries: Sequence[RaceEntry], effort: Effort, seed: int, limit_seconds: float
    ) -> Result:
        """One launch, which moves all of its times alike."""
        environment = dict(self.environment or {})
        self.log.append(environment)
        is_by_file = environment == FILE
        drift = 1.0 + np.random.default_rng(seed + is_by_file).uniform()
        default = FORCED + self.lookup if is_by_file else DEFAULT
        times = {DEFAULT_NAME: default, "a1": FORCED}
        samples = {
            (place, each.name): CandidateSamples(
                {
                    mode: 1e-6 * drift * times.get(each.name, 2.0) * np.ones(4)
                    for mode in ("window", "barrier")
                }
            )
            for place, entry in enumerate(entries)
            for each in entry.candidates
        }
        failure = None
        if is_by_file and self.fails_by_file:
            failure = Failure(0, DEFAULT_NAME, "it ends with code 139", in_trials=True)
        return Result({} if failure else samples, {}, {}, failure, 1.0)


def race(ranks: RanksWithRules, **options: Any) -> Race:
    asked = RaceOptions("bcast", (2,), sizes=SIZES, budget_seconds=1e9)
    return Race(
        ranks,
        candidates(2),
        asked,
        confirming=lambda _: LaunchesWithAndWithout(ranks, FILE),  # type: ignore[arg-type]
        clock=lambda: 0.0,
        **options,
    )


def test_an_algorithm_that_is_faster_only_when_it_is_forced_has_no_rule() -> None:
    rows = verdicts(race(RanksWithRules(LOOKUP)).run())
    assert not any(row.is_changed for row in rows)
    assert {round(row.ratio.value, 6) for row in rows if row.ratio} == {round(FORCED + LOOKUP, 6)}


def test_the_ratio_is_that_of_the_file_whatever_launches_differ_by() -> None:
    ranks = RanksWithRules(lookup=0.1)
    rows = verdicts(race(ranks).run())
    assert {row.cell.message_bytes for row in rows if row.is_changed} >= set(SIZES)
    assert {round(row.ratio.value, 6) for row in rows if row.ratio} == {round(FORCED + 0.1, 6)}
    assert ranks.log.count(FILE) == 4


def test_a_crash_with_the_file_is_that_of_what_it_chooses() -> None:
    raced = race(RanksWithRules(0.0, fails_by_file=True)).run()
    assert raced.dropped == {"a1": "it ends with code 139"}
    assert not any(row.is_changed for row in verdicts(raced))


def test_both_launches_are_on_file_and_lead_to_the_same_choices(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    samples = SamplesFile(path, About("bcast", "mpich", "MPICH 4.0.2", "4.0.2", candidates(2)))
    raced = race(RanksWithRules(0.1), log=samples.add).run()
    samples.end(raced)
    _, again = read_samples(path)
    assert again.is_in_force
    assert again.confirmed == raced.confirmed
    assert again.overheads == raced.overheads


def test_what_the_file_chooses_and_what_is_forced_beside_it_are_told_apart() -> None:
    first = candidates(2)[1]
    launcher = LaunchesWithAndWithout(RanksWithRules(LOOKUP), FILE)  # type: ignore[arg-type]
    entry = RaceEntry(Cell("bcast", 2, 64), (replace(first, name=DEFAULT_NAME), first))
    result = launcher.launch([entry], Effort(), 1, 60.0)
    names = {name for _, name in result.samples}
    assert names == {DEFAULT_NAME, "a1", BY_FILE, BESIDE_FILE}


def test_all_that_is_to_be_confirmed_is_in_the_file_that_is_in_force() -> None:
    first, second = candidates(2)
    points = [
        SizeToConfirm(Cell("bcast", 2, size), candidate, is_held_out=is_held_out)
        for size, candidate, is_held_out in (
            (1, first, False),
            (9, first, True),
            (64, first, False),
            (4096, second, False),
        )
    ]
    choices = tuning_of("bcast", as_if_confirmed(points)).choices
    chosen = {choice.message_bytes: choice.algorithm for choice in choices if choice.ranks == 2}
    assert chosen == {1: "a0", 64: "a0", 65: "default", 4096: "a1", 4097: "default"}
