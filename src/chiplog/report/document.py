"""What a report is made of, before it is HTML, Markdown or text: sections, paragraphs, tables and plots.

Sections build these blocks from the results; each renderer turns every kind of block into its own language, so the
three outputs say the same. Text is held as spans, never as markup: escaping is the renderer's, in one place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from chiplog.report.matrix import PairMatrix
from chiplog.report.plot import Plot
from chiplog.report.timeline import Timeline


class Style(Enum):
    """How a span of text is meant; the renderer chooses what that looks like."""

    PLAIN = "plain"
    STRONG = "strong"
    SYMBOL = "symbol"
    """A parameter's symbol such as `o_s`, printed with its index lowered where possible."""
    CODE = "code"
    MUTED = "muted"
    DETAIL = "detail"
    """What belongs to the text before it, such as a value's interval: on a line of its own where there is one."""
    BAD = "bad"
    """A fit that fails, a parameter that is not identified: must not be overlooked."""


@dataclass(frozen=True)
class Span:
    """A run of text in one style; `term` links it to an entry of the glossary."""

    text: str
    style: Style = Style.PLAIN
    term: str | None = None
    place: bool = False
    """Whether it begins a cell that names a range of sizes: it is kept on one line."""


Inline = tuple[Span, ...]


def plain(text: str, *, term: str | None = None) -> Span:
    """Ordinary text."""
    return Span(text, Style.PLAIN, term)


def strong(text: str) -> Span:
    """Emphasised text."""
    return Span(text, Style.STRONG)


def symbol(name: str, *, term: str | None = None) -> Span:
    """A parameter's symbol, as in a model file."""
    return Span(name, Style.SYMBOL, term)


def code(text: str) -> Span:
    """What is typed or read by a machine: a target, a path, a command."""
    return Span(text, Style.CODE)


def muted(text: str) -> Span:
    """Less important text."""
    return Span(text, Style.MUTED)


def detail(text: str) -> Span:
    """What belongs to the text before it, such as a value's interval."""
    return Span(text, Style.DETAIL)


def bad(text: str) -> Span:
    """A finding that must not be overlooked."""
    return Span(text, Style.BAD)


def line(*parts: Span | str) -> Inline:
    """Spans in a row; bare strings are plain text."""
    return tuple(plain(part) if isinstance(part, str) else part for part in parts)


def joined(parts: Iterable[Inline], separator: str) -> Inline:
    """Several pieces of text with a separator between them."""
    spans: list[Span] = []
    for part in parts:
        if spans:
            spans.append(plain(separator))
        spans.extend(part)
    return tuple(spans)


def text_of(inline: Inline) -> str:
    """The bare text of some spans."""
    return "".join(span.text for span in inline)


@dataclass(frozen=True)
class Paragraph:
    """Running text."""

    content: Inline


@dataclass(frozen=True)
class Bullets:
    """A short list of sentences."""

    items: tuple[Inline, ...]


@dataclass(frozen=True)
class Fact:
    """A named fact; `anchor` makes it an entry of the glossary, which spans link to by their `term`."""

    name: Inline
    content: Inline
    anchor: str | None = None


@dataclass(frozen=True)
class Facts:
    """Named facts, such as the machine's banner."""

    items: tuple[Fact, ...]


@dataclass(frozen=True)
class Notice:
    """A warning: a fact, its number where it has one, and what to do about it."""

    fact: Inline
    number: str | None = None
    remedy: Inline | None = None


@dataclass(frozen=True)
class Notices:
    """Warnings in a row."""

    items: tuple[Notice, ...]


@dataclass(frozen=True)
class Column:
    """A table's column; `numeric` columns are aligned right."""

    title: Inline
    numeric: bool = False


def text_columns(*titles: Inline | Span | str) -> tuple[Column, ...]:
    """Columns of text, by their titles."""
    return tuple(Column(title if isinstance(title, tuple) else line(title)) for title in titles)


def number_columns(*titles: Inline | Span | str) -> tuple[Column, ...]:
    """Columns of numbers, by their titles."""
    return tuple(Column(column.title, numeric=True) for column in text_columns(*titles))


@dataclass(frozen=True)
class Table:
    """A table with its caption; each row has one cell per column."""

    caption: Inline
    columns: tuple[Column, ...]
    rows: tuple[tuple[Inline, ...], ...]
    notes: tuple[Inline, ...] = ()
    """Sentences below the table."""
    in_terminal: bool = True
    """Whether the terminal's shorter report has it too."""


@dataclass(frozen=True)
class Figure:
    """A plot with its caption, which states the convention, and the same numbers as a table.

    The title is shown among panels only; a figure on its own has its section's.
    """

    title: str
    caption: Inline
    plot: Plot
    numbers: Table | None = None
    below: Plot | None = None
    """A smaller plot over the same x axis, such as residuals."""


@dataclass(frozen=True)
class HeatCell:
    """A cell of a heat map: its text says what its colour says.

    `level` is 0 for no colour, 1 to 4 for more and more of the one colour, -1 to -4 of the other.
    """

    text: str
    level: int = 0


@dataclass(frozen=True)
class HeatMap:
    """A table whose cells are coloured; each row has one cell per column, and the legend says what levels mean."""

    title: str
    caption: Inline
    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]
    legend: tuple[HeatCell, ...]


@dataclass(frozen=True)
class Matrix:
    """A figure for each pair of nodes as colours, with its caption."""

    title: str
    caption: Inline
    pairs: PairMatrix


@dataclass(frozen=True)
class Panels:
    """Small figures side by side where there is room."""

    figures: tuple[Figure | HeatMap | Matrix, ...]


@dataclass(frozen=True)
class Picture:
    """A schedule over time with its caption."""

    caption: Inline
    timeline: Timeline


@dataclass(frozen=True)
class Copy:
    """The same numbers in another language, such as LaTeX: to be copied, on the page only."""

    language: str
    text: str


@dataclass(frozen=True)
class Copies:
    """What a reader may take along of the table before it."""

    items: tuple[Copy, ...]


Block = (
    Paragraph
    | Bullets
    | Facts
    | Notices
    | Table
    | Figure
    | HeatMap
    | Matrix
    | Panels
    | Picture
    | Copies
)


@dataclass(frozen=True)
class Section:
    """A titled part of the report; `identifier` is unique in it and safe in an address."""

    identifier: str
    title: Inline
    blocks: tuple[Block, ...] = ()
    sections: tuple[Section, ...] = ()
    in_terminal: bool = True
    """Whether the terminal's shorter report has it too."""
    folded: bool = False
    """Whether the page shows its title only until the reader opens it."""


def figure_section(identifier: str, figure: Figure) -> Section:
    """A section of one figure, with the figure's title; the terminal's report has no figures."""
    return Section(identifier, line(figure.title), (figure,), in_terminal=False)


@dataclass(frozen=True)
class Document:
    """The whole report."""

    title: str
    subtitle: Inline
    sections: tuple[Section, ...] = ()
