"""Looking at many sizes at once for the steps that the grid may have hidden."""

from __future__ import annotations

from collections.abc import Generator, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from chiplog.fit.changes.marks import quantities_to_scan
from chiplog.fit.changes.questions import Questions, Record
from chiplog.fit.changes.step import Step, largest_steps, overlapping
from chiplog.fit.result import Change
from chiplog.plan.request import Request

FIRST_BYTES, LAST_BYTES = 128, 65536
"""Below two cache lines, copies jump by themselves; above, to look everywhere costs too many bytes."""
MOST_EVERYWHERE, MOST_AROUND = 22, 16
"""Sizes that are looked at."""


class Scanner:
    """Scans sizes of the grid, in bytes and ascending, for steps in the quantities that were `measured`.

    A step counts from `errors` standard errors.
    """

    def __init__(
        self,
        sizes: NDArray[np.int64],
        measured: Set[str],
        questions: Questions,
        *,
        errors: float,
    ) -> None:
        self._sizes = sizes[sizes >= FIRST_BYTES]
        self._measured = measured
        self._questions = questions
        self._errors = errors

    def everywhere(self) -> list[int]:
        """The sizes where protocols change, and one more, beside which the last of them can be seen to step."""
        last = int(np.searchsorted(self._sizes, LAST_BYTES, side="right"))
        return [int(size) for size in self._sizes[: last + 1]][-MOST_EVERYWHERE:]

    def around(self, suspect: Change) -> list[int]:
        """The sizes within a suspect's interval, and two on each side."""
        low = int(np.searchsorted(self._sizes, suspect.last_before_bytes)) - 2
        high = int(np.searchsorted(self._sizes, suspect.first_after_bytes)) + 3
        return [int(size) for size in self._sizes[max(low, 0) : high]][:MOST_AROUND]

    def quantities(self, sizes: Sequence[int]) -> tuple[str, ...]:
        """What to look at, as far as the bytes suffice."""
        return quantities_to_scan(self._measured, sizes, self._questions.scanned_round_bytes(sizes))

    def steps(
        self, index: int, sizes: Sequence[int], least: float
    ) -> Generator[Request, Record, Sequence[Step] | None]:
        """The steps of at least the share `least` between neighbours, the surest first; None without an answer."""
        found: list[Step] | None = None
        for together in overlapping(sizes):
            quantities = self.quantities(together)
            if not quantities:
                continue
            evidence = yield from self._questions.scan(index, quantities, together)
            if evidence is not None:
                found = found or []
                found += largest_steps(evidence, together, errors=self._errors, least=least)
        return found and sorted(found, key=lambda step: step.certain, reverse=True)
