"""Which breaks of the single series are one protocol change of the machine.

Breaks of different series that meet, give or take one sampled size, are one change; its place is that of the series
that jumps most. It is a protocol change if two kinds of series jump there, or one does so clearly that no other needs
to, or there is only one series to ask. The cost of a byte alone may change at any size and is none.

A group that is no change may still hide a jump that the grid was too coarse or too noisy to show: it is a suspect, for
measuring again to decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from chiplog.protocol_changes.change import Change
from chiplog.protocol_changes.detect.breaks import Break
from chiplog.protocol_changes.detect.observed import Observed
from chiplog.protocol_changes.detect.thresholds import THRESHOLDS

FAMILIES = {"gap": "train", "flood": "train", "send_overhead": "o_s", "late_receiver": "o_s"}
"""Quantities that share their causes, so that they are one kind of witness; any other is its own."""
DIFFERENCES = ("gap", "o_s")
"""Quantities that are small differences of long times: outliers of either make steps of them, so none counts alone."""
NO_CROSSING = "pairs"
"""The quantity whose lines cross at another size for each number of pairs: no switch would be right for all."""
CROSSING_FROM = ("gap", "half_round_trip")
"""Quantities whose lines say where the switch should be: those of the published tables, then the transfer itself."""


@dataclass(frozen=True)
class Witness:
    """A break with the series that shows it."""

    observed: Observed
    found: Break

    @property
    def key(self) -> tuple[bool, float]:
        """Sorts by how much the time jumps."""
        found = self.found
        return (found.jumps, found.size)

    def near(self, other: Witness) -> bool:
        """Whether the two breaks are at the same place, give or take one sampled size."""
        low, high = self._widened()
        other_low, other_high = other._widened()
        return low < other_high and other_low < high

    def _widened(self) -> tuple[int, int]:
        if not self.found.jumps:
            return self.found.about
        sizes = self.observed.message_bytes
        low = int(sizes.searchsorted(self.found.last_before_bytes))
        high = int(sizes.searchsorted(self.found.first_after_bytes))
        return int(sizes[max(low - 1, 0)]), int(sizes[min(high + 1, sizes.size - 1)])


@dataclass(frozen=True)
class AgreedChanges:
    """What the witnesses of all series come to; both ascend in size."""

    changes: tuple[Change, ...]
    suspects: tuple[Change, ...]
    """Where measuring again may find a jump."""


def agree(witnesses: Sequence[Witness], series: int) -> AgreedChanges:
    """The protocol changes that the witnesses of `series` series testify to, and the suspects."""
    groups: list[list[Witness]] = []
    for witness in sorted(witnesses, key=lambda w: w.key, reverse=True):
        group = next((g for g in groups if _is_one(g, witness)), None)
        if group is None:
            groups.append([witness])
        else:
            group.append(witness)
    changes = [_change(group) for group in groups if _credible(group, series)]
    suspects = [_suspect(group) for group in groups if _suspicious(group, series)]
    return AgreedChanges(_ascending(changes), _ascending(suspects))


def _is_one(group: Sequence[Witness], witness: Witness) -> bool:
    """Whether a witness belongs to a group; two jumps of one series are two changes, however near."""
    jumps_already = any(
        member.observed is witness.observed and member.found.jumps for member in group
    )
    return group[0].near(witness) and not (jumps_already and witness.found.jumps)


def _ascending(changes: Sequence[Change]) -> tuple[Change, ...]:
    return tuple(sorted(changes, key=lambda change: change.first_after_bytes))


def _suspicious(group: Sequence[Witness], series: int) -> bool:
    if _credible(group, series):
        return False
    return any(w.found.size >= THRESHOLDS.noticeable for w in group)


def _suspect(group: Sequence[Witness]) -> Change:
    """Where the lines of its witnesses part, give or take a size."""
    stepping = [w.found for w in group if w.found.size >= THRESHOLDS.noticeable]
    return replace(
        _change(group),
        last_before_bytes=min(step.about[0] for step in stepping),
        first_after_bytes=max(step.about[1] for step in stepping),
    )


def change_of(witness: Witness) -> Change:
    """The change as its series alone shows it."""
    found = witness.found
    return Change(
        last_before_bytes=found.last_before_bytes,
        first_after_bytes=found.first_after_bytes,
        kind=found.kind,
        relative_jump=found.relative_jump,
        seen_in=(witness.observed.quantity,),
        crossing_bytes=(
            None
            if witness.observed.quantity == NO_CROSSING
            else found.before.crossing_bytes(found.after)
        ),
    )


def _credible(group: Sequence[Witness], series: int) -> bool:
    """Whether a jump is seen by the only series there is, by two kinds of them, or so clearly that one is enough."""
    jumping = [witness for witness in group if witness.found.jumps]
    kinds = {FAMILIES.get(w.observed.quantity, w.observed.quantity) for w in jumping}
    alone = any(w.found.beyond_doubt and w.observed.quantity not in DIFFERENCES for w in jumping)
    only = series == 1 and any(w.found.stands_alone for w in jumping)
    enough = only or len(kinds) >= 2 or alone
    return bool(jumping) and enough


def _change(group: Sequence[Witness]) -> Change:
    best = change_of(group[0])
    seen_in = tuple(dict.fromkeys(witness.observed.quantity for witness in group))
    crossing = next(
        (
            w.found.before.crossing_bytes(w.found.after)
            for quantity in CROSSING_FROM
            for w in group
            if w.observed.quantity == quantity
        ),
        best.crossing_bytes,
    )
    return Change(
        last_before_bytes=best.last_before_bytes,
        first_after_bytes=best.first_after_bytes,
        kind=best.kind,
        relative_jump=best.relative_jump,
        seen_in=seen_in,
        crossing_bytes=crossing,
    )
