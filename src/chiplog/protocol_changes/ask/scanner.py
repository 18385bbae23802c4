"""Looking at many sizes at once for the steps that the grid may have hidden."""

from __future__ import annotations

from collections.abc import Generator, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from chiplog.plan.request import Request
from chiplog.protocol_changes.ask.marks import quantities_to_scan
from chiplog.protocol_changes.ask.questions import Questions, Record, questions_about
from chiplog.protocol_changes.ask.step import Step, largest_steps, overlapping
from chiplog.protocol_changes.ask.thresholds import THRESHOLDS
from chiplog.protocol_changes.change import Change
from chiplog.protocol_changes.decide.evidence import FLAT, ChangeMark
from chiplog.protocol_changes.detect.thresholds import CACHE_LINE_BYTES


class Scanner:
    """Scans sizes of the grid, in bytes and ascending, for steps in the quantities that were `measured`."""

    def __init__(
        self,
        sizes: NDArray[np.int64],
        measured: Set[str],
        questions: Questions,
    ) -> None:
        self._sizes = sizes[
            sizes >= 2 * CACHE_LINE_BYTES
        ]  # below, copies step at every word and line
        self._measured = measured
        self._questions = questions

    def everywhere(self) -> list[int]:
        """The sizes where protocols change, and one more, beside which the last of them can be seen to step."""
        last = int(np.searchsorted(self._sizes, THRESHOLDS.last_swept_bytes, side="right"))
        return [int(size) for size in self._sizes[: last + 1]]

    def around(self, suspect: Change) -> list[int]:
        """The sizes within a suspect's interval, and two on each side."""
        low = int(np.searchsorted(self._sizes, suspect.last_before_bytes)) - 2
        high = int(np.searchsorted(self._sizes, suspect.first_after_bytes, side="right")) + 2
        return [int(size) for size in self._sizes[max(low, 0) : high]]

    def quantities(self, sizes: Sequence[int], without: Set[str] = frozenset()) -> tuple[str, ...]:
        """What to look at for a last word, as far as the bytes suffice; none of those `without`."""
        round_bytes = self._questions.round_bytes(THRESHOLDS.checks)
        return quantities_to_scan(self._measured, sizes, round_bytes, without)

    def steps(
        self, index: int, sizes: Sequence[int], least: float
    ) -> Generator[Request, Record, Sequence[Step] | None]:
        """The steps of at least the share `least` between neighbours, the surest first; None without an answer.

        Groups of sizes that got fewer than `least_rounds` rounds in their time say nothing.
        """
        steps: list[Step] | None = None
        groups = overlapping(sizes)
        for number, together in enumerate(groups):
            if number and not self._questions.has_time:
                break
            questions = len(groups) - number + THRESHOLDS.checks
            quantities = quantities_to_scan(
                self._measured, together, self._questions.round_bytes(questions, records=1)
            )
            marks = [ChangeMark(name, FLAT, FLAT, THRESHOLDS.first_rounds) for name in quantities]
            if not marks:
                continue
            evidence = yield from self._questions.ask(
                index, marks, together, lambda _: True, questions
            )
            if evidence is not None and evidence.fewest_rounds >= THRESHOLDS.least_rounds:
                bisected = self._questions.round_bytes(questions_about(together[-2], together[-1]))
                steps = steps or []
                steps += largest_steps(evidence, together, least=least, round_bytes=bisected)
        return steps and sorted(steps, key=lambda step: step.certain, reverse=True)
