"""Measuring again around each protocol change, while the ranks stay up."""

from __future__ import annotations

from collections.abc import Sequence

from chiplog.dataset.series import Dataset
from chiplog.fit.changes import find_changes
from chiplog.fit.changes.ask.refine import Refiner
from chiplog.fit.changes.decide.stored import before_follow_ups
from chiplog.plan import Request


class Refine:
    """A follow-up that finds the protocol changes of the grid and asks until each is known to the byte.

    Seeds are the defaults, so that every later reading of the run file comes to the same questions and answers.
    """

    def __init__(self) -> None:
        self._refiner: Refiner | None = None
        self._asked: Request | None = None

    def requests(self, dataset: Dataset, next_id: int) -> Sequence[Request]:
        """The next request, after the answer to the one before was taken in."""
        if self._refiner is None:
            grid = before_follow_ups(dataset)
            found = find_changes(grid)
            self._refiner = Refiner(
                grid, found.consensus, suspects=found.suspects, first_id=next_id
            )
        elif self._asked is not None:
            wanted = self._asked.id
            self._refiner.feed([one for one in dataset.series if one.record_id == wanted])
        self._asked = self._refiner.next()
        return () if self._asked is None else (self._asked,)
