"""Where a series ends in doubt, or is in doubt between two of its sizes, and which sizes would tell.

Where the last sizes are too few to be a line, and no line of the sizes before them explains them, a protocol or a bend
may begin. Neither can be told from so few sizes: nothing is called a change, and nothing is called none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from chiplog.protocol_changes.detect.breaks import Break
from chiplog.protocol_changes.detect.segments import Lines
from chiplog.protocol_changes.detect.thresholds import THRESHOLDS
from chiplog.protocol_changes.result import SIZES_BETWEEN, UnexplainedEnd, sizes_between


def unexplained_end(lines: Lines) -> UnexplainedEnd | None:
    """The last sizes that lie off their line by `noticeable` or more, one after the other; None without any."""
    begin, end = lines.begins[-1], lines.size.size
    follows = lines.follows(begin, end)
    if end - begin < 2 or follows[-1] or not follows.any():
        return None
    at = begin + int(np.flatnonzero(follows)[-1]) + 1
    expected = lines.line(begin, end)(lines.size[at])
    relative = float(lines.seconds[at] / expected) - 1.0
    if abs(relative) < THRESHOLDS.noticeable:
        return None
    return UnexplainedEnd(
        last_explained_bytes=int(lines.size[at - 1]),
        first_bytes=int(lines.size[at]),
        relative=relative,
    )


def would_tell(lines: Lines | None, breaks: Sequence[Break]) -> tuple[int, ...]:
    """Sizes in bytes that would tell a jump from a change of slope where the grid is too coarse to, ascending."""
    if lines is None:
        return ()
    open_ = [
        candidate.between
        for candidate in breaks
        if not candidate.jumps and candidate.size >= THRESHOLDS.noticeable
    ]
    open_ += _unexplained_steps(lines, breaks)
    coarse = [
        (low, high)
        for low, high in open_
        if high - low > SIZES_BETWEEN and high >= THRESHOLDS.coarse * low
    ]
    return tuple(sorted({size for low, high in coarse for size in sizes_between(low, high)}))


def _unexplained_steps(lines: Lines, breaks: Sequence[Break]) -> list[tuple[int, int]]:
    """Neighbouring sizes between which the time grows faster than the size, by more than noise or much, and stays so.

    No line does that; those where a jump was found are left out.
    """
    growth = np.diff(np.log(lines.seconds)) - np.diff(np.log(lines.size))
    by_chance = math.sqrt(lines.cap) * np.hypot(lines.deviation[1:], lines.deviation[:-1])
    lasts = np.ones(growth.size, dtype=np.bool_)
    lasts[:-1] = (
        np.log(lines.seconds[2:] / lines.seconds[:-2]) > 0.5 * np.diff(np.log(lines.seconds))[:-1]
    )
    least = np.minimum(by_chance, math.log1p(THRESHOLDS.large_jump))
    steep = np.flatnonzero((growth > least) & lasts)
    pairs = [(int(lines.size[k]), int(lines.size[k + 1])) for k in steep]
    jumps = [
        (candidate.last_before_bytes, candidate.first_after_bytes)
        for candidate in breaks
        if candidate.jumps
    ]
    return [
        (low, high)
        for low, high in pairs
        if not any(first < high and low < last for first, last in jumps)
    ]
