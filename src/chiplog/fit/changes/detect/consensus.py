"""Which breaks of the single series are one protocol change of the machine.

Breaks of different series whose intervals meet, give or take one sampled size, are one change; its place is that of the
series which marks it most sharply. A group is a change if it holds a sharp jump and another series agrees, or the
jump is a large one, or there is only one series to ask. A slope alone counts only where two kinds of series show it
sharply: the gap of a train, for instance, bends by itself where it begins to exceed the overhead. Where it doesn't, it
is the overhead, so that for a slope all that a sender does is one kind.

A group that is no change, or only one of slope, may still hide a jump that the grid was too coarse or too noisy to
show: it is a suspect, for measuring again to decide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chiplog.fit.changes.detect.breaks import Break
from chiplog.fit.changes.detect.observed import Observed
from chiplog.fit.result import Change

LARGE_JUMP = 0.20
"""Relative jump that a series may testify to alone."""
STRONG_JUMP = 0.10
"""The same where it is beyond any doubt."""
STRONG = 10.0
"""Strength of a break beyond any doubt."""
SUSPECT_JUMP = 0.10
"""Relative jump of the lines at a break that makes it worth a closer look, whatever its place is worth."""
WIDEST_SLOPE = 4.0
"""Factor in size within which a change of slope must lie: a curve bends everywhere a little."""
CLEAR_SHARPNESS = 1.1
"""Sharpness that a lone witness must have."""
CLEAR_BEND = 1.5
"""Sharpness that one of the witnesses of a change of slope must have: copies and segments bend every curve a little."""
FAMILIES = {"gap": "train", "flood": "train", "send_overhead": "o_s", "late_receiver": "o_s"}
"""Quantities that share their causes, so that they are one kind of witness; any other is its own."""
SENDER = ("train", "o_s")
"""Kinds that a sender's cost alone may bend."""
CROSSING_FROM = ("gap", "half_round_trip")
"""Quantities whose lines say where the switch should be: those of the published tables, then the transfer itself."""


@dataclass(frozen=True)
class Witness:
    """A break with the series that shows it."""

    observed: Observed
    found: Break

    @property
    def key(self) -> tuple[bool, float]:
        """Sorts by how sharply the break is marked."""
        found = self.found
        return (found.sharp and found.jumps, abs(math.log1p(max(found.relative_jump, -0.999))))

    def near(self, other: Witness) -> bool:
        """Whether the two breaks are at the same place, give or take one sampled size."""
        low, high = self._widened()
        other_low, other_high = other._widened()
        return low < other_high and other_low < high

    def _widened(self) -> tuple[int, int]:
        sizes = self.observed.message_bytes
        low = int(sizes.searchsorted(self.found.last_before_bytes))
        high = int(sizes.searchsorted(self.found.first_after_bytes))
        return int(sizes[max(low - 1, 0)]), int(sizes[min(high + 1, sizes.size - 1)])


@dataclass(frozen=True)
class Verdict:
    """What the witnesses of all series come to; both ascend in size."""

    changes: tuple[Change, ...]
    suspects: tuple[Change, ...]
    """Where measuring again may find a jump; one that is also a change of slope is in `changes` too."""


def agree(witnesses: Sequence[Witness], series: int) -> Verdict:
    """The protocol changes that the witnesses of `series` series testify to, and the suspects."""
    groups: list[list[Witness]] = []
    for witness in sorted(witnesses, key=lambda w: w.key, reverse=True):
        group = next((g for g in groups if g[0].near(witness)), None)
        if group is None:
            groups.append([witness])
        else:
            group.append(witness)
    changes = [_change(group) for group in groups if _credible(group, series)]
    suspects = [_suspect(group) for group in groups if _suspicious(group, series)]
    return Verdict(_ascending(changes), _ascending(suspects))


def _ascending(changes: Sequence[Change]) -> tuple[Change, ...]:
    return tuple(sorted(changes, key=lambda change: change.first_after_bytes))


def _suspicious(group: Sequence[Witness], series: int) -> bool:
    if _credible(group, series) and group[0].found.kind != "slope":
        return False
    return any(abs(w.found.relative_jump) >= SUSPECT_JUMP for w in group)


def _suspect(group: Sequence[Witness]) -> Change:
    """All that the witnesses leave open: the jump may be anywhere that one of them allows."""
    return replace(
        _change(group),
        last_before_bytes=min(w.found.last_before_bytes for w in group),
        first_after_bytes=max(w.found.first_after_bytes for w in group),
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
        crossing_bytes=found.before.crossing_bytes(found.after),
    )


def _credible(group: Sequence[Witness], series: int) -> bool:
    sharp = [w for w in group if w.found.sharp]
    best = group[0].found
    if best.kind == "slope" and best.first_after_bytes > WIDEST_SLOPE * best.last_before_bytes:
        return False
    if series == 1:
        return best.jumps
    if best.kind == "slope" and not any(w.found.sharpness >= CLEAR_BEND for w in sharp):
        return False
    kinds = {FAMILIES.get(w.observed.quantity, w.observed.quantity) for w in sharp}
    if len(kinds) >= 2:
        return best.kind != "slope" or not kinds <= set(SENDER)
    if kinds <= {"train"} or not best.jumps:
        return bool(kinds) and _large(best)
    return _large(best) or len(group) >= 2


def _large(found: Break) -> bool:
    least = STRONG_JUMP if found.strength >= STRONG else LARGE_JUMP
    large = found.jumps and abs(found.relative_jump) >= least
    return large and found.sharpness >= CLEAR_SHARPNESS


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
