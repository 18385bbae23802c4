"""A matrix of pairs as an SVG that needs no script: a row for each sender, a column for each receiver."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MISSING = 9
"""Given: the level of a pair without a figure, and of a node with itself."""
MOST_NAMED = 40
"""Given: with more nodes than this only the groups have names, and cells no text of their own."""
LEVELS = 4
"""Given: the shades of a colour that the page's style sheet has."""
MOST_MARKED = 20
"""Given: the rows that are named at the right, at most."""
LABEL_STEP = 12.0
"""Given: pixels from a name to the next."""
_SIDE, _LARGEST_CELL, _NAME_ROOM = 640.0, 24.0, 96.0
"""Given: the most pixels of the picture's side, of a cell and of the names beside it."""
_LETTER, _MARKED_LETTER = 6.5, 7.0
"""Given: the pixels of a letter of a name, and of one at the right."""
_BESIDE_NAMES, _BESIDE_MARKED = 14.0, 16.0
"""Given: the pixels beside them."""


@dataclass(frozen=True)
class RowGroup:
    """Neighbouring rows, such as the nodes of a leaf: the first one, and how many there are."""

    name: str
    first: int
    count: int


@dataclass(frozen=True, eq=False)
class PairMatrix:
    """Levels of colour for each pair, in the order in which the nodes are shown.

    `levels` (n, n) holds 1 to 4 for more and more of one colour, -1 to -4 of the other, 0 for none, MISSING where
    nothing is known. `text` says what a cell means, by row and column.
    """

    label: str
    names: tuple[str, ...]
    levels: NDArray[np.int8]
    text: Callable[[int, int], str]
    groups: tuple[RowGroup, ...] = ()
    legend: tuple[tuple[int, str], ...] = ()
    marked: tuple[int, ...] = ()
    """Rows that are named at the right where not all are named: those of suspects."""


def matrix_svg(shown: PairMatrix) -> str:
    """The picture; colours are the page's."""
    count = len(shown.names)
    cell = min(_LARGEST_CELL, _SIDE / max(count, 1))
    left = min(_NAME_ROOM, _BESIDE_NAMES + _LETTER * max(map(len, _titles(shown)), default=0))
    side = cell * count
    is_small = count <= MOST_NAMED
    marked = () if is_small else shown.marked[:MOST_MARKED]
    right = _BESIDE_MARKED + _MARKED_LETTER * max(
        (len(shown.names[row]) for row in marked), default=-2
    )
    width, height = left + side + right, left + side + 2.0
    parts = [
        f'<svg class="matrix" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img" '
        f'aria-label="{html.escape(shown.label, quote=True)}">',
        f'<g transform="translate({left:g} {left:g})">',
        *(_cells(shown, cell) if is_small else _runs(shown, cell)),
        *_borders(shown, cell),
        "</g>",
        *_names(shown, cell, left),
        *_marks(shown, marked, cell, left),
        "</svg>",
    ]
    return "".join(parts)


def legend_html(shown: PairMatrix) -> str:
    """What the levels mean."""
    keys = "".join(
        f'<span class="{level_class(level)}">{html.escape(text)}</span>'
        for level, text in shown.legend
    )
    return f'<p class="heat-legend">{keys}</p>'


def level_class(level: int) -> str:
    """The style sheet's class of a level.

    >>> level_class(-2), level_class(MISSING)
    ('less-2', 'missing')
    """
    if level == MISSING:
        return "missing"
    return f"{'more' if level > 0 else 'less'}-{abs(level)}" if level else "level-0"


def _titles(shown: PairMatrix) -> list[str]:
    if len(shown.names) <= MOST_NAMED:
        return list(shown.names)
    return [group.name for group in shown.groups]


def _cells(shown: PairMatrix, cell: float) -> Iterator[str]:
    for row in range(len(shown.names)):
        for column in range(len(shown.names)):
            level = int(shown.levels[row, column])
            text = html.escape(shown.text(row, column))
            yield (
                f'<rect class="{level_class(level)}" x="{column * cell:g}" y="{row * cell:g}" '
                f'width="{cell:g}" height="{cell:g}"><title>{text}</title></rect>'
            )


def _runs(shown: PairMatrix, cell: float) -> Iterator[str]:
    """One path a level, of runs of equal cells; the commonest level is the ground."""
    count = len(shown.names)
    known, counts = np.unique(shown.levels, return_counts=True)
    ground = int(known[counts.argmax()])
    side = cell * count
    yield f'<rect class="{level_class(ground)}" width="{side:g}" height="{side:g}"/>'
    yield f'<g transform="scale({cell:g})">'
    for level in known.tolist():
        if level == ground:
            continue
        yield f'<path class="{level_class(level)}" d="{"".join(_path(shown.levels == level))}"/>'
    yield "</g>"


def _path(is_level: NDArray[np.bool_]) -> Iterator[str]:
    edges = np.diff(np.pad(is_level, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    begins, ends = np.argwhere(edges == 1), np.argwhere(edges == -1)  # both by row, then by column
    lengths = ends[:, 1] - begins[:, 1]
    for (row, column), length in zip(begins.tolist(), lengths.tolist(), strict=True):
        yield f"M{column} {row}h{length}v1h-{length}z"


def _borders(shown: PairMatrix, cell: float) -> Iterator[str]:
    side = cell * len(shown.names)
    if len(shown.groups) < 2:
        return
    name = "border" if len(shown.names) <= MOST_NAMED else "border fine"
    for group in shown.groups[1:]:
        at = group.first * cell
        yield f'<path class="{name}" d="M{at:g} 0V{side:g}M0 {at:g}H{side:g}"/>'


def _names(shown: PairMatrix, cell: float, left: float) -> Iterator[str]:
    if len(shown.names) <= MOST_NAMED:
        named = [(name, number + 0.5) for number, name in enumerate(shown.names)]
    else:
        named = [(group.name, group.first + group.count / 2) for group in shown.groups]
        least_gap = LABEL_STEP / cell  # names are not printed over each other
        named = [
            name_and_place
            for number, name_and_place in enumerate(named)
            if number % _every(named, least_gap) == 0
        ]
    for name, place in named:
        at, text = left + place * cell, html.escape(name)
        yield f'<text x="{left - 5:g}" y="{at + 3.5:g}" text-anchor="end">{text}</text>'
        yield f'<text transform="translate({at + 3.5:g} {left - 5:g}) rotate(-90)">{text}</text>'


def _marks(shown: PairMatrix, marked: tuple[int, ...], cell: float, left: float) -> Iterator[str]:
    """The names of some rows at the right, moved down where two would overlap, each with a line to its row."""
    lowest = -LABEL_STEP
    for row in sorted(marked):
        at = (row + 0.5) * cell
        lowest = max(at, lowest + LABEL_STEP)
        start = left + cell * len(shown.names)
        yield f'<path class="pointer" d="M{start:g} {left + at:.1f}h4l4 {lowest - at:.1f}h2"/>'
        name = html.escape(shown.names[row])
        yield f'<text class="marked" x="{start + 12:g}" y="{left + lowest + 3.5:.1f}">{name}</text>'


def _every(named: list[tuple[str, float]], least_gap: float) -> int:
    if len(named) < 2:
        return 1
    between = (named[-1][1] - named[0][1]) / (len(named) - 1)
    return max(1, int(np.ceil(least_gap / max(between, 1e-9))))
