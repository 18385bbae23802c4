"""How good are choices from jobs of other people, judged on jobs that the choice did not see?

    python benchmarks/replay.py [FILE.npz] [--seeds 5] [--shares 0.1,0.2,0.3]

The file is pico/leonardo_fugaku.npz of $CHIPLOG_DATA by default: medians of collective operations, from jobs of PICO.
Each race (system, operation, nodes, ranks a node) has one or two jobs there, so more jobs are drawn: each time of a
real job, multiplied by an effect of its own. Two jobs' times differ by 4 % in the median and by 10 % rms, as the
file's README says of real ones; Student's t with the degrees of freedom that make it so. The choice is made from two
drawn jobs, and judged by the times that all drawn jobs scatter around. Regret is the chosen algorithm's time over the
best one's, the mean over all sizes; slower are sizes at which the rule takes over 1.03 times as long as the default.

A race with three or more real jobs is chosen from two of them and judged on a third, for each choice of the three.

By plan: everything is all algorithms at all sizes in LOOKS[0] jobs, the fewest that a race confirms with. The first
job of a race has all algorithms at two sizes, a third of the sizes from either end; then what the plan says of all
races of an operation is measured job by job, and planned anew after each, until the share of everything is used up.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.stats import t as student

from chiplog.dataset.import_collectives import DEFAULT
from chiplog.tune.choice import Native
from chiplog.tune.from_jobs.choose import JobChoices, choose_from
from chiplog.tune.from_jobs.job import JobCell, JobTime, MeasuredJob, Place, all_cells, log_ratios
from chiplog.tune.from_jobs.plan import in_force, plan_next
from chiplog.tune.from_jobs.scatter import JobScatter, scatter_of
from chiplog.tune.measured.statistics import LOOKS

MEDIAN_DIFFERENCE, RMS_DIFFERENCE = 0.04, 0.10
"""Of two jobs' times: data/pico/README.md."""
SLOWER = 1.03
SPARSE = 3
ROUNDS = 6

JOBS = 2
Seconds = Mapping[JobCell, float]


@dataclass
class Judged:
    """Sums over all sizes of some races."""

    regrets: list[float] = field(default_factory=list)
    """Chosen time over the best one."""
    against_default: list[float] = field(default_factory=list)
    defaults: list[float] = field(default_factory=list)
    """The default's time over the best one."""

    def line(self, name: str) -> str:
        """The figures in a line."""
        slower = sum(ratio > SLOWER for ratio in self.against_default)
        return (
            f"{name:32} {len(self.regrets):6} {np.mean(self.regrets):8.4f} {np.mean(self.defaults):8.3f} "
            f"{slower:6} {max(self.against_default):8.3f}"
        )


def real_jobs(path: Path) -> dict[str, dict[Place, dict[str, dict[JobCell, float]]]]:
    """By system, race and job: the median of each cell."""
    races: dict[str, dict[Place, dict[str, dict[JobCell, float]]]] = {}
    numbers: dict[tuple[str, str], int] = {}  # 256 nodes and 64 x 4 ranks are two races
    with np.load(path, allow_pickle=False) as data:
        keys, seconds = data["keys"], data["seconds"]
    for text, blocks in zip(keys, seconds, strict=True):
        system, job, operation, nodes, per_node, size, algorithm, *_ = json.loads(str(text))
        race = f"{nodes} x {per_node}"
        place = Place(operation, numbers.setdefault((operation, race), len(numbers)), race)
        name = DEFAULT if algorithm == DEFAULT else algorithm
        times = races.setdefault(system, {}).setdefault(place, {}).setdefault(job, {})
        times[JobCell(place, int(size), name)] = float(np.nanmedian(blocks))
    return races


def usable(times: Seconds) -> dict[JobCell, float]:
    """Without sizes that lack the default or anything else."""
    counts: dict[tuple[Place, int], int] = defaultdict(int)
    for cell in times:
        counts[cell[:2]] += 1
    return {
        cell: seconds
        for cell, seconds in times.items()
        if cell.default in times and counts[cell[:2]] > 1
    }


def first_jobs(races: Mapping[Place, Mapping[str, Seconds]]) -> dict[Place, Seconds]:
    """The usable times of each race's first job, around which others are drawn."""
    truth = {place: usable(next(iter(jobs.values()))) for place, jobs in races.items()}
    return {place: times for place, times in truth.items() if times}


def effects(random: np.random.Generator) -> Iterator[float]:
    """Logarithms by which a job's times are off."""

    def excess(degrees: float) -> float:
        draws = student.ppf(np.linspace(0.0005, 0.9995, 1000), degrees)
        differences = np.abs(draws[:, None] - draws[None, :]).ravel()
        rms = math.sqrt(2 * degrees / (degrees - 2))
        return float(np.median(differences)) / rms - MEDIAN_DIFFERENCE / RMS_DIFFERENCE

    degrees = brentq(excess, 2.05, 50)
    scale = RMS_DIFFERENCE / math.sqrt(2 * degrees / (degrees - 2))
    while True:
        yield from scale * random.standard_t(degrees, 1000)


def drawn_job(name: str, truth: Seconds, effect: Iterator[float]) -> MeasuredJob:
    """A job whose times scatter around the true ones."""
    times = {
        cell: JobTime(seconds * math.exp(next(effect)), None) for cell, seconds in truth.items()
    }
    return MeasuredJob(name, None, times)


def native_names(jobs: Sequence[MeasuredJob]) -> dict[str, Native]:
    """All algorithms, as if a file could choose each."""
    names = {cell.algorithm for job in jobs for cell in job.times} - {DEFAULT}
    return {name: Native(name, 1) for name in names}


def judge(judged: Judged, choices: JobChoices, truth: Seconds) -> None:
    """Adds each size of the truth."""
    sizes = sorted({cell[:2] for cell in truth})
    places = {place: [size for p, size in sizes if p == place] for place, _ in sizes}
    rules = in_force(choices, places)
    for place, size in sizes:
        here = {c.algorithm: seconds for c, seconds in truth.items() if c[:2] == (place, size)}
        chosen = here.get(rules.get((place.ranks, size), DEFAULT), here[DEFAULT])
        judged.regrets.append(chosen / min(here.values()))
        judged.against_default.append(chosen / here[DEFAULT])
        judged.defaults.append(here[DEFAULT] / min(here.values()))


def two_jobs(races: Mapping[Place, Seconds], random: np.random.Generator, judged: Judged) -> None:
    """Choices of each race from drawn jobs; what jobs scatter by is learned from all races of the system."""
    effect = effects(random)
    drawn = {
        place: [drawn_job(f"{place} {n}", truth, effect) for n in range(JOBS)]
        for place, truth in races.items()
    }
    for place, choices in chosen(drawn):
        judge(judged, choices, races[place])


def scatter_of_all(jobs: Mapping[Place, Sequence[MeasuredJob]]) -> JobScatter | None:
    """What the jobs of all races of a system say about how much jobs differ."""
    return scatter_of(
        logs
        for of_race in jobs.values()
        for logs in log_ratios(of_race, all_cells(of_race)).values()
    )


def chosen(jobs: Mapping[Place, Sequence[MeasuredJob]]) -> Iterator[tuple[Place, JobChoices]]:
    """The choices of each race, with the scatter of all."""
    scatter = scatter_of_all(jobs)
    for place, of_race in jobs.items():
        yield place, choose_from(of_race, place.operation, native_names(of_race), scatter=scatter)


def planned(
    races: Mapping[Place, Seconds], share: float, random: np.random.Generator, judged: Judged
) -> None:
    """The first jobs are sparse; the next ones measure what the plan says of all races of an operation together."""
    effect = effects(random)
    jobs: dict[Place, list[MeasuredJob]] = {}
    for place, truth in races.items():
        sizes = sorted({cell.message_bytes for cell in truth})
        first = {sizes[len(sizes) // SPARSE], sizes[2 * len(sizes) // SPARSE]}
        sparse = {cell: seconds for cell, seconds in truth.items() if cell.message_bytes in first}
        jobs[place] = [drawn_job(f"{place} 0", sparse, effect)]
    for number in range(1, ROUNDS):
        by_operation: dict[str, list[JobChoices]] = defaultdict(list)
        for place, choices in chosen(jobs):
            by_operation[place.operation].append(choices)
        for operation, of_races in by_operation.items():
            places = [place for place in races if place.operation == operation]
            whole = LOOKS[0] * sum(len(races[place]) for place in places)
            used = sum(len(job.times) for place in places for job in jobs[place])
            budget = share * whole - used
            for place, cells in _next_cells(
                of_races, {p: races[p] for p in places}, budget
            ).items():
                truth = {cell: races[place][cell] for cell in cells}
                jobs[place].append(drawn_job(f"{place} {number}", truth, effect))
    for place, choices in chosen(jobs):
        judge(judged, choices, races[place])


def _next_cells(
    choices: Sequence[JobChoices], races: Mapping[Place, Seconds], budget: float
) -> dict[Place, set[JobCell]]:
    """What the plan says, by race; each cell costs the same."""
    joint = replace(
        choices[0],
        jobs=tuple(job for of_race in choices for job in of_race.jobs),
        verdicts=tuple(verdict for of_race in choices for verdict in of_race.verdicts),
        logs={cell: logs for of_race in choices for cell, logs in of_race.logs.items()},
    )
    truth = {cell for of_race in races.values() for cell in of_race}
    plan = plan_next(
        joint,
        {cell.algorithm: Native("", 1) for cell in sorted(truth) if cell.algorithm != DEFAULT},
        budget,
        grid={
            place: sorted({c.message_bytes for c in of_race}) for place, of_race in races.items()
        },
        costs=dict.fromkeys(truth, 1.0),
    )
    cells: dict[Place, set[JobCell]] = defaultdict(set)
    for planned_cell in plan.cells:
        cells[planned_cell.cell.place] |= {planned_cell.cell, planned_cell.cell.default}
    return cells


def real_judged(races: Mapping[Place, Mapping[str, Seconds]], judged: Judged) -> None:
    """Of races with three jobs and more: from two of them, on the others."""
    jobs = {
        place: [
            MeasuredJob(
                name, None, {cell: JobTime(seconds, None) for cell, seconds in times.items()}
            )
            for name, times in of_race.items()
        ]
        for place, of_race in races.items()
    }
    for place, of_race in jobs.items():
        for seen in combinations(of_race, JOBS):
            choices = dict(chosen({**jobs, place: seen}))[place]
            for job in of_race:
                if job not in seen:
                    judge(judged, choices, usable(races[place][job.name]))


def main() -> int:
    """Prints the figures by system."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    data = Path(os.environ.get("CHIPLOG_DATA", "../shared/data"))
    parser.add_argument("file", type=Path, nargs="?", default=data / "pico/leonardo_fugaku.npz")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--shares", default="0.1,0.2,0.3")
    asked = parser.parse_args()
    if not asked.file.exists():
        print(
            f"skipped: there is no {asked.file} (set CHIPLOG_DATA to the folder of the real data)"
        )
        return 0
    print(f"{'':32} {'sizes':>6} {'regret':>8} {'default':>8} {'slower':>6} {'worst':>8}")
    for system, races in real_jobs(asked.file).items():
        truth = first_jobs(races)
        real = Judged()
        real_judged(races, real)
        if real.regrets:
            print(real.line(f"{system}, two real jobs"))
        drawn = Judged()
        for seed in range(asked.seeds):
            two_jobs(truth, np.random.default_rng(seed), drawn)
        print(drawn.line(f"{system}, two jobs"))
        for share in map(float, asked.shares.split(",")):
            by_plan = Judged()
            for seed in range(asked.seeds):
                planned(truth, share, np.random.default_rng(seed), by_plan)
            print(by_plan.line(f"{system}, {share:.0%} by plan"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
