"""The report as one Markdown file: the same sections as the page, its plots as tables."""

from __future__ import annotations

from chiplog.quoting import code_for_markdown, for_markdown
from chiplog.report.document import (
    Block,
    Bullets,
    Copies,
    Document,
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
    Span,
    Style,
    Table,
)


def render_document(document: Document) -> str:
    """Any document as Markdown."""
    parts = [f"# {for_markdown(document.title)}", _inline(document.subtitle)]
    for section in document.sections:
        parts.extend(_section(section, 2))
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(section: Section, level: int) -> list[str]:
    blocks = [text for block in section.blocks if (text := _block(block))]
    inner = [text for part in section.sections for text in _section(part, level + 1)]
    if not blocks and not inner:
        return []
    return [f"{'#' * level} {_inline(section.title)}", *blocks, *inner]


def _block(block: Block) -> str:
    match block:
        case Paragraph(content):
            return _inline(content)
        case Bullets(items):
            return "\n".join(f"- {_inline(item)}" for item in items)
        case Facts(items):
            return "\n".join(
                f"- **{_inline(fact.name)}**: {_inline(fact.content)}" for fact in items
            )
        case Notices():
            return _notices(block)
        case Table():
            return _table(block)
        case Figure():
            return _figure(block)
        case HeatMap():
            return _heat_map(block)
        case Panels(figures):
            return "\n\n".join(text for text in map(_block, figures) if text)
        case Picture() | Copies() | Matrix():
            return ""


def _figure(figure: Figure) -> str:
    """A plot's numbers; a plot without a table of its own is left to the page."""
    return _table(figure.numbers) if figure.numbers is not None else ""


def _heat_map(shown: HeatMap) -> str:
    rows = [
        _row([for_markdown(shown.corner), *map(for_markdown, shown.columns)]),
        _row(["---:"] * (1 + len(shown.columns))),
        *(
            _row([for_markdown(title), *(for_markdown(cell.text) for cell in cells)])
            for title, cells in shown.rows
        ),
    ]
    return f"{for_markdown(shown.title)}: {_inline(shown.caption)}\n\n" + "\n".join(rows)


def _notices(notices: Notices) -> str:
    shown = []
    for notice in notices.items:
        number = f" ({for_markdown(notice.number)})" if notice.number else ""
        remedy = f" *{_inline(notice.remedy)}*" if notice.remedy else ""
        shown.append(f"> ⚠ {_inline(notice.fact)}{number}{remedy}")
    return "\n>\n".join(shown)


def _table(table: Table) -> str:
    rule = ["---:" if column.numeric else "---" for column in table.columns]
    rows = [_row([_inline(column.title) for column in table.columns]), _row(rule)]
    rows += [_row([_cell(cell) for cell in row]) for row in table.rows]
    notes = [f"- {_inline(note)}" for note in table.notes]
    parts = [_inline(table.caption), "\n".join(rows), "\n".join(notes)]
    return "\n\n".join(part for part in parts if part)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(content: Inline) -> str:
    """A cell; a detail goes on a line of its own."""
    return "".join(
        f"<br>{_span(span)}"
        if span.style is Style.DETAIL and i
        else _span(span).rstrip()
        if i + 1 < len(content) and content[i + 1].style is Style.DETAIL
        else _span(span)
        for i, span in enumerate(content)
    )


def _inline(content: Inline) -> str:
    return "".join(_span(span) for span in content)


def _span(span: Span) -> str:
    match span.style:
        case Style.CODE | Style.SYMBOL:
            return code_for_markdown(span.text)
        case Style.STRONG | Style.BAD:
            return _wrapped(span.text, "**")
        case Style.PLAIN | Style.MUTED | Style.DETAIL:
            return for_markdown(span.text)


def _wrapped(text: str, mark: str) -> str:
    """Emphasis; spaces at the ends stay outside of it, where they do no harm."""
    core = text.strip()
    if not core:
        return text
    start = text.index(core)
    return f"{text[:start]}{mark}{for_markdown(core)}{mark}{text[start + len(core) :]}"
