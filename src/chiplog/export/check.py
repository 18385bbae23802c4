"""What a file for another program says at each size, held against what was measured, before it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from chiplog.counts import listed
from chiplog.errors import UsageError
from chiplog.export.pieces import (
    HOLDS,
    TRAIN,
    ExportPiece,
    MeasuredSize,
    at_size,
    measured_sizes,
    prtt,
)
from chiplog.fitting.result import Fit

MOST_NAMED = 6
"""Given: ranges that a sentence names."""

Says = Callable[[int], tuple[float, float]]
"""What a program makes of a file: by size, half a round trip and what one more message adds to a train; seconds."""


@dataclass(frozen=True)
class Miss:
    """Where a file is off most, as a share."""

    message_bytes: int
    quantity: str
    said_seconds: float
    measured_seconds: float

    @property
    def share(self) -> float:
        """Of the measured time."""
        return abs(self.said_seconds / self.measured_seconds - 1.0)


def to_hold_against(fit: Fit, pieces: Sequence[ExportPiece]) -> tuple[MeasuredSize, ...]:
    """The measured medians; of a fit without them, its own times at the ends of each piece."""
    measured = measured_sizes(fit)
    if measured:
        return measured
    ends = {size for piece in pieces for size in (piece.first_bytes, piece.last_bytes)}
    by_size = ((size, at_size(pieces, size)) for size in sorted(ends))
    return tuple(
        MeasuredSize(size, piece.one_way(size), piece.step(size)) for size, piece in by_size
    )


def worst_miss(says: Says, measured: Iterable[MeasuredSize]) -> Miss | None:
    """Where half a round trip, or a train of TRAIN messages, is off most; None without a measured size."""
    misses = []
    for at in measured:
        half, step = says(at.message_bytes)
        misses.append(Miss(at.message_bytes, "half round trip", half, at.half_round_trip))
        if at.train is not None:
            misses.append(Miss(at.message_bytes, f"train of {TRAIN}", prtt(half, step), at.train))
    return max(misses, key=lambda miss: miss.share, default=None)


def refuse_what_misses(
    says: Says, measured: Iterable[MeasuredSize], program: str, why: str, *, by_ranges: bool = True
) -> None:
    """Raises UsageError where the file would be off by more than HOLDS at a measured size; `why` says what it lacks.

    `by_ranges` names the ranges of sizes that a file could hold.
    """
    measured = tuple(measured)
    miss = worst_miss(says, measured)
    if miss is None or miss.share <= HOLDS:
        return
    held = ranges_text(_held(says, measured)) if by_ranges else ""
    raise UsageError(
        f"{program} would take {miss.said_seconds * 1e6:.4g} us for a {miss.quantity} of {miss.message_bytes} B, and "
        f"{miss.measured_seconds * 1e6:.4g} us were measured: {why}"
        + (f" What it can hold: {held}." if held else "")
    )


def _held(says: Says, measured: Sequence[MeasuredSize]) -> list[tuple[int, int]]:
    """The ranges of measured sizes at which the file is right."""
    ranges: list[tuple[int, int]] = []
    goes_on = False
    for measured_size in measured:
        miss = worst_miss(says, [measured_size])
        is_right = miss is None or miss.share <= HOLDS
        if is_right:
            first = ranges.pop()[0] if goes_on else measured_size.message_bytes
            ranges.append((first, measured_size.message_bytes))
        goes_on = is_right
    return ranges


def ranges_text(ranges: Sequence[tuple[int, int]]) -> str:
    """Ranges of sizes as options, the first MOST_NAMED of them."""
    return listed([f"--sizes {first}:{last}" for first, last in ranges], MOST_NAMED)


def within(
    sizes: tuple[int, int], pieces: Sequence[ExportPiece], measured: Sequence[MeasuredSize]
) -> tuple[tuple[ExportPiece, ...], tuple[MeasuredSize, ...]]:
    """What of the pieces and of the measured sizes is in a range; UsageError where nothing was measured in it."""
    first, last = sizes
    kept = tuple(
        measured_size for measured_size in measured if first <= measured_size.message_bytes <= last
    )
    if not kept:
        raise UsageError(f"--sizes {first}:{last}: no size in it was measured.")
    return (
        tuple(
            replace(piece, last_bytes=min(last, piece.last_bytes))
            for piece in pieces
            if piece.first_bytes <= last and piece.last_bytes >= first
        ),
        kept,
    )
