"""The last sizes of a series, where they are too few to be a line and no line of the sizes before them explains them.

A protocol or a bend may begin there. Neither can be told from so few sizes, so the series ends in doubt: nothing is
called a change, and nothing is called none.
"""

from __future__ import annotations

import numpy as np

from chiplog.fit.changes.detect.segments import Lines
from chiplog.fit.changes.detect.thresholds import THRESHOLDS
from chiplog.fit.changes.result import UnexplainedEnd


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
