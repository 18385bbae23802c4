"""The sizes beside a supposed jump that say whether it is one.

Copies go by cache lines: the time of one more byte may jump wherever a line begins, and be back before the next one
does. A protocol doesn't end so soon. So the jump must last until a line further, on either side, where the size lies at
the same place in its line.
"""

from __future__ import annotations

from dataclasses import dataclass

CACHE_LINE_BYTES = 64


@dataclass(frozen=True)
class Neighbourhood:
    """Six sizes in bytes, fewer next to 1 byte."""

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

    @classmethod
    def of(cls, last_before: int) -> Neighbourhood:
        """The sizes around a jump between `last_before` and the next size."""
        low, high = last_before, last_before + 1
        return cls(
            line_below=max(high - CACHE_LINE_BYTES, 1),
            below=max(low - 1, 1),
            low=low,
            high=high,
            above=high + 1,
            line_above=low + CACHE_LINE_BYTES,
        )

    @property
    def sizes(self) -> list[int]:
        """All of them, each once, ascending."""
        return sorted(
            {self.line_below, self.below, self.low, self.high, self.above, self.line_above}
        )
