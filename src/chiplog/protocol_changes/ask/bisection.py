"""From an interval to a pair of neighbouring sizes, and the last word on that pair.

Sizes on both sides of the change and one between them are measured in turn, in one record; the one between is before or
after the change, whichever line it lies on, with the lines drawn through the outer two as just measured. So a drift of
the machine moves all alike. After about log2(interval) such records the two neighbouring sizes are compared directly,
with more sizes on each side as controls.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence, Set
from functools import partial

from chiplog.plan.request import Request
from chiplog.protocol_changes.ask.halving import Halving, Interval
from chiplog.protocol_changes.ask.questions import Questions, Record, questions_about
from chiplog.protocol_changes.ask.scanner import Scanner
from chiplog.protocol_changes.ask.thresholds import THRESHOLDS
from chiplog.protocol_changes.decide.evidence import FLAT, ChangeMark, Evidence, Jump, KnownPlace
from chiplog.protocol_changes.decide.surroundings import Surroundings
from chiplog.protocol_changes.decide.thresholds import THRESHOLDS as DECIDE


class Bisection:
    """Asks `questions` about one place after the other; `scanner` says which quantities the bytes suffice for."""

    def __init__(self, questions: Questions, scanner: Scanner) -> None:
        self._questions = questions
        self._scanner = scanner

    def halve(
        self,
        index: int,
        marks: Sequence[ChangeMark],
        interval: Interval,
        narrowed: Callable[[Interval], None],
    ) -> Generator[Request, Record, int | None]:
        """The last size before the jump in an interval; 0 where there is none, None where the bytes don't suffice.

        `narrowed` is told each smaller interval.
        """
        halving = Halving(*interval)
        while not halving.is_done:
            sizes = halving.sizes
            evidence = yield from self._questions.ask(
                index,
                marks,
                sizes,
                partial(is_clear, sizes=sizes),
                questions_about(halving.low, halving.high),
            )
            if evidence is None:
                return None
            low, middle, high = sizes
            if is_clear(evidence, sizes):
                halving.narrow(middle_is_before=evidence.place(middle, low, high).value < 0.5)
            elif not halving.step_back():
                return 0
            narrowed((halving.low, halving.high))
        return halving.low

    def last_word(
        self,
        index: int,
        marks: Sequence[ChangeMark],
        last_before: int,
        place: KnownPlace,
        least: float,
    ) -> Generator[Request, Record, Jump | None]:
        """What a jump between two neighbouring sizes looks like; None where the bytes don't suffice to ask.

        All quantities are looked at: the one that jumps most need not be one that led here. At a named limit, those
        that the bytes did not allow for at first have a question of their own where the others don't jump.
        """
        around = Surroundings.of(last_before, far=place is not KnownPlace.LIMIT)
        led = {mark.quantity for mark in marks}
        if place is not KnownPlace.LIMIT:
            others = self._scanner.quantities(around.sizes)
            jump = yield from self._jump(index, [*marks, *_flat(others, led)], around, place, least)
            return jump
        jump = None
        for _ in range(THRESHOLDS.sweeps):
            others = self._scanner.quantities(around.sizes, without=led)
            asked = [*marks, *_flat(others, led)]
            if not asked:
                break
            jump = yield from self._jump(index, asked, around, place, least)
            if jump is None or jump.is_change:
                break
            led, marks = led.union(others), ()
        return jump

    def _jump(
        self,
        index: int,
        marks: Sequence[ChangeMark],
        around: Surroundings,
        place: KnownPlace,
        least: float,
    ) -> Generator[Request, Record, Jump | None]:
        def jump(evidence: Evidence) -> Jump:
            return evidence.jump_at(around, place, least=least)

        evidence = yield from self._questions.ask(
            index,
            marks,
            around.sizes,
            lambda evidence: jump(evidence).is_change,
            THRESHOLDS.checks,
        )
        return None if evidence is None else jump(evidence)


def _flat(quantities: Iterable[str], led: Set[str]) -> list[ChangeMark]:
    """Marks without known lines, of the quantities that did not lead here."""
    return [
        ChangeMark(name, FLAT, FLAT, THRESHOLDS.first_rounds)
        for name in quantities
        if name not in led
    ]


def is_clear(evidence: Evidence, sizes: tuple[int, int, int]) -> bool:
    """Whether the middle one of three sizes is on one side of the change, and not halfway."""
    low, size, high = sizes
    if size in (low, high):
        return True
    place = evidence.place(size, low, high)
    if abs(place.value - 0.5) < DECIDE.halfway:
        return False
    if abs(place.value - 0.5) >= DECIDE.turn_errors * place.error:
        return True
    log_odds = evidence.log_odds(size, low, high)
    return abs(log_odds) >= DECIDE.turn_log_odds and (log_odds > 0.0) == (place.value < 0.5)
