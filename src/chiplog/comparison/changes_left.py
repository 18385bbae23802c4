"""The protocol changes that a fit may know of while some sizes are held out.

The times of a size that is held out must not decide which lines predict it. A change that was measured again at both
its sizes stands on those records alone: it is part of what is left, and where one of its two sizes is held out itself,
it lies between the nearest sizes that are left. All other changes were read off the very sizes that are dealt out to
the folds, so they are looked for anew in what is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from chiplog.dataset.series import Dataset
from chiplog.protocol_changes.change import BISECT, Change
from chiplog.protocol_changes.find import find_changes


def changes_left(
    changes: Sequence[Change], dataset: Dataset, training: Dataset
) -> tuple[Change, ...]:
    """Of the `changes` found in `dataset` those that `training`, the part of it that is left, is evidence of."""
    again = {series.message_bytes for series in dataset.select(purpose=BISECT).series}
    measured = [
        change
        for change in changes
        if {change.last_before_bytes, change.first_after_bytes} <= again
    ]
    kept = [
        change_left
        for change_left in (_left(change, training) for change in measured)
        if change_left is not None
    ]
    if len(measured) < len(changes):
        consensus = find_changes(training).consensus
        kept += [change for change in consensus if not any(_meet(change, other) for other in kept)]
    kept = [change for change in kept if change.kind != "slope"]
    return tuple(sorted(kept, key=lambda change: change.last_before_bytes))


def _left(change: Change, training: Dataset) -> Change | None:
    """The change between the nearest sizes that are left; None where there is none on one of its sides."""
    sizes = training.sizes()
    before = int(np.searchsorted(sizes, change.last_before_bytes, side="right")) - 1
    after = int(np.searchsorted(sizes, change.first_after_bytes))
    if before < 0 or after >= sizes.size:
        return None
    return replace(
        change, last_before_bytes=int(sizes[before]), first_after_bytes=int(sizes[after])
    )


def _meet(change: Change, other: Change) -> bool:
    return (
        change.last_before_bytes <= other.first_after_bytes
        and other.last_before_bytes <= change.first_after_bytes
    )
