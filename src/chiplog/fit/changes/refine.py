"""Finding a protocol change to the byte by measuring again: which sizes to ask for, and what the answers mean.

Sizes on both sides of the change and one between them are measured in turn, in one record; the one between is before or
after the change, whichever line it lies on, with the lines drawn through the outer two as just measured. So a drift of
the machine moves all alike. After about log2(interval) such records the two neighbouring sizes are compared directly,
with two more sizes on each side as controls: the next one, and one a cache line away, where the jump must last. The
same is asked once more when all questions are answered, since a state of the machine that lasts for a second may look
like a protocol. A suspect is first looked at over all its sizes at once: the pair of neighbours with the largest step
is bisected. Nothing here does any input or output.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from chiplog.dataset.series import Dataset
from chiplog.fit.changes.breaks import MIN_JUMP
from chiplog.fit.changes.halving import Halving, Interval
from chiplog.fit.changes.marks import (
    FLAT,
    MAX_ROUNDS,
    Mark,
    marks_of,
)
from chiplog.fit.changes.neighbourhood import Neighbourhood
from chiplog.fit.changes.observed import grid_of, observe
from chiplog.fit.changes.questions import VERIFY_SHARE, Questions, Record
from chiplog.fit.changes.scanner import Scanner
from chiplog.fit.changes.step import Step
from chiplog.fit.changes.verdict import Evidence
from chiplog.fit.result import Change
from chiplog.plan.request import Request

ERRORS = 4.0
"""Standard errors from the middle at which a size is on one side."""
STEP_ERRORS = 3.0
"""Standard errors of a step that is worth looking into."""
LEAST_BYTES, MOST_BYTES = 150_000_000, 250_000_000
"""For all questions of a run together."""
BYTES_OF_RUN = 980_000_000
"""The grid and the questions together, where the grid leaves enough of them."""
CLEAR_LOG_ODDS = 0.5 * ERRORS**2
"""Or logarithm of the odds of its side from which it is, where one side scatters too much for that."""
HALFWAY = 0.2
"""Distance from the middle of the two lines below which a size belongs to neither, whatever its error."""
ATTEMPTS = 2
"""Steps of a suspect that are tried, and times that a change is asked for later before it counts as none."""

SUSPECT_JUMP, SWEPT_JUMP = 0.10, 0.15
"""Steps between sizes of the grid that are looked into: where the grid is suspicious, and anywhere."""
CONFIRMED_JUMP, CONFIRMED_ALONE = 0.15, 0.10
"""Jump from one byte to the next that makes a step a change; and where the bytes allowed for one quantity only."""
STILL = 0.5
"""Share of the jump that was asked for at first which a change must show later."""
SWEEPS = 2
"""A machine that changes its state may hide a jump for a while."""
SWEPT_TOTAL = 0.25
"""Sum over the quantities of their steps that is needed where the grid shows nothing, if there are several."""


class Refiner:
    """Asks for records with `next` and takes them with `feed`, until `next` returns None; `changes` is the result.

    `dataset` is the run so far, `changes` and `suspects` what `find_changes` found in it. A slope change stays as it is
    unless a suspect at its place turns out to be a jump. Requests carry ids from `first_id` on; all of them together
    put at most about `budget_bytes` on the wire: by default `MOST_BYTES`, and fewer where the run has used many.
    """

    def __init__(
        self,
        dataset: Dataset,
        changes: Sequence[Change],
        *,
        suspects: Sequence[Change] = (),
        seed: int = 0,
        first_id: int = 0,
        budget_bytes: int | None = None,
    ) -> None:
        self._dataset = grid_of(dataset)
        self._all = tuple(changes)
        self._suspects = tuple(suspects)
        self._questions = Questions(
            np.random.default_rng(seed), first_id, budget_bytes or _budget_bytes(dataset)
        )
        self._known: list[Change | None] = [*changes, *(None for _ in suspects)]
        self._sizes = self._dataset.sizes()
        measured = {one.quantity for one in observe(self._dataset)}
        self._scanner = Scanner(self._sizes, measured, self._questions, errors=STEP_ERRORS)
        self._verified: dict[int, tuple[Sequence[Mark], float]] = {}
        self._work = self._refine_all()
        self._pending = next(self._work, None)

    def next(self) -> Request | None:
        """What to measure next; None when all that can be known is known."""
        return self._pending

    def feed(self, record: Record) -> None:
        """Takes the series of the record that answers the pending request."""
        try:
            self._pending = self._work.send(record)
        except StopIteration:
            self._pending = None

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes as far as they are known by now; those that measuring again did not confirm are gone."""
        known = [change for change in self._known if change is not None]
        return tuple(sorted(known, key=lambda change: change.first_after_bytes))

    def _refine_all(self) -> Generator[Request, Record, None]:
        for index, change in enumerate(self._all):
            if change.kind == "slope":
                continue
            marks = marks_of(self._dataset, change, self._all)
            interval = change.last_before_bytes, change.first_after_bytes
            if not marks or not self._questions.affords_bisection(marks, *interval):
                found = yield from self._look_closer(index, change)
                if found or not marks:
                    continue
                self._known[index] = change
            yield from self._refine(index, change, marks)
        for index, suspect in enumerate(self._suspects, start=len(self._all)):
            yield from self._look_closer(index, suspect)
        for _ in range(SWEEPS):
            yield from self._sweep()
        yield from self._verify_later()

    def _verify_later(self) -> Generator[Request, Record, None]:
        """Asks once more for every jump that is known to the byte, now that time has passed.

        Once it was large enough; now it need only be there still, in whatever state the machine is by now.
        """
        self._questions.release_reserve()
        for index, (marks, least_jump) in self._verified.items():
            change = self._known[index]
            if change is None:
                continue
            least = max(STILL * least_jump, MIN_JUMP)
            for _ in range(ATTEMPTS):
                still = yield from self._verify(index, marks, change.last_before_bytes, least)
                if still is None or still:
                    break
            else:
                self._known[index] = None

    def _refine(
        self, index: int, change: Change, marks: Sequence[Mark]
    ) -> Generator[Request, Record, None]:
        interval = yield from self._bracket(index, change, marks)
        if interval is not None:
            confirmed = yield from self._bisect(index, change, marks, interval)
            if confirmed is None or confirmed:
                return
        yield from self._look_closer(index, change)

    def _look_closer(self, index: int, suspect: Change) -> Generator[Request, Record, bool]:
        """Makes a suspect a change where one of its surest steps is a jump to the byte; whether that is so.

        A slope at its place goes in any case: it was suspected for a jump of its lines, which is found or refuted.
        """
        self._known[index] = None
        steps = yield from self._scanner.steps(index, self._scanner.around(suspect), SUSPECT_JUMP)
        if steps is not None:
            self._forget_slopes(suspect)
        for step in (steps or ())[:ATTEMPTS]:
            confirmed = yield from self._pin_down(index, suspect, step)
            if confirmed:
                return True
        return False

    def _sweep(self) -> Generator[Request, Record, None]:
        """Looks at all sizes where protocols change, once more and in turn, for jumps that the grid did not show.

        The grid's records lie seconds apart, and the machine drifts between them; here it moves all sizes alike.
        """
        everywhere = self._scanner.everywhere()
        steps = yield from self._scanner.steps(len(self._known), everywhere, SWEPT_JUMP)
        for step in steps or ():
            if step.looked_at > 1 and step.total < SWEPT_TOTAL:
                continue
            self._known.append(None)
            unseen = Change(
                *step.interval, "both", None, tuple(mark.quantity for mark in step.marks)
            )
            yield from self._pin_down(len(self._known) - 1, unseen, step)

    def _pin_down(
        self, index: int, suspect: Change, step: Step
    ) -> Generator[Request, Record, bool]:
        """Whether a step is a jump to the byte that is not known yet; then it is known."""
        affordable = self._questions.affords_bisection(step.marks, *step.interval)
        if not affordable or self._is_known(step.interval):
            return False
        least = CONFIRMED_JUMP if step.looked_at > 1 else CONFIRMED_ALONE
        confirmed = yield from self._bisect(index, suspect, step.marks, step.interval, least)
        found = self._known[index]
        if not confirmed or found is None:
            self._known[index] = None
            return False
        kind = "jump" if suspect.kind == "jump" else "both"
        self._known[index] = replace(found, kind=kind, relative_jump=step.relative_jump)
        self._forget_slopes(self._widened(found))
        return True

    def _widened(self, found: Change) -> Change:
        """The change with the sampled sizes around it and one more on each side: a slope there is the same change."""
        low, high = self._neighbours(found.first_after_bytes, found.last_before_bytes)
        low, high = self._neighbours(low, high)
        return replace(found, last_before_bytes=low, first_after_bytes=high)

    def _forget_slopes(self, suspect: Change) -> None:
        for index, change in enumerate(self._all):
            if change.kind == "slope" and _overlap(change, suspect):
                self._known[index] = None

    def _is_known(self, interval: Interval) -> bool:
        """Whether a jump that is already known lies between two sizes."""
        low, high = interval
        jumps = [change for change in self._known if change is not None and change.kind != "slope"]
        return any(low <= one.last_before_bytes and one.first_after_bytes <= high for one in jumps)

    def _bisect(
        self,
        index: int,
        change: Change,
        marks: Sequence[Mark],
        interval: Interval,
        least_jump: float = MIN_JUMP,
    ) -> Generator[Request, Record, bool | None]:
        """Whether there is a change between two neighbouring sizes; None where the bytes don't suffice to tell."""
        halving = Halving(*interval)
        while not halving.is_done:
            sizes = halving.sizes
            evidence = yield from self._questions.ask(
                index, marks, sizes, partial(_clear, sizes=sizes)
            )
            if evidence is None:
                return None
            low, middle, high = sizes
            if _clear(evidence, sizes):
                halving.narrow(middle_is_before=evidence.place(middle, low, high).value < 0.5)
            elif not halving.step_back():
                return False
            self._known[index] = halving.narrowed(change)
        self._known[index] = halving.narrowed(change)
        confirmed = yield from self._verify(index, marks, halving.low, least_jump)
        if confirmed:
            self._verified[index] = (marks, least_jump)
        return confirmed

    def _bracket(
        self, index: int, change: Change, marks: Sequence[Mark]
    ) -> Generator[Request, Record, Interval | None]:
        """The interval that measuring again confirms, or its neighbour; None where it shows no jump."""
        low, high = change.last_before_bytes, change.first_after_bytes
        below, above = self._neighbours(low, high)

        def clear(evidence: Evidence) -> bool:
            return _clear(evidence, (below, low, above)) and _clear(evidence, (below, high, above))

        evidence = yield from self._questions.ask(
            index, marks, sorted({below, low, high, above}), clear
        )
        if evidence is None:
            return low, high
        jump = evidence.jump(math.sqrt(low * high), below, above)
        if jump.size < MIN_JUMP or not jump.significant(ERRORS) or not clear(evidence):
            return None
        if below < low and evidence.place(low, below, above).value > 0.5:
            return below, low
        if high < above and evidence.place(high, below, above).value < 0.5:
            return high, above
        return low, high

    def _neighbours(self, low: int, high: int) -> tuple[int, int]:
        below = self._sizes[(self._sizes < low) & (self._sizes > 0)]
        above = self._sizes[self._sizes > high]
        return (int(below[-1]) if below.size else low), (int(above[0]) if above.size else high)

    def _verify(
        self, index: int, marks: Sequence[Mark], last_before: int, least_jump: float
    ) -> Generator[Request, Record, bool | None]:
        """Whether the time jumps between the two neighbouring sizes; None where the bytes don't suffice to ask.

        All quantities are looked at: the one that jumps most need not be one that led here.
        """
        around = Neighbourhood.of(last_before)
        led = {mark.quantity for mark in marks}
        others = [
            Mark(quantity, FLAT, FLAT, MAX_ROUNDS)
            for quantity in self._scanner.quantities(around.sizes)
            if quantity not in led
        ]

        def jumps(evidence: Evidence) -> bool:
            return evidence.shows_jump(around, errors=ERRORS, least=least_jump)

        evidence = yield from self._questions.ask(
            index, [*marks, *others], around.sizes, jumps, share=VERIFY_SHARE
        )
        return None if evidence is None else jumps(evidence)


def _budget_bytes(dataset: Dataset) -> int:
    left = BYTES_OF_RUN - sum(one.bytes_sent for one in dataset.series)
    return max(LEAST_BYTES, min(MOST_BYTES, left))


def _clear(evidence: Evidence, sizes: tuple[int, int, int]) -> bool:
    """Whether the middle one of three sizes is on one side of the change, and not halfway."""
    low, size, high = sizes
    if size in (low, high):
        return True
    place = evidence.place(size, low, high)
    if abs(place.value - 0.5) < HALFWAY:
        return False
    if abs(place.value - 0.5) >= ERRORS * place.error:
        return True
    log_odds = evidence.log_odds(size, low, high)
    return abs(log_odds) >= CLEAR_LOG_ODDS and (log_odds > 0.0) == (place.value < 0.5)


def _overlap(one: Change, other: Change) -> bool:
    return (
        one.last_before_bytes < other.first_after_bytes
        and other.last_before_bytes < one.first_after_bytes
    )
