"""The race: a few launches find the likely winners, fresh ones confirm them, and nothing else leaves the default.

1. *Screening.* The first launch has all candidates at a few sizes; the others then try those that were not far behind
   at the nearest of these. In two more launches, as far as a size needs them, who is clearly slower drops out, and a
   size where nobody seems faster than the default is settled. Sizes between two with different winners are added.
2. *Choice.* Neighbouring sizes get the same candidate where it is about as fast as the best: a range of sizes.
3. *Confirmation* on fresh launches, with the tuning file in force and without it: each size of a range, and between
   each two a held-out one, which no launch had before; of each datatype that programs may use.

Only confirmation decides, so whatever goes wrong before costs gain, never truth.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from chiplog.counts import counted
from chiplog.errors import RunFailed
from chiplog.measurement.datatypes import DATATYPE_BYTES
from chiplog.tune.measured.candidate import DEFAULT, DEFAULT_NAME, Candidate
from chiplog.tune.measured.cells import (
    FAR_BEHIND,
    CellState,
    Run,
    affordable,
    first_and_later,
    held_out_sizes,
    keep_promising,
    runs_of,
    sizes_between,
)
from chiplog.tune.measured.launch import (
    Cell,
    Effort,
    Launcher,
    RaceEntry,
    Result,
    trial_seconds,
)
from chiplog.tune.measured.raced import STARTS_IN_FORCE, Raced, RaceOptions, SizeToConfirm
from chiplog.tune.measured.statistics import LOOKS, is_hopeless, ratio_over_launches

CUTOFF = 3.0
"""Given: a candidate that the model predicts to take longer than this times the best prediction does not take part."""
SCREENINGS = 3
"""Given: launches that screen."""
REFINEMENTS = SCREENINGS - 1
"""Derived: launches of sizes that were added, which begin where the first has been."""
SCREENING_SHARE = 0.5
"""Given: of the budget, at which screening ends."""
FAILURES_OF_DEFAULT = 2
"""Given: launches in which the default fails, after which nothing can be measured."""

Tell = Callable[[str], None]
Confirming = Callable[[Sequence[SizeToConfirm]], Launcher]
"""Who launches what is to be confirmed."""
Log = Callable[[str, Sequence[RaceEntry], Result], None]
"""Keeps what a launch measured; the first argument is `screen`, `confirm`, or `cut` for a confirmation that the end of
the budget has cut, which does not count."""


class Race:
    """One operation; `run` measures."""

    def __init__(
        self,
        launcher: Launcher,
        candidates: Sequence[Candidate],
        options: RaceOptions,
        *,
        confirming: Confirming | None = None,
        predicted: Mapping[tuple[Cell, str], float] | None = None,
        tell: Tell | None = None,
        log: Log | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._launcher, self._options, self._every = launcher, options, tuple(candidates)
        self._confirming = confirming
        self._starts = 1 if confirming is None else STARTS_IN_FORCE
        self._predicted = predicted or {}
        self._tell: Tell = tell or (lambda _: None)
        self._log: Log = log or (lambda *_: None)
        self._clock = clock
        self._random = np.random.default_rng(options.seed)
        self._began = clock()
        self._default_failures = 0
        self._costs: dict[SizeToConfirm, float] = {}
        self.raced = Raced(options, {})
        for ranks in options.ranks:
            for size in options.sizes:
                self._add(options.cell(ranks, size), candidates)

    def run(self) -> Raced:
        """Screening, choice and confirmation; RunFailed where even the default fails."""
        cells = list(self.raced.cells)
        first, later = first_and_later(cells)
        self._screen(first, 0, f"screening 1 of {SCREENINGS}")
        keep_promising(list(self.raced.cells.values()), later)
        for number in range(1, SCREENINGS):
            self._screen(cells, number, f"screening {number + 1} of {SCREENINGS}")
        while added := self._between():
            for number in range(REFINEMENTS):
                self._screen(
                    added, number + 1, f"screening {counted(len(added), 'size')} in between"
                )
            if self._is_late():
                break
        self.raced.runs = runs_of(self.raced.cells.values())
        self._confirm()
        self.raced.seconds = self._clock() - self._began
        return self.raced

    # Screening

    def _add(self, cell: Cell, candidates: Sequence[Candidate]) -> None:
        fit = [candidate for candidate in candidates if candidate.fits(cell.message_bytes)]
        seconds = {candidate.name: self._predicted.get((cell, candidate.name)) for candidate in fit}
        known = [value for value in seconds.values() if value is not None]
        limit = CUTOFF * min(known, default=math.inf)
        kept = [candidate for candidate in fit if (seconds[candidate.name] or 0.0) <= limit]
        kept.sort(
            key=lambda candidate: (
                seconds[candidate.name] or 0.0 if seconds[candidate.name] else math.inf
            )
        )
        every = (candidate.name for candidate in self._every if candidate.fits(cell.message_bytes))
        self.raced.cells[cell] = CellState(cell, tuple(every), kept)

    def _screen(self, cells: Sequence[Cell], number: int, what: str) -> None:
        if self._is_late():
            self.raced.ran_out = True
            return
        open_cells = [
            self.raced.cells[cell] for cell in cells if not self.raced.cells[cell].is_decided()
        ]
        entries = [
            RaceEntry(open_cell.cell, (DEFAULT, *open_cell.left))
            for open_cell in open_cells
            if open_cell.left
        ]
        if not entries:
            return
        effort = replace(self._options.effort, least=1, cutoff=FAR_BEHIND, checks=number <= 1)
        for used, result in self._launch("screen", entries, effort, what):
            self.raced.screen(used, result)
        for open_cell in open_cells:
            open_cell.drop(self.raced.dropped)
            open_cell.decide()

    def _between(self) -> list[Cell]:
        """New cells between neighbours with different winners, with the candidates that are left at either."""
        added = []
        step = min(DATATYPE_BYTES[name] for name in self._options.datatypes)
        for ranks in self._options.ranks:
            states = [state for cell, state in self.raced.cells.items() if cell.ranks == ranks]
            for size, candidates in sizes_between(states, step):
                cell = self._options.cell(ranks, size)
                fit = [
                    candidate
                    for candidate in candidates
                    if candidate.name not in self.raced.dropped
                ]
                self._add(cell, fit)
                added.append(cell)
        return added

    # Confirmation

    def _confirm(self) -> None:
        self._afford()
        points = self._points()
        self.raced.confirmed = {point: [] for point in points}
        if points and self._confirming is not None:
            self._launcher, self.raced.is_in_force = self._confirming(points), True
        active = points
        launches = 0
        for look in LOOKS:
            while launches < look and active:
                if self._left() < self._expected_seconds(active):
                    self.raced.ran_out = True
                    return
                self._confirm_once(active, f"confirmation {launches + 1} of {look}")
                launches += 1
            active = self._open(active, len(points))

    def _afford(self) -> None:
        """Leaves out the costliest sizes, if the budget is too short for what it takes to decide anything."""
        start, launches = self._start_seconds(), LOOKS[0]
        runs, seconds_left = self.raced.runs, self._left()

        def cost(run: Run, state: CellState) -> float:
            held_out = state is not run.states[0]
            datatypes = len(self._options.in_all_datatypes(state.cell))
            return self._seconds_at(state, run.candidate) * (1 + held_out) * datatypes

        whole = sum(cost(run, state) for run in runs for state in run.states)
        if runs and launches * (start + whole) > seconds_left:
            self.raced.ran_out = True
            self.raced.wanted_seconds = self._options.budget_seconds - seconds_left
            self.raced.wanted_seconds += launches * (start + whole)
            self.raced.runs = affordable(runs, cost, seconds_left / launches - start)

    def _start_seconds(self) -> float:
        """What a confirmation takes beside its samples."""
        return self._starts * self.raced.start_seconds

    def _seconds_at(self, state: CellState, candidate: Candidate) -> float:
        """What a confirmation of a size takes, by what screening has seen there."""
        effort = self._options.effort
        names = (DEFAULT_NAME, candidate.name)
        typical = [float(np.median(state.seconds[name])) for name in names if name in state.seconds]
        turns = min(
            max(effort.cell_seconds / max(sum(typical), 1e-9), effort.least), effort.samples
        )
        return self._starts * (turns * sum(typical) + sum(map(trial_seconds, typical)))

    def _expected_seconds(self, points: Sequence[SizeToConfirm]) -> float:
        return self._start_seconds() + sum(self._costs[point] for point in points)

    def _points(self) -> list[SizeToConfirm]:
        points = []
        for run in self.raced.runs:
            for state in run.states:
                points += self._in_all_datatypes(state.cell, run, state, is_held_out=False)
            for size in held_out_sizes(run, self._random, self._options.datatypes):
                after = next(
                    later_state
                    for later_state in run.states
                    if later_state.cell.message_bytes > size
                )
                cell = self._options.cell(after.cell.ranks, size)
                points += self._in_all_datatypes(cell, run, after, is_held_out=True)
        return points

    def _in_all_datatypes(
        self, cell: Cell, run: Run, like: CellState, *, is_held_out: bool
    ) -> list[SizeToConfirm]:
        """The points of one size, which take about as long as `like` did."""
        points = [
            SizeToConfirm(of_datatype, run.candidate, is_held_out)
            for of_datatype in self._options.in_all_datatypes(cell)
        ]
        self._costs |= dict.fromkeys(points, self._seconds_at(like, run.candidate))
        return points

    def _confirm_once(self, points: Sequence[SizeToConfirm], what: str) -> None:
        entries = [RaceEntry(point.cell, (DEFAULT, point.candidate)) for point in points]
        for used, result in self._launch("confirm", entries, self._options.effort, what):
            self.raced.confirm(used, result)

    def _open(self, points: Sequence[SizeToConfirm], count: int) -> list[SizeToConfirm]:
        """The points that are not decided yet: a size is lost with the first datatype that is hopeless."""
        statements, confirmed = count * len(LOOKS), self.raced.confirmed
        lost = {
            point.size
            for point in points
            if point.candidate.name in self.raced.dropped
            or is_hopeless(confirmed[point], point.limit, statements)
        }
        return [
            point
            for point in points
            if point.size not in lost
            and ratio_over_launches(confirmed[point], statements).high >= point.limit
        ]

    # Launches

    def _left(self, share: float = 1.0) -> float:
        """Seconds of that share of the budget that are left."""
        return self._began + share * self._options.budget_seconds - self._clock()

    def _is_late(self) -> bool:
        return self._left(SCREENING_SHARE) <= 0

    def _launch(
        self, stage: str, entries: Sequence[RaceEntry], effort: Effort, what: str
    ) -> list[tuple[Sequence[RaceEntry], Result]]:
        """One launch, and after a failure further ones with what is left; what each of them measured.

        Screening keeps what it has when the time is over. A confirmation that is cut does not count: who takes long
        would be measured less often.
        """
        launched: list[tuple[Sequence[RaceEntry], Result]] = []
        entries_left = list(entries)
        is_screening = stage == "screen"
        while entries_left:
            limit = self._left(SCREENING_SHARE if is_screening else 1.0)
            if limit <= 0:
                self.raced.ran_out = True
                break
            self.raced.launches += 1
            seed = int(self._random.integers(1, 1 << 30))
            self._tell(
                f"{what}: {counted(len(entries_left), 'cell')}, {self._clock() - self._began:.0f} s"
            )
            result = self._launcher.launch(entries_left, effort, seed, limit)
            is_lost = result.is_cut and not is_screening
            self._log("cut" if is_lost else stage, entries_left, result)
            if not result.is_cut:
                self.raced.add_start(stage, result.overhead_seconds)
            if not is_lost:
                launched.append((entries_left, result))
            self.raced.ran_out |= result.is_cut
            if result.is_cut or result.failure is None:
                break
            entries_left = self._after_failure(entries_left, result)
        return launched

    def _after_failure(self, entries: Sequence[RaceEntry], result: Result) -> list[RaceEntry]:
        failure = result.failure
        assert failure is not None
        if failure.candidate in (None, DEFAULT_NAME):
            self._default_failures += 1
            if self._default_failures >= FAILURES_OF_DEFAULT:
                raise RunFailed(f"a launch with the MPI's default fails: {failure.reason}.")
            return list(entries)
        entries_left = list(entries[failure.place :])
        first = entries_left[0]
        others = tuple(
            candidate for candidate in first.candidates if candidate.name != DEFAULT_NAME
        )
        if failure.in_trials or len(others) == 1:
            assert failure.candidate is not None
            name = failure.candidate if failure.in_trials else others[0].name
            self.raced.dropped.setdefault(name, failure.reason)
            self._tell(f"{name} is left out: {failure.reason}")
        else:  # any of them: each alone with the default
            return [RaceEntry(first.cell, (DEFAULT, other)) for other in others] + entries_left[1:]
        kept = [
            RaceEntry(
                entry.cell, tuple(c for c in entry.candidates if c.name not in self.raced.dropped)
            )
            for entry in entries_left
        ]
        return [entry for entry in kept if len(entry.candidates) > 1]
