"""What screening knows of each cell, and which ranges of sizes may get the same candidate."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

import numpy as np

from chiplog.measurement.datatypes import BYTE, DATATYPE_BYTES
from chiplog.statistics import BEYOND_DOUBT, NO_DIFFERENCE
from chiplog.tune.measured.candidate import DEFAULT_NAME, Candidate
from chiplog.tune.measured.launch import CandidateSamples, Cell
from chiplog.tune.measured.statistics import log_ratio

WORTH = math.log(1.0 - NO_DIFFERENCE)
"""Derived: a candidate is worth confirming if its ratio to the default is below this in the median of the screening."""
AS_FAST = math.log(1.0 + NO_DIFFERENCE)
"""Derived: within this of the best, a candidate may serve a size for its neighbours' sake; beyond, and by more than
three standard errors, it drops out."""
NEAR = 4.0
"""Given: each size is within this factor of one that the first launch measures."""
FAR_BEHIND = 2.0
"""Given: a candidate that takes so many times as long as the best gets a single trial in the first launch, drops out
after it, and is not tried at sizes between."""
CLOSE = 2.0
"""Given: neighbours with different winners have no size between them tried if they are this close, and a range has no
two held-out sizes closer than about that."""


@dataclass
class CellState:
    """One cell: its candidates that are still racing, and what each has shown."""

    cell: Cell
    fit: tuple[str, ...]
    """Names of all candidates that exist for this cell."""
    left: list[Candidate]
    logs: dict[str, list[float]] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    """Medians, one a launch; of the default, too."""
    refused: set[str] = field(default_factory=set)
    samples: int = 0
    """Of the default in the last launch."""
    settled: bool = False
    """Nobody seems to be faster than the default."""

    def learn(self, name: str, mine: CandidateSamples, default: CandidateSamples | None) -> None:
        """The samples of one launch."""
        if mine.size:
            self.seconds.setdefault(name, []).append(mine.typical)
        if name == DEFAULT_NAME:
            self.samples = max(self.samples, mine.size)
            return
        log = None if default is None else log_ratio(mine, default)
        if log is not None:
            self.logs.setdefault(name, []).append(log)

    def mark_slow(self, name: str, seconds: float) -> None:
        """Drops a candidate whose one call took so long that there were no more."""
        self.seconds.setdefault(name, []).append(seconds)
        self.drop({name})

    def promising(self) -> set[str]:
        """Candidates that a size beside this one should try: those not far behind the best here."""
        medians = {name: float(np.median(samples)) for name, samples in self.seconds.items()}
        medians.pop(DEFAULT_NAME, None)
        limit = min(medians.values(), default=math.inf) * FAR_BEHIND
        return {name for name, seconds in medians.items() if seconds <= limit}

    def refuse(self, name: str) -> None:
        """Drops a candidate that the MPI refuses in this cell, or that gives a wrong result."""
        self.refused.add(name)
        self.drop({name})

    def drop(self, names: Collection[str]) -> None:
        """Those candidates race here no more."""
        self.left = [candidate for candidate in self.left if candidate.name not in names]

    def estimate(self, name: str) -> float:
        """The logarithm of its ratio to the default: the median over launches."""
        logs = self.logs.get(name)
        return math.inf if not logs else float(np.median(logs))

    def decide(self) -> None:
        """Who drops out, after a launch."""
        launches = max((len(log) for log in self.logs.values()), default=0)
        best = min((self.estimate(candidate.name) for candidate in self.left), default=math.inf)
        if launches and math.isfinite(best):
            behind = math.log(FAR_BEHIND) if launches == 1 else AS_FAST
            slower = {
                candidate.name
                for candidate in self.left
                if self.estimate(candidate.name) - best
                > max(behind, BEYOND_DOUBT * self._error(candidate.name))
            }
            self.drop(slower)
        if not self.left or (launches >= 2 and best > WORTH):
            self.settled = True

    def is_decided(self) -> bool:
        """Whether further screening would hardly change the choice: all that are left are about as fast as the best."""
        return self.settled or not self.left or len(self.winners()) == len(self.left)

    def winners(self) -> dict[str, Candidate]:
        """Those worth confirming: faster than the default, and about as fast as the best."""
        if self.settled or not self.left:
            return {}
        best = min(self.estimate(candidate.name) for candidate in self.left)
        limit = min(WORTH, best + AS_FAST)
        near_best = [candidate for candidate in self.left if self.estimate(candidate.name) <= limit]
        return {
            candidate.name: candidate
            for candidate in sorted(near_best, key=lambda candidate: self.estimate(candidate.name))
        }

    def _error(self, name: str) -> float:
        logs = self.logs.get(name, ())
        return float(np.std(logs, ddof=1)) / math.sqrt(len(logs)) if len(logs) > 1 else 0.0


@dataclass(frozen=True)
class Run:
    """Neighbouring sizes of one number of ranks that may all get one candidate."""

    candidate: Candidate
    states: tuple[CellState, ...]


def runs_of(states: Iterable[CellState]) -> list[Run]:
    """Ranges as long as they can be: each begins with the candidate that serves the most sizes from there on."""
    runs = []
    ordered = sorted(states, key=lambda state: (state.cell.ranks, state.cell.message_bytes))
    for _, group in groupby(ordered, lambda state: state.cell.ranks):
        runs += list(_longest_runs(list(group)))
    return runs


def _longest_runs(states: Sequence[CellState]) -> Iterator[Run]:
    place = 0
    while place < len(states):
        length, best = 0, None
        for name, candidate in states[place].winners().items():
            served = 0
            while place + served < len(states) and name in states[place + served].winners():
                served += 1
            if served > length:
                length, best = served, candidate
        if best is not None:
            yield Run(best, tuple(states[place : place + length]))
        place += max(1, length)


def affordable(
    runs: Sequence[Run], cost: Callable[[Run, CellState], float], most: float
) -> list[Run]:
    """The ranges without their costliest last sizes, as many as it takes for the costs not to exceed `most`."""
    runs_left = list(runs)
    while runs_left and sum(cost(run, state) for run in runs_left for state in run.states) > most:
        place = max(
            range(len(runs_left)),
            key=lambda number: cost(runs_left[number], runs_left[number].states[-1]),
        )
        shorter = Run(runs_left[place].candidate, runs_left[place].states[:-1])
        runs_left[place : place + 1] = [shorter] if shorter.states else []
    return runs_left


def first_and_later(cells: Sequence[Cell]) -> tuple[list[Cell], list[Cell]]:
    """The cells that the first launch measures, and those that learn from these which candidates to try.

    Few and cheap ones: the smallest that are within NEAR of the largest, and then of the next below that none is near.
    """
    first: list[Cell] = []
    later: list[Cell] = []
    descending = sorted(cells, key=lambda cell: (cell.ranks, cell.message_bytes), reverse=True)
    for _, group in groupby(descending, lambda cell: cell.ranks):
        of_ranks = list(group)
        place = 0
        while place < len(of_ranks):
            near = [
                cell
                for cell in of_ranks[place:]
                if NEAR * cell.message_bytes >= of_ranks[place].message_bytes
            ]
            first.append(near[-1])
            least = near[-1].message_bytes / NEAR
            reached = [cell for cell in of_ranks[place:] if cell.message_bytes >= least]
            later += [cell for cell in reached if cell is not near[-1]]
            place += len(reached)
    return first[::-1], later[::-1]


def keep_promising(states: Sequence[CellState], later: Iterable[Cell]) -> None:
    """Drops from each later cell who is far behind at the nearest sizes below and above that were measured."""
    ordered = sorted(states, key=lambda state: (state.cell.ranks, state.cell.message_bytes))
    to_learn = set(later)
    for place, state in enumerate(ordered):
        if state.cell not in to_learn:
            continue
        beside = [
            next((cell for cell in side if cell.cell not in to_learn), None)
            for side in (ordered[place::-1], ordered[place:])
        ]
        known = [cell for cell in beside if cell and cell.cell.ranks == state.cell.ranks]
        known = [cell for cell in known if cell.seconds]
        if known:
            seen = set().union(*(cell.seconds.keys() | cell.refused for cell in known))
            promising = set().union(*(cell.promising() for cell in known))
            state.drop(seen - promising)


def sizes_between(states: Sequence[CellState], step: int = 1) -> list[tuple[int, list[Candidate]]]:
    """Sizes in the middle of neighbours without a common winner, with the candidates that are left at either.

    They are multiples of `step` bytes.
    """
    ordered = sorted(states, key=lambda state: state.cell.message_bytes)
    between = []
    for low, high in pairwise(ordered):
        first, last = low.cell.message_bytes, high.cell.message_bytes
        here, there = low.winners(), high.winners()
        if last <= CLOSE * max(first, 1) or set(here) & set(there) or not (here or there):
            continue
        either: Mapping[str, Candidate] = {
            candidate.name: candidate for candidate in (*low.left, *high.left)
        }
        size = middle(first, last) // step * step
        if size > first:
            between.append((size, list(either.values())))
    return between


def middle(first: int, last: int) -> int:
    """The power of two nearest to the geometric mean, as long as it is between them; else the mean itself."""
    mean = math.sqrt(max(first, 1) * last)
    power = 1 << round(math.log2(mean))
    return power if first < power < last else round(mean)


def held_out_sizes(
    run: Run, random: np.random.Generator, datatypes: Sequence[str] = (BYTE,)
) -> list[int]:
    """One size in each factor of two of a range, between two neighbours, drawn evenly on a logarithmic scale.

    Of neighbours that are farther apart each two have one between them. It is a whole number of as large a datatype as
    fits between them.
    """
    sizes = [state.cell.message_bytes for state in run.states]
    held_out = []
    since = sizes[0]
    for first, last in pairwise(sizes):
        steps = [DATATYPE_BYTES[name] for name in datatypes if _has_between(first, last, name)]
        if last < CLOSE * since or not steps:
            continue
        since, step = last, max(steps)
        drawn = math.exp(random.uniform(math.log(max(first, 1)), math.log(last)))
        least, most = first // step + 1, (last - 1) // step
        held_out.append(step * min(max(round(drawn / step), least), most))
    return held_out


def _has_between(first: int, last: int, datatype: str) -> bool:
    """Whether a whole number of the datatype lies between the two sizes."""
    step = DATATYPE_BYTES[datatype]
    return (last - 1) // step > first // step
