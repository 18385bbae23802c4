"""The sizes beside a supposed jump that say whether it is one, and whether it lasts.

Copies go by cache lines: the time of one more byte may jump wherever a line begins, and be back before the next one
does. A protocol doesn't end so soon. So the jump must last until a line further, on either side, where the size lies at
the same place in its line; and where nothing is known of a limit there, over half an octave.
"""

from __future__ import annotations

from dataclasses import dataclass

from chiplog.protocol_changes.detect.thresholds import CACHE_LINE_BYTES

FAR = 1.5
"""Derived: factor in size within which a change must last that no limit explains: with less than half an octave
between them, two changes could not be told apart by the grid."""


@dataclass(frozen=True)
class Surroundings:
    """Sizes in bytes around a jump, fewer next to 1 byte."""

    line_below: int
    """A cache line below `high`."""
    below: int
    low: int
    """The last size before the jump."""
    high: int
    """The first one after it."""
    above: int
    line_above: int
    """A cache line above `low`."""
    far_below: tuple[int, ...] = ()
    far_above: tuple[int, ...] = ()

    @classmethod
    def of(cls, last_before: int, *, far: bool = False) -> Surroundings:
        """The sizes around a jump between `last_before` and the next size; with `far`, up to half an octave away."""
        low, high = last_before, last_before + 1
        factors = ((1.0 + FAR) / 2.0, FAR) if far else ()
        return cls(
            line_below=max(high - CACHE_LINE_BYTES, 1),
            below=max(low - 1, 1),
            low=low,
            high=high,
            above=high + 1,
            line_above=low + CACHE_LINE_BYTES,
            far_below=tuple(max(int(low / factor), 1) for factor in factors),
            far_above=tuple(int(high * factor) for factor in factors),
        )

    @property
    def beyond(self) -> list[int]:
        """All but the two at the jump: what it must last for."""
        sides = {self.line_below, self.below, self.above, self.line_above}
        return sorted({*sides, *self.far_below, *self.far_above} - {self.low, self.high})

    @property
    def sizes(self) -> list[int]:
        """All of them, each once, ascending."""
        return sorted({*self.beyond, self.low, self.high})
