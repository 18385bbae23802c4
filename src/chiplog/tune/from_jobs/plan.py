"""What to measure next: candidates in the order of what the choice may gain by them, for what it costs to decide them.

What is known of a candidate's logarithm of the ratio: where it was measured, the mean over jobs, which is normal with
the variance that jobs show. Between two sizes it is their mean, weighted by the distance on a logarithmic scale, and
beyond them the nearest one; to either is added a step, drawn from those of all neighbouring sizes that were measured,
as if steps added up as those of a Brownian bridge or motion do. Of an algorithm that was never measured at a place it
is one of all ratios. A candidate is worth the expected improvement over what is in force: the mean of what it is
faster by, where it is faster. That is the regret of not measuring it.

Source: D. R. Jones, M. Schonlau and W. J. Welch, Efficient global optimization of expensive black-box functions, J.
Glob. Optim. 13 (1998), for the expected improvement.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from chiplog.dataset.import_collectives import DEFAULT
from chiplog.errors import UsageError
from chiplog.tune.choice import Native
from chiplog.tune.from_jobs.choose import FEWEST_JOBS, JobChoices
from chiplog.tune.from_jobs.job import Floats, JobCell, MeasuredJob, Place


class Belief(NamedTuple):
    """What is known of a candidate's logarithm of the ratio to the default: `mean`, and what may be added to it."""

    mean: float
    variance: float
    """Of the mean over jobs, which is normal."""
    steps: Floats
    """Equally likely ones from what was measured to here, shape (steps,); a single 0 where it was measured here."""


HERE = np.zeros(1)
"""Derived: no step, of what was measured at the very place."""


@dataclass(frozen=True)
class PlannedCell:
    """A candidate to measure, beside the default, until it can be decided."""

    cell: JobCell
    jobs: int
    """How many more jobs that takes."""
    seconds: float
    """Of its calls in all these jobs, and of the default's where nothing before in the plan has them."""
    expected_gain: float
    """Of the choice at this size: the logarithm of a ratio of times, about a share."""


@dataclass(frozen=True)
class JobPlan:
    """What to measure next; regrets are means over all sizes of the grid, as logarithms of ratios of times."""

    cells: tuple[PlannedCell, ...]
    expected_regret: float
    """Of what is in force now: the mean over sizes of the greatest expected gain."""
    regret_left: float
    """The same of the sizes that the plan leaves out."""

    @property
    def seconds(self) -> float:
        """Of all measurements."""
        return sum(planned.seconds for planned in self.cells)


Grid = Mapping[Place, Sequence[int]]


def grid_of(jobs: Iterable[MeasuredJob], operation: str) -> Grid:
    """At each place all sizes of the operation that any job has, from the least to the largest that it has there.

    Larger ones may not fit into the memory there.
    """
    at: dict[Place, set[int]] = {}
    for cell in (cell for job in jobs for cell in job.times if cell.place.operation == operation):
        at.setdefault(cell.place, set()).add(cell.message_bytes)
    every = sorted(set().union(*at.values()))
    return {
        place: [size for size in every if min(sizes) <= size <= max(sizes)]
        for place, sizes in sorted(at.items())
    }


def plan_next(
    choices: JobChoices,
    natives: Mapping[str, Native],
    budget: float,
    *,
    grid: Grid | None = None,
    costs: Mapping[JobCell, float] | None = None,
) -> JobPlan:
    """The measurements with the greatest expected gain for what they cost, as far as the budget of seconds reaches.

    `costs` are in the budget's unit; by default the seconds that jobs took for the cell, or for its nearest size.

    Raises UsageError where the files don't say how long they measured.
    """
    gains = _gains(choices, natives, grid or grid_of(choices.jobs, choices.operation))
    planned = _greedy(gains, _Prices(choices.jobs, costs), budget, choices)
    best: dict[tuple[Place, int], float] = {}
    for cell, gain in gains.items():
        key = (cell.place, cell.message_bytes)
        best[key] = max(best.get(key, 0.0), gain)
    decided = {(entry.cell.place, entry.cell.message_bytes) for entry in planned}
    count = max(1, len(best))
    return JobPlan(
        tuple(planned),
        sum(best.values()) / count,
        sum(gain for key, gain in best.items() if key not in decided) / count,
    )


def _gains(choices: JobChoices, natives: Mapping[str, Native], grid: Grid) -> dict[JobCell, float]:
    """The expected improvement of each candidate over what is in force."""
    beliefs = _Beliefs(choices)
    rules = in_force(choices, grid)
    gains = {}
    for place, size in ((place, size) for place, sizes in grid.items() for size in sizes):
        chosen = rules.get((place.ranks, size))
        now = beliefs.at(JobCell(place, size, chosen)) if chosen else Belief(0.0, 0.0, HERE)
        for name in natives.keys() - {chosen}:
            cell = JobCell(place, size, name)
            gains[cell] = expected_improvement(now, beliefs.at(cell))
    return gains


def expected_improvement(now: Belief, candidate: Belief) -> float:
    """The mean of what the candidate is faster by, where it is faster than what is in force."""
    faster = now.mean - (candidate.mean + candidate.steps)
    deviation = math.sqrt(now.variance + candidate.variance)
    if not deviation:
        return float(np.mean(np.maximum(0.0, faster)))
    z = faster / deviation
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return float(np.mean(faster * ndtr(z) + deviation * density))


def _greedy(
    gains: Mapping[JobCell, float], price: _Prices, budget: float, choices: JobChoices
) -> list[PlannedCell]:
    """One after the other the greatest gain for what it costs to decide it, while the budget lasts."""
    planned: list[PlannedCell] = []
    jobs = {
        cell: max(1, FEWEST_JOBS - (choices.logs[cell].size if cell in choices.logs else 0))
        for cell, gain in gains.items()
        if gain > 0
    }
    with_default: dict[JobCell, int] = {}

    def cost(cell: JobCell) -> float:
        defaults = max(0, jobs[cell] - with_default.get(cell.default, 0))
        return price.of(cell) * jobs[cell] + price.of(cell.default) * defaults

    open_cells = set(jobs)
    while open_cells:
        affordable = [cell for cell in sorted(open_cells) if cost(cell) <= budget]
        if not affordable:
            break
        best = max(affordable, key=lambda cell: gains[cell] / cost(cell))
        planned.append(PlannedCell(best, jobs[best], cost(best), gains[best]))
        budget -= cost(best)
        with_default[best.default] = max(jobs[best], with_default.get(best.default, 0))
        open_cells.remove(best)
    return planned


def in_force(choices: JobChoices, grid: Grid) -> dict[tuple[int, int], str]:
    """By ranks and size, the rule that holds there, between two sizes of one choice, too."""
    rules: dict[tuple[int, int], str] = {}
    for here, after in pairwise((*choices.verdicts, None)):
        assert here is not None
        if not here.is_changed or here.candidate is None:
            continue
        ranks, first = here.cell.ranks, here.cell.message_bytes
        goes_on = (
            after is not None
            and after.is_changed
            and after.cell.ranks == ranks
            and after.candidate == here.candidate
        )
        last = after.cell.message_bytes if goes_on and after is not None else first
        for size in {size for sizes in grid.values() for size in sizes if first <= size <= last}:
            rules[ranks, size] = here.candidate.name
    return rules


class _Beliefs:
    """What the jobs tell of each candidate at each place and size."""

    def __init__(self, choices: JobChoices) -> None:
        logs = {cell: of_cell for cell, of_cell in choices.logs.items() if of_cell.size}
        between_jobs = choices.scatter.variance if choices.scatter else 0.0
        self._known = {
            cell: Belief(float(np.mean(of_cell)), between_jobs / of_cell.size, HERE)
            for cell, of_cell in logs.items()
        }
        self._sizes: dict[tuple[Place, str], list[int]] = {}
        for cell in sorted(self._known):
            self._sizes.setdefault((cell.place, cell.algorithm), []).append(cell.message_bytes)
        means = [belief.mean for belief in self._known.values()]
        self._anywhere = np.array(means) if means else HERE
        self._octave = self._steps_an_octave()

    def at(self, cell: JobCell) -> Belief:
        """Measured there, or between sizes, or not at all."""
        if cell in self._known:
            return self._known[cell]
        sizes = self._sizes.get((cell.place, cell.algorithm), [])
        below = max((size for size in sizes if size < cell.message_bytes), default=None)
        above = min((size for size in sizes if size > cell.message_bytes), default=None)
        ends = [
            (self._known[cell._replace(message_bytes=size)], _octaves(size, cell.message_bytes))
            for size in (below, above)
            if size is not None
        ]
        if not ends:
            return Belief(0.0, 0.0, self._anywhere)
        if len(ends) == 1:
            ((belief, far),) = ends
            return Belief(belief.mean, belief.variance, self._octave * math.sqrt(far))
        (first, to_first), (last, to_last) = ends
        share = to_first / (to_first + to_last)
        return Belief(
            (1 - share) * first.mean + share * last.mean,
            (1 - share) ** 2 * first.variance + share**2 * last.variance,
            self._octave * math.sqrt(to_first * to_last / (to_first + to_last)),
        )

    def _steps_an_octave(self) -> Floats:
        """Steps of neighbouring sizes, as large as an octave's, either way."""
        steps = [
            (
                self._known[JobCell(place, last, name)].mean
                - self._known[JobCell(place, first, name)].mean
            )
            / math.sqrt(_octaves(first, last))
            for (place, name), sizes in self._sizes.items()
            for first, last in pairwise(sizes)
        ]
        return np.array([*steps, *(-step for step in steps)]) if steps else self._anywhere


def _octaves(size: int, other: int) -> float:
    return abs(math.log2(max(1, size)) - math.log2(max(1, other)))


class _Prices:
    """What a cell's calls take, as they took in a job; of what was not measured, as the nearest size of it took."""

    def __init__(self, jobs: Sequence[MeasuredJob], costs: Mapping[JobCell, float] | None) -> None:
        self._costs = costs
        self._known: dict[tuple[Place, str], dict[int, float]] = {}
        for job in jobs:
            for cell, time in job.times.items():
                if time.cost_seconds is not None:
                    of = self._known.setdefault((cell.place, cell.algorithm), {})
                    of[cell.message_bytes] = max(time.cost_seconds, of.get(cell.message_bytes, 0.0))
        if costs is None and not self._known:
            raise UsageError(
                "--plan: the files do not say how long anything was measured; it needs files with all iterations."
            )

    def of(self, cell: JobCell) -> float:
        """In the budget's unit; infinite where nobody knows."""
        if self._costs is not None:
            return self._costs.get(cell, math.inf)
        known = self._known.get((cell.place, cell.algorithm)) or self._known.get(
            (cell.place, DEFAULT)
        )
        if not known:
            return math.inf
        nearest = min(known, key=lambda size: (_octaves(size, cell.message_bytes), size))
        return known[nearest]
