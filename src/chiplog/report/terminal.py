"""The report in a terminal: verdicts and tables, without plots. Colours are the console's (it honours NO_COLOR)."""

from __future__ import annotations

from rich import box
from rich.cells import cell_len
from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from chiplog.quoting import for_terminal
from chiplog.report.document import (
    Block,
    Bullets,
    Column,
    Copies,
    Facts,
    Figure,
    HeatMap,
    Inline,
    Matrix,
    Notices,
    Panels,
    Paragraph,
    Picture,
    Section,
    Style,
    Table,
    text_of,
)
from chiplog.report.input import ReportInput
from chiplog.report.sections import build

STYLES = {
    Style.PLAIN: "",
    Style.STRONG: "bold",
    Style.SYMBOL: "italic",
    Style.CODE: "cyan",
    Style.MUTED: "dim",
    Style.DETAIL: "dim",
    Style.BAD: "bold red",
}
ASCII = str.maketrans(
    {"±": "+/-", "—": "-", "–": "-", "−": "-", "…": "..", "·": "|", "•": "*", "⚠": "!"}
)
"""What stands for the characters that a terminal without Unicode lacks."""
BORDER = 3
"""Given: the characters between two columns."""
UNBROKEN = (32, 20)
"""Given: lines of a cell up to so many characters are not broken: first try, second try."""


def print_report(report: ReportInput, console: Console | None = None) -> None:
    """Prints the shorter report to the console, by default the terminal: what was found, without plots and details."""
    document = build(report)
    console = console or Console()
    writer = _Writer(console)
    console.print(writer.text(((document.title, "bold"),)))
    for section in document.sections:
        writer.section(section, 0)


class _Writer:
    """Turns blocks into what rich prints on one console."""

    def __init__(self, console: Console) -> None:
        self.console = console
        encoding = (console.encoding or "ascii").lower()
        self.plain = not encoding.startswith("utf")

    def section(self, section: Section, level: int) -> None:
        if not section.in_terminal:
            return
        self.console.print()
        style = "bold underline" if level == 0 else "bold"
        title = self.inline(section.title)
        title.stylize(style)
        self.console.print(title)
        for block in section.blocks:
            shown = self.block(block)
            if shown is not None:
                self.console.print(shown)
        for part in section.sections:
            self.section(part, level + 1)

    def text(self, parts: tuple[tuple[str, str], ...]) -> Text:
        """Styled text without markup: what comes from a file can't switch colours or move the cursor."""
        made = Text()
        for words, style in parts:
            made.append(self.printable(words), style or None)
        return made

    def printable(self, words: str) -> str:
        cleaned = for_terminal(words)
        if not self.plain:
            return cleaned
        encoding = self.console.encoding or "ascii"
        return cleaned.translate(ASCII).encode(encoding, "replace").decode(encoding)

    def inline(self, content: Inline) -> Text:
        return self.text(tuple((span.text, STYLES[span.style]) for span in content))

    def block(self, block: Block) -> RenderableType | None:
        match block:
            case Paragraph(content):
                return self.inline(content)
            case Bullets(items):
                return Group(*(self.item("•", self.inline(item)) for item in items))
            case Facts(items):
                facts = ((fact.name, fact.content) for fact in items)
                return Group(*(self.item(" ", self.named(n, c)) for n, c in facts))
            case Notices():
                return self.notices(block)
            case Table():
                return self.table(block)
            case Figure() | HeatMap() | Panels() | Picture() | Copies() | Matrix():
                return None

    def item(self, mark: str, content: Text) -> RenderableType:
        row = RichTable.grid(padding=(0, 1, 0, 0))
        row.add_row(self.printable(mark), content)
        return row

    def named(self, name: Inline, content: Inline) -> Text:
        return Text.assemble(self.inline(name), ": ", self.inline(content))

    def notices(self, notices: Notices) -> RenderableType:
        rows = []
        for notice in notices.items:
            words = self.inline(notice.fact)
            if notice.number:
                words.append(self.printable(f" ({notice.number})"))
            if notice.remedy:
                words.append("; ")
                words.append_text(self.inline(notice.remedy))
            rows.append(self.item("⚠", words))
        return Group(*rows)

    def table(self, table: Table) -> RenderableType | None:
        """The table as it is, turned round, or as a list of its rows: whatever has room."""
        if not table.in_terminal:
            return None
        grids = (
            self.grid(shape, unbroken)
            for shape in (table, _transposed(table))
            for unbroken in UNBROKEN
        )
        shown = next((grid for grid in grids if grid is not None), None) or self.stacked(table)
        notes = (self.item("•", self.inline(note)) for note in table.notes)
        return Group(Text(), self.inline(table.caption), shown, *notes)

    def grid(self, table: Table, unbroken: int) -> RenderableType | None:
        """The table, no line of up to `unbroken` characters broken; None where it has no room."""
        widths = shared_out(
            [self.least(table, i, unbroken) for i in range(len(table.columns))],
            [self.most(table, i) for i in range(len(table.columns))],
            self.console.width - BORDER * len(table.columns) - 1,
        )
        if widths is None:
            return None
        made = RichTable(box=box.ASCII if self.plain else box.SIMPLE_HEAD)
        for column, width in zip(table.columns, widths, strict=True):
            side: JustifyMethod = "right" if column.numeric else "left"
            made.add_column(self.inline(column.title), justify=side, width=width)
        for row in table.rows:
            made.add_row(*(self.cell(cell) for cell in row))
        return made

    def least(self, table: Table, i: int, unbroken: int) -> int:
        """The width that a column needs: of its longest word, and of its longest short line."""
        words = self.inline(table.columns[i].title).plain.split()
        for row in table.rows:
            for text in self.cell(row[i]).plain.split("\n"):
                words += [text] if len(text) <= unbroken else text.split()
        return max((cell_len(word) for word in words), default=1)

    def most(self, table: Table, i: int) -> int:
        """The width at which a column breaks no line at all."""
        cells = [self.inline(table.columns[i].title), *(self.cell(row[i]) for row in table.rows)]
        return max(cell_len(text) for cell in cells for text in cell.plain.split("\n"))

    def cell(self, content: Inline) -> Text:
        """A cell's text; a detail goes on a line of its own."""
        parts = [
            (
                "\n" + span.text if span.style is Style.DETAIL and i else span.text,
                STYLES[span.style],
            )
            for i, span in enumerate(content)
        ]
        lines = self.text(tuple(parts)).split("\n")
        for words in lines:
            words.rstrip()
        return Text("\n").join(lines)

    def stacked(self, table: Table) -> RenderableType:
        rows: list[RenderableType] = []
        for row in table.rows:
            for i, (column, cell) in enumerate(zip(table.columns, row, strict=True)):
                if not text_of(cell):
                    continue
                words = self.named(column.title, cell)
                rows.append(words if i == 0 else Padding(words, (0, 0, 0, 2), expand=False))
            rows.append(Text())
        return Group(*rows[:-1])


def _transposed(table: Table) -> Table:
    """Rows and columns exchanged: the first column's cells become the titles."""
    heads = (table.columns[0], *(Column(row[0], numeric=True) for row in table.rows))
    rows = tuple(
        (column.title, *(row[i] for row in table.rows))
        for i, column in enumerate(table.columns)
        if i > 0
    )
    return Table(table.caption, heads, rows)


def shared_out(least: list[int], most: list[int], room: int) -> list[int] | None:
    """Widths between `least` and `most` that use the room; None where even the least do not fit."""
    spare = room - sum(least)
    if spare < 0:
        return None
    widths = list(least)
    # Whoever wants little gets all of it; the rest share what is left.
    wanting = sorted(range(len(least)), key=lambda i: most[i] - least[i])
    for place, i in enumerate(wanting):
        share = min(most[i] - least[i], spare // (len(wanting) - place))
        widths[i] += share
        spare -= share
    return widths
