"""Looking at many sizes at once for the steps that the grid may have hidden."""

from __future__ import annotations

from collections.abc import Generator, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from chiplog.fit.changes.ask.marks import quantities_to_scan
from chiplog.fit.changes.ask.questions import Questions, Record
from chiplog.fit.changes.ask.step import Step, largest_steps, overlapping
from chiplog.fit.changes.ask.thresholds import THRESHOLDS
from chiplog.fit.result import Change
from chiplog.plan.request import Request


class Scanner:
    """Scans sizes of the grid, in bytes and ascending, for steps in the quantities that were `measured`."""

    def __init__(
        self,
        sizes: NDArray[np.int64],
        measured: Set[str],
        questions: Questions,
    ) -> None:
        self._sizes = sizes[sizes >= THRESHOLDS.first_swept_bytes]
        self._measured = measured
        self._questions = questions

    def everywhere(self) -> list[int]:
        """The sizes where protocols change, and one more, beside which the last of them can be seen to step."""
        last = int(np.searchsorted(self._sizes, THRESHOLDS.last_swept_bytes, side="right"))
        return [int(size) for size in self._sizes[: last + 1]][-THRESHOLDS.most_swept :]

    def around(self, suspect: Change) -> list[int]:
        """The sizes within a suspect's interval, and two on each side."""
        low = int(np.searchsorted(self._sizes, suspect.last_before_bytes)) - 2
        high = int(np.searchsorted(self._sizes, suspect.first_after_bytes)) + 3
        return [int(size) for size in self._sizes[max(low, 0) : high]][: THRESHOLDS.most_around]

    def quantities(self, sizes: Sequence[int]) -> tuple[str, ...]:
        """What to look at, as far as the bytes suffice."""
        return quantities_to_scan(self._measured, sizes, self._questions.scanned_round_bytes(sizes))

    def quantities_at_limit(
        self, sizes: Sequence[int], without: Set[str] = frozenset()
    ) -> tuple[str, ...]:
        """What to look at around a named limit, with many rounds; none of those `without`."""
        round_bytes = self._questions.limit_round_bytes(sizes)
        return quantities_to_scan(self._measured, sizes, round_bytes, without)

    def steps(
        self, index: int, sizes: Sequence[int], least: float
    ) -> Generator[Request, Record, Sequence[Step] | None]:
        """The steps of at least the share `least` between neighbours, the surest first; None without an answer.

        Groups of sizes that got fewer than `fair_rounds` rounds in their time say nothing.
        """
        found: list[Step] | None = None
        for together in overlapping(sizes):
            quantities = self.quantities(together)
            if not quantities:
                continue
            evidence = yield from self._questions.scan(index, quantities, together)
            if evidence is not None and evidence.fewest_rounds >= THRESHOLDS.fair_rounds:
                found = found or []
                found += largest_steps(
                    evidence, together, errors=THRESHOLDS.step_errors, least=least
                )
        return found and sorted(found, key=lambda step: step.certain, reverse=True)
