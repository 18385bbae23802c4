"""Finding protocol changes to the byte by measuring again: which sizes to ask for, in which order.

First the limits that the transport names, then the changes and suspects of the grid, then all sizes in turn for jumps
that the grid did not show; and at the end each change once more, since a state of the machine that lasts for a second
may look like a protocol. What the answers mean is decided in the room beside. Nothing here does any input or output.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import replace

import numpy as np

from chiplog.dataset.series import Dataset
from chiplog.plan.request import Request
from chiplog.protocol_changes.ask.bisection import Bisection, is_clear
from chiplog.protocol_changes.ask.halving import Interval
from chiplog.protocol_changes.ask.limits import Limit, copy_limits, limits_of
from chiplog.protocol_changes.ask.marks import marks_of
from chiplog.protocol_changes.ask.questions import Questions, Record, questions_about
from chiplog.protocol_changes.ask.scanner import Scanner
from chiplog.protocol_changes.ask.step import Step
from chiplog.protocol_changes.ask.thresholds import THRESHOLDS
from chiplog.protocol_changes.change import Change
from chiplog.protocol_changes.decide.evidence import ChangeMark, Evidence, Jump, KnownPlace
from chiplog.protocol_changes.decide.thresholds import THRESHOLDS as DECIDE
from chiplog.protocol_changes.detect.observed import grid_of, observe
from chiplog.protocol_changes.detect.thresholds import CACHE_LINE_BYTES
from chiplog.protocol_changes.detect.thresholds import THRESHOLDS as DETECT

Asked = Generator[Request, Record, bool]


class Refiner:
    """Asks for records with `next` and takes them with `feed`, until `next` returns None; `changes` is the result.

    `dataset` is the run so far, `changes` and `suspects` what `find_changes` found in it. A slope change stays as it is
    unless a suspect at its place turns out to be a jump. Requests carry ids from `first_id` on; all of them together
    put at most about `budget_bytes` on the wire: by default what the run has left.
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
        self._known: list[Change | None] = [*changes, *(None for _ in suspects)]
        self._sizes = self._dataset.sizes()
        self._limits = limits_of(dataset.header, *self._range())
        jumps = sum(change.kind != "slope" for change in changes)
        self._questions = Questions(
            np.random.default_rng(seed),
            first_id,
            budget_bytes or _budget_bytes(dataset),
            _budget_seconds(dataset),
            places=len(self._limits) + jumps + len(suspects),
        )
        measured = {observed.quantity for observed in observe(self._dataset)}
        self._scanner = Scanner(self._sizes, measured, self._questions)
        self._bisection = Bisection(self._questions, self._scanner)
        self._copy_limits = copy_limits(dataset.header)
        self._certain: set[int] = set()
        """Indices of the changes that are at a named limit."""
        self._verified: dict[int, tuple[Sequence[ChangeMark], float]] = {}
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

    def _range(self) -> tuple[int, int]:
        used = self._sizes[self._sizes > 0]
        return (int(used[0]), int(used[-1])) if used.size > 1 else (0, 0)

    def _refine_all(self) -> Generator[Request, Record, None]:
        for limit in self._limits:
            yield from self._ask_limit(limit)
            self._questions.go_on()
        if self._limits:
            self._forget_slopes()
        for index, change in enumerate(self._all):
            if change.kind == "slope":
                continue
            self._drop_if_explained(index)
            if self._known[index] is not None:
                yield from self._ask_change(index, change)
            self._questions.go_on()
        for index, suspect in enumerate(self._suspects, start=len(self._all)):
            if self._questions.has_time:
                yield from self._look_closer(index, suspect)
            self._questions.go_on()
        for _ in range(1 if self._limits else THRESHOLDS.sweeps):
            if not self._questions.has_time:
                break
            yield from self._sweep()
        yield from self._verify_later()

    def _ask_change(self, index: int, change: Change) -> Generator[Request, Record, None]:
        """Looks for a change of the grid by halving its interval, or at all sizes about it where that tells nothing."""
        interval = change.last_before_bytes, change.first_after_bytes
        round_bytes = self._questions.round_bytes(questions_about(*interval))
        marks = marks_of(self._dataset, change, self._all, round_bytes)
        if not marks or not self._questions.affords_bisection(marks, *interval):
            is_found = yield from self._look_closer(index, change)
            if is_found or not marks:
                return
            self._known[index] = change
        yield from self._refine(index, change, marks)

    def _drop_if_explained(self, index: int) -> None:
        """Drops a change of the grid that is no slope if a jump that is known by now lies where it is."""
        change = self._known[index]
        if change is None or change.kind == "slope":
            return
        wide = self._widened(change)
        if self._is_known((wide.last_before_bytes, wide.first_after_bytes), but=index):
            self._known[index] = None

    def _ask_limit(self, limit: Limit) -> Generator[Request, Record, None]:
        """Asks whether the time jumps at a limit that the transport names, or within its header's size below."""
        index = len(self._known)
        self._known.append(None)
        low, high = limit.window
        marks: Sequence[ChangeMark] = ()
        last_before: int | None = low
        if high - low > 1:
            sizes = [max(2 * low - high, 1), low, high, 2 * high - low]
            steps = yield from self._scanner.steps(
                index, sizes, max(DECIDE.min_jump, high / low - 1.0)
            )
            step = next(
                (candidate for candidate in steps or () if candidate.interval == (low, high)), None
            )
            if step is None or not self._questions.affords_bisection(step.marks, low, high):
                return
            marks = step.marks
            last_before = yield from self._bisection.halve(
                index, marks, (low, high), lambda interval: None
            )
        if last_before:
            jump = yield from self._bisection.last_word(
                index, marks, last_before, KnownPlace.LIMIT, DECIDE.min_jump
            )
            if jump is not None and jump.is_change:
                self._known[index] = self._adopted(_change_at(last_before, jump))
                self._certain.add(index)
                for of_grid in range(len(self._all)):
                    self._drop_if_explained(of_grid)

    def _adopted(self, bisected: Change) -> Change:
        """The change with what the grid knows of it; a slope that the grid shows there is the same change."""
        wide = self._widened(bisected)
        self._forget_slopes(wide)
        same = [change for change in self._all if change.kind != "slope" and change.overlaps(wide)]
        if not same:
            return bisected
        seen_in = tuple(dict.fromkeys([*same[0].seen_in, *bisected.seen_in]))
        return replace(
            same[0],
            last_before_bytes=bisected.last_before_bytes,
            first_after_bytes=bisected.first_after_bytes,
            seen_in=seen_in,
        )

    def _verify_later(self) -> Generator[Request, Record, None]:
        """Asks once more for every jump that is known to the byte, now that time has passed.

        Once it was large enough; now it need only be there still, in whatever state the machine is by now.
        """
        for index, (marks, least_jump) in self._verified.items():
            change = self._known[index]
            if change is None:
                continue
            least = max(DECIDE.lasting_share * least_jump, DECIDE.min_jump)
            last_before = change.last_before_bytes
            for _ in range(THRESHOLDS.sweeps):
                jump = yield from self._bisection.last_word(
                    index, marks, last_before, self._place(last_before), least
                )
                if jump is None or jump.is_change:
                    break
            else:
                self._known[index] = None

    def _refine(self, index: int, change: Change, marks: Sequence[ChangeMark]) -> Asked:
        interval = yield from self._bracket(index, change, marks)
        if interval is not None:
            confirmed = yield from self._bisect(index, change, marks, interval, DECIDE.min_jump)
            if confirmed is None or confirmed:
                return True
        is_known = yield from self._look_closer(index, change)
        return is_known

    def _look_closer(self, index: int, suspect: Change) -> Asked:
        """Makes a suspect a change where one of its surest steps is a jump to the byte; whether that is so.

        A slope at its place goes in any case: it was suspected for a jump of its lines, which is found or refuted.
        """
        self._known[index] = None
        around = self._scanner.around(suspect)
        steps = yield from self._scanner.steps(index, around, DETECT.noticeable)
        if steps is not None:
            self._forget_slopes(suspect)
        for step in (steps or ())[: THRESHOLDS.sweeps]:
            confirmed = yield from self._pin_down(index, suspect, step)
            if confirmed:
                return True
        return False

    def _sweep(self) -> Generator[Request, Record, None]:
        """Looks at all sizes where protocols change, once more and in turn, for jumps that the grid did not show.

        The grid's records lie seconds apart, and the machine drifts between them; here it moves all sizes alike.
        """
        steps = yield from self._scanner.steps(
            len(self._known), self._scanner.everywhere(), THRESHOLDS.unnamed_jump
        )
        for step in steps or ():
            if not self._questions.has_time:
                return
            if step.looked_at > 1 and step.total < THRESHOLDS.swept_total:
                continue
            self._known.append(None)
            unseen = Change(
                *step.interval, "both", None, tuple(mark.quantity for mark in step.marks)
            )
            yield from self._pin_down(len(self._known) - 1, unseen, step)

    def _pin_down(self, index: int, suspect: Change, step: Step) -> Asked:
        """Whether a step is a jump to the byte that is not known yet; then it is known."""
        affordable = self._questions.affords_bisection(step.marks, *step.interval)
        if not affordable or self._is_known(step.interval, but=index):
            return False
        if self._limits and 2 * step.shown_by <= step.looked_at:
            return False  # Most quantities would have to jump.
        least = DETECT.noticeable if step.looked_at == 1 else THRESHOLDS.unnamed_jump
        confirmed = yield from self._bisect(index, suspect, step.marks, step.interval, least)
        change = self._known[index]
        if not confirmed or change is None:
            self._known[index] = None
            return False
        kind = "jump" if suspect.kind == "jump" else "both"
        self._known[index] = replace(change, kind=kind, relative_jump=step.relative_jump)
        self._forget_slopes(self._widened(change))
        return True

    def _widened(self, change: Change) -> Change:
        """The change with the sampled sizes around it and one more on each side: a slope there is the same change."""
        low, high = self._neighbours(change.first_after_bytes, change.last_before_bytes)
        low, high = self._neighbours(low, high)
        return replace(change, last_before_bytes=low, first_after_bytes=high)

    def _forget_slopes(self, near: Change | None = None) -> None:
        """Drops the slopes near a change; all of them where the transport names its limits: they are the machine's."""
        for index, change in enumerate(self._all):
            if change.kind == "slope" and (near is None or change.overlaps(near)):
                self._known[index] = None

    def _is_known(self, interval: Interval, *, but: int) -> bool:
        """Whether a jump that is already known lies between two sizes."""
        low, high = interval
        jumps = [
            change
            for index, change in enumerate(self._known)
            if change is not None and change.kind != "slope" and index != but
        ]
        return any(
            low <= jump.last_before_bytes and jump.first_after_bytes <= high for jump in jumps
        )

    def _bisect(
        self,
        index: int,
        change: Change,
        marks: Sequence[ChangeMark],
        interval: Interval,
        least_jump: float,
    ) -> Generator[Request, Record, bool | None]:
        """Whether there is a change between two neighbouring sizes; None where the bytes don't suffice to tell."""

        def narrowed(to: Interval) -> None:
            low, high = to
            self._known[index] = replace(change, last_before_bytes=low, first_after_bytes=high)

        last_before = yield from self._bisection.halve(index, marks, interval, narrowed)
        if last_before is None:
            return None
        if last_before == 0 or self._is_the_machines(last_before, index):
            return False
        narrowed((last_before, last_before + 1))
        jump = yield from self._bisection.last_word(
            index, marks, last_before, self._place(last_before), least_jump
        )
        if jump is None:
            return None
        if jump.is_change:
            self._verified[index] = (marks, least_jump)
        return jump.is_change

    def _is_the_machines(self, last_before: int, index: int) -> bool:
        """Whether a jump is the C library's way to copy, or a part of a change at a named limit that is known."""
        if last_before in self._copy_limits:
            return True
        known = [self._known[other] for other in self._certain if other != index]
        if any(
            change is not None and abs(change.last_before_bytes - last_before) <= CACHE_LINE_BYTES
            for change in known
        ):
            return True
        return any(
            limit.covers(last_before) and limit.covers(change.last_before_bytes)
            for limit in self._limits
            for change in known
            if change is not None
        )

    def _place(self, last_before: int) -> KnownPlace:
        if any(limit.covers(last_before) for limit in self._limits):
            return KnownPlace.LIMIT
        return KnownPlace.ELSEWHERE if self._limits else KnownPlace.OPEN

    def _bracket(
        self, index: int, change: Change, marks: Sequence[ChangeMark]
    ) -> Generator[Request, Record, Interval | None]:
        """The interval that measuring again confirms, or its neighbour; None where it shows no jump."""
        low, high = change.last_before_bytes, change.first_after_bytes
        below, above = self._neighbours(low, high)

        def clear(evidence: Evidence) -> bool:
            return is_clear(evidence, (below, low, above)) and is_clear(
                evidence, (below, high, above)
            )

        evidence = yield from self._questions.ask(
            index,
            marks,
            sorted({below, low, high, above}),
            clear,
            questions_about(below, above),
        )
        if evidence is None:
            return low, high
        jump = evidence.jump(math.sqrt(low * high), below, above)
        is_large = jump.size >= DECIDE.min_jump and jump.significant(DECIDE.jump_errors)
        if not is_large or not clear(evidence):
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


def _change_at(last_before: int, jump: Jump) -> Change:
    return Change(last_before, last_before + 1, "jump", jump.relative, jump.quantities)


def _budget_bytes(dataset: Dataset) -> int:
    remaining = THRESHOLDS.run_bytes - sum(series.bytes_sent for series in dataset.series)
    return max(THRESHOLDS.least_bytes, min(THRESHOLDS.most_bytes, remaining))


def _budget_seconds(dataset: Dataset) -> float:
    spent = sum(series.elapsed_seconds for series in dataset.series)
    return max(THRESHOLDS.least_seconds, THRESHOLDS.seconds_share * spent)
