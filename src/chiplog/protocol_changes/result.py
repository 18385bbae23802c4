"""What the search for protocol changes returns, and its JSON (chiplog.changes/1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from chiplog.counts import counted
from chiplog.json_values import members, plain
from chiplog.protocol_changes.change import Change, change_to_json

SCHEMA = "chiplog.changes/1"


SIZES_BETWEEN = 3
"""Given: sizes that are named where a grid is too coarse: two lines of two sizes between two known ones."""


def sizes_between(low: int, high: int) -> list[int]:
    """The sizes in bytes between two others, evenly spaced in their logarithm, that would tell a jump from a bend."""
    return [round(size) for size in np.geomspace(low, high, SIZES_BETWEEN + 2)[1:-1]]


@dataclass(frozen=True)
class UnexplainedEnd:
    """The last sizes of a series: too few to be a line, and not explained by the line of the sizes before them.

    A protocol or a bend may begin there. Neither can be told from so few sizes.
    """

    last_explained_bytes: int
    first_bytes: int
    relative: float
    """By how much `first_bytes` takes longer than the line before it says; negative where it is faster."""

    @property
    def would_tell(self) -> tuple[int, ...]:
        """Sizes in bytes that would tell: some below `first_bytes`, and some of the octave above it, ascending."""
        below = sizes_between(self.last_explained_bytes, self.first_bytes)
        above = [*sizes_between(self.first_bytes, 2 * self.first_bytes), 2 * self.first_bytes]
        known = {self.last_explained_bytes, self.first_bytes}
        return tuple(sorted({round(size) for size in (*below, *above)} - known))

    def __str__(self) -> str:
        slower = f"{abs(self.relative):.0%} {'longer' if self.relative > 0.0 else 'less'}".replace(
            "%", " %"
        )
        return (
            f"From {self.first_bytes:,} B on the times are not explained: that size takes {slower} than the sizes "
            "below say, and too few sizes follow to tell another protocol from a bend."
        )


@dataclass(frozen=True)
class SeriesChanges:
    """The protocol changes that one series of times over sizes shows, ascending in size."""

    quantity: str
    """`half_round_trip`, `gap`, `o_s`, …, or the operation of an imported calibration, e.g. `MPI_Isend`."""
    pattern: str
    operation: str
    transport: str
    changes: tuple[Change, ...]
    would_tell: tuple[int, ...] = ()
    """Sizes in bytes to measure, where the grid is too coarse to tell a jump from a change of slope."""
    end: UnexplainedEnd | None = None
    """None where the lines explain the last sizes."""
    pairs: int | None = 1
    """Of k pairs: k; None of a stored decision that does not say."""
    peers: int | None = 1
    """Of one process to many: p; likewise."""

    @property
    def label(self) -> str:
        """The quantity, and of how many pairs or peers: "pairs, k = 2"."""
        if self.pattern == "pairs" and self.pairs is not None:
            return f"{self.quantity}, k = {self.pairs}"
        return (
            f"{self.quantity}, p = {self.peers}" if self.pattern == "one_to_many" else self.quantity
        )


@dataclass(frozen=True, repr=False)
class ChangesResult:
    """The changes of every series, and those that the run as a whole is evidence of, ascending in size."""

    series: tuple[SeriesChanges, ...]
    consensus: tuple[Change, ...]
    suspects: tuple[Change, ...] = ()
    """Where the grid alone can't tell a jump from a bend, so that measuring again should look closer."""

    @property
    def ends(self) -> tuple[UnexplainedEnd, ...]:
        """What the series leave unexplained at their ends, each size once."""
        by_size = {
            series.end.first_bytes: series.end
            for series in reversed(self.series)
            if series.end is not None
        }
        return tuple(by_size[size] for size in sorted(by_size))

    def __repr__(self) -> str:
        lines = [f"{counted(len(self.consensus), 'protocol change')} in {len(self.series)} series"]
        for change in self.consensus:
            jump = "" if change.relative_jump is None else f", {change.relative_jump:+.0%}"
            between = f"between {change.last_before_bytes} B and {change.first_after_bytes} B"
            lines.append(f"  {between}: {change.kind}{jump}, seen in {', '.join(change.seen_in)}")
        lines += [f"  {end}" for end in self.ends]
        return "\n".join(lines)


def series_to_json(series: SeriesChanges) -> dict[str, Any]:
    """One series with its changes, as a run's footer has it, too."""
    return {
        **members(series, "quantity", "pattern", "operation", "transport", "pairs", "peers"),
        "changes": [change_to_json(change) for change in series.changes],
    }


def changes_to_json(results: Mapping[tuple[str, str], ChangesResult]) -> dict[str, Any]:
    """The document that `chiplog changes --json` writes, from the changes of each operation and posting.

    Where there are several, each change of the consensus says whose it is.
    """
    several = len(results) > 1

    def named(operation: str, posting: str) -> dict[str, str]:
        return {"operation": operation, "posting": posting} if several else {}

    return {
        "schema": SCHEMA,
        "series": [
            {
                **series_to_json(series),
                "would_tell": list(series.would_tell),
                "unexplained_end": plain(series.end),
            }
            for result in results.values()
            for series in result.series
        ],
        "consensus": [
            {**change_to_json(change), **named(*way)}
            for way, result in results.items()
            for change in result.consensus
        ],
    }
