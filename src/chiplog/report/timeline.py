"""A schedule over time as an SVG that needs no script: a row for each rank, a line for each message."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from chiplog.report import format

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 960.0, 70.0, 40.0, 12.0, 34.0
"""Given: the pixels of the picture, and of its margins."""
ROW, BAR = 18.0, 10.0
"""Given: the pixels of a row, and of what keeps it busy."""
MOST_TICKS = 8
"""Given: what the axis has room for."""
STEPS = (1, 2, 5, 10)
"""Given: ticks are these times a power of ten apart."""


@dataclass(frozen=True)
class BusySpan:
    """What keeps a row busy from `start` to `end`, in seconds."""

    row: int
    start: float
    end: float
    kind: Literal["calc", "send", "receive"]
    text: str
    """What it is, shown where a reader points at it."""


@dataclass(frozen=True)
class Arrow:
    """A message from one row at `start` to another at `end`, in seconds."""

    source: int
    start: float
    target: int
    end: float


@dataclass(frozen=True)
class Timeline:
    """What happens when: `rows` are the rows' names, from top to bottom."""

    rows: tuple[str, ...]
    spans: tuple[BusySpan, ...]
    arrows: tuple[Arrow, ...]
    path: tuple[tuple[float, int], ...] = ()
    """What is drawn along it all: seconds and row of each corner."""


def timeline_svg(shown: Timeline) -> str:
    """The picture; colours are the page's."""
    last = max((span.end for span in shown.spans), default=0.0) or 1.0
    height = TOP + ROW * len(shown.rows) + BOTTOM
    parts = [
        f'<svg class="timeline" viewBox="0 0 {WIDTH:g} {height:g}" role="img" '
        f'aria-label="{len(shown.rows)} ranks over {format.value(last, "s")}">',
        *_axis(last, height),
        *_rows(shown.rows),
        *(_arrow(arrow, last) for arrow in shown.arrows),
        *(_span(span, last) for span in shown.spans),
        *_path(shown.path, last),
        "</svg>",
    ]
    return "".join(parts)


def _axis(last: float, height: float) -> Iterator[str]:
    bottom = height - BOTTOM
    step = _step(last)
    for tick in range(int(last / step * (1 + 1e-9)) + 1):
        seconds = tick * step
        x = _x(seconds, last)
        yield f'<path class="tick" d="M{x:.1f} {TOP:g}V{bottom:g}"/>'
        text = "0" if tick == 0 else format.brief(seconds, "s")
        yield f'<text x="{x:.1f}" y="{bottom + 18:g}" text-anchor="middle">{html.escape(text)}</text>'


def _step(last: float) -> float:
    """1, 2 or 5 times a power of ten, so that at most MOST_TICKS of them reach `last`."""
    power = 10.0 ** math.floor(math.log10(last / MOST_TICKS))
    return next(factor * power for factor in STEPS if factor * power * MOST_TICKS >= last)


def _rows(names: Sequence[str]) -> Iterator[str]:
    for row, name in enumerate(names):
        y = _middle(row)
        yield f'<path class="rank" d="M{LEFT:g} {y:g}H{WIDTH - RIGHT:g}"/>'
        yield f'<text x="{LEFT - 8:g}" y="{y + 4:g}" text-anchor="end">{html.escape(name)}</text>'


def _span(span: BusySpan, last: float) -> str:
    x = _x(span.start, last)
    width = max(_x(span.end, last) - x, 0.5)
    return (
        f'<rect class="{span.kind}" x="{x:.2f}" y="{_middle(span.row) - BAR / 2:g}" '
        f'width="{width:.2f}" height="{BAR:g}"><title>{html.escape(span.text)}</title></rect>'
    )


def _arrow(arrow: Arrow, last: float) -> str:
    return (
        f'<path class="message" d="M{_x(arrow.start, last):.2f} {_middle(arrow.source):g}'
        f'L{_x(arrow.end, last):.2f} {_middle(arrow.target):g}"/>'
    )


def _path(corners: Sequence[tuple[float, int]], last: float) -> Iterator[str]:
    if len(corners) > 1:
        places = "L".join(f"{_x(at, last):.2f} {_middle(row):g}" for at, row in corners)
        yield f'<path class="critical" d="M{places}"/>'


def _x(seconds: float, last: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * seconds / last


def _middle(row: int) -> float:
    return TOP + ROW * (row + 0.5)
