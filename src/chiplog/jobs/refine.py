"""Measuring again around each protocol change, while the ranks stay up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chiplog.dataset.operations import NORMAL
from chiplog.dataset.series import Dataset
from chiplog.plan import Request
from chiplog.protocol_changes.ask.refine import Refiner
from chiplog.protocol_changes.decide.stored import before_follow_ups, to_stored
from chiplog.protocol_changes.find import find_changes
from chiplog.protocol_changes.result import ChangesResult


class Refine:
    """A follow-up that finds the protocol changes of the grid and asks until each is known to the byte."""

    def __init__(self) -> None:
        self._refiner: Refiner | None = None
        self._of_grid: ChangesResult | None = None
        self._asked: Request | None = None

    def requests(self, dataset: Dataset, next_id: int) -> Sequence[Request]:
        """The next request, after the answer to the one before was taken in."""
        if self._refiner is None:
            grid = before_follow_ups(dataset)
            self._of_grid = changes = find_changes(grid)
            self._refiner = Refiner(
                grid, changes.consensus, suspects=changes.suspects, first_id=next_id
            )
        elif self._asked is not None:
            wanted = self._asked.id
            self._refiner.feed([series for series in dataset.series if series.record_id == wanted])
        self._asked = self._refiner.next()
        return () if self._asked is None else (self._asked,)

    def changes(self) -> Mapping[str, object] | None:
        """The decision, as the run's footer stores it."""
        if self._refiner is None or self._of_grid is None:
            return None
        asked_of = {"operation": "send", "posting": NORMAL}  # what a request is of by itself
        return {**to_stored(self._of_grid, self._refiner.changes), **asked_of}
