"""The report as one HTML file: no network, plots drawn by the script that it carries.

All text is escaped here, in one place. A content security policy allows this file's own script only, known by its hash,
and no connection to anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from string import Template

from chiplog.models.registry import MODELS
from chiplog.report.document import (
    Block,
    Bullets,
    Copies,
    Document,
    Facts,
    Figure,
    HeatCell,
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
    text_of,
)
from chiplog.report.matrix import legend_html, level_class, matrix_svg
from chiplog.report.names import identifier
from chiplog.report.plot import Plot, as_json
from chiplog.report.timeline import timeline_svg

_NUMBER_AND_UNIT = re.compile(r"(?<=\d) (?=(?:%|(?:[pnum]?s|[kMGT]?B|[KMGT]iB|min|h)\b))")
"""The space between a number and its unit, at which no line must break."""
_INDEX = re.compile(r"\b(o|L)_(s|r|half)\b")
"""A parameter's symbol in running text."""
_BREAKABLE = re.compile(r"(?<=[:,/])")
"""Where a long target or path may be broken."""
MOST_NOTES = 2
"""Given: more notes below a table are folded."""
LONGEST_NUMBER = 40
"""Given: a cell with more characters than this is a sentence, also in a column of numbers."""


WITHOUT_SCRIPT = "<p>This page's own script draws the plot, and it is switched off.</p>"


def render_document(document: Document) -> str:
    """Any document as a page."""
    script = _asset("plot.js")
    plots = {plot.identifier: as_json(plot) for plot in _plots(document.sections)}
    return Template(_asset("page.html")).substitute(
        policy=_policy(script),
        title=_escaped(document.title),
        style=_asset("report.css") + model_colours(),
        contents="".join(_contents_item(section) for section in document.sections),
        subtitle=_inline(document.subtitle),
        body="\n".join(_section(section, 2) for section in document.sections),
        plots=json_for_script(plots),
        script=script,
    )


def model_colours() -> str:
    """The style sheet's rules for the colours and dashes of all models, those of other packages too."""
    models = MODELS.all()

    def variables(theme: str) -> str:
        return " ".join(
            f"--model-{identifier(m.name)}: {getattr(m.colour, theme)};" for m in models
        )

    rules = [
        f":root {{ {variables('light')} }}",
        f'@media (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ {variables("dark")} }} }}',
        f':root[data-theme="dark"] {{ {variables("dark")} }}',
    ]
    for model in models:
        name, dashes = identifier(model.name), model.colour.dashes or "none"
        rules.append(f".colour-{name} {{ --colour: var(--model-{name}); --dashes: {dashes}; }}")
    return "\n".join(rules) + "\n"


def json_for_script(value: object) -> str:
    """JSON that can stand inside a script element: no text in it can end the element or begin a comment."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _policy(script: str) -> str:
    """What the page may do: run this one script, known by its hash; connect to nothing."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = ("default-src 'none'", "style-src 'unsafe-inline'", "img-src data:")
    return "; ".join((*allowed, f"script-src 'sha256-{digest}'"))


def _asset(name: str) -> str:
    return (files("chiplog.report") / "assets" / name).read_text(encoding="utf-8")


def _escaped(text: str) -> str:
    # A control character other than a tab or a line feed has no place in HTML at all.
    cleaned = "".join(c if c >= " " or c in "\t\n" else "\ufffd" for c in text)
    return html.escape(cleaned, quote=True)


def _plots(sections: tuple[Section, ...]) -> list[Plot]:
    plots: list[Plot] = []
    for section in sections:
        for block in section.blocks:
            of_block = block.figures if isinstance(block, Panels) else (block,)
            for figure in of_block:
                if isinstance(figure, Figure):
                    plots += [figure.plot, *([figure.below] if figure.below is not None else [])]
        plots.extend(_plots(section.sections))
    return plots


def _contents_item(section: Section) -> str:
    link = f'<a href="#{section.identifier}">{_escaped(text_of(section.title))}</a>'
    inner = "".join(_contents_item(part) for part in section.sections)
    return f"<li>{link}{f'<ol>{inner}</ol>' if inner else ''}</li>"


def _section(section: Section, level: int) -> str:
    blocks = "\n".join(_block(block) for block in section.blocks)
    inner = "\n".join(_section(part, level + 1) for part in section.sections)
    name = "verdict" if section.identifier.endswith("-verdict") else "part"
    title = f"<h{level}>{_inline(section.title)}</h{level}>"
    if section.folded:
        return (
            f'<details id="{section.identifier}" class="{name} fold"><summary>{title}</summary>\n{blocks}\n{inner}'
            "</details>"
        )
    return f'<section id="{section.identifier}" class="{name}">{title}\n{blocks}\n{inner}</section>'


def _block(block: Block) -> str:
    match block:
        case Paragraph(content):
            return f"<p>{_inline(content)}</p>"
        case Bullets(items):
            return f'<ul class="findings">{"".join(f"<li>{_inline(i)}</li>" for i in items)}</ul>'
        case Facts():
            return _facts(block)
        case Notices():
            return _notices(block)
        case Table():
            return _table(block)
        case Figure():
            return _figure(block)
        case HeatMap():
            return _heat_map(block)
        case Matrix():
            return _matrix(block)
        case Panels(figures):
            shown = (
                _figure(panel, titled=True) if isinstance(panel, Figure) else _block(panel)
                for panel in figures
            )
            return f'<div class="panels">{"".join(shown)}</div>'
        case Copies():
            return _copies(block)
        case Picture(caption, timeline):
            drawn = timeline_svg(timeline)
            return f'<figure><div class="scroll">{drawn}</div><figcaption>{_inline(caption)}</figcaption></figure>'


def _inline(content: Inline) -> str:
    return "".join(_span(span) for span in content)


def _span(span: Span) -> str:
    text = _escaped(span.text)
    if span.style not in (Style.SYMBOL, Style.CODE):
        text = _INDEX.sub(r"<var>\1<sub>\2</sub></var>", _NUMBER_AND_UNIT.sub("\u00a0", text))
    match span.style:
        case Style.SYMBOL:
            name, _, index = text.partition("_")
            shown = f"<var>{name}{f'<sub>{index}</sub>' if index else ''}</var>"
        case Style.CODE:
            shown = f"<code>{_BREAKABLE.sub('<wbr>', text)}</code>"
        case Style.STRONG:
            shown = f"<strong>{text}</strong>"
        case Style.MUTED | Style.BAD | Style.DETAIL:
            shown = f'<span class="{span.style.value}">{text}</span>'
        case Style.PLAIN:
            shown = text
    return f'<a class="term" href="#term-{span.term}">{shown}</a>' if span.term else shown


def _facts(facts: Facts) -> str:
    items = []
    for fact in facts.items:
        anchor = f' id="term-{fact.anchor}"' if fact.anchor else ""
        items.append(f"<dt{anchor}>{_inline(fact.name)}</dt><dd>{_inline(fact.content)}</dd>")
    return f'<dl class="facts">{"".join(items)}</dl>'


def _notices(notices: Notices) -> str:
    shown = []
    for notice in notices.items:
        number = (
            f' <span class="number">({_escaped(notice.number)})</span>' if notice.number else ""
        )
        remedy = f'<span class="remedy">{_inline(notice.remedy)}</span>' if notice.remedy else ""
        shown.append(
            f'<div class="notice" role="note">{_inline(notice.fact)}{number}{remedy}</div>'
        )
    return "\n".join(shown)


def _table(table: Table) -> str:
    names = ['class="number"' if column.numeric else "" for column in table.columns]
    head = "".join(
        f'<th scope="col" {name}>{_inline(column.title)}</th>'
        for column, name in zip(table.columns, names, strict=True)
    )
    body = "".join(f"<tr>{_cells(row, names)}</tr>" for row in table.rows)
    notes = "".join(f'<p class="note">{_inline(note)}</p>' for note in table.notes)
    if len(table.notes) > MOST_NOTES:
        title = f"<summary>{len(table.notes)} notes on this table</summary>"
        notes = f'<details class="notes">{title}{notes}</details>'
    return (
        f'<p class="caption">{_inline(table.caption)}</p><div class="scroll"><table class="data">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{notes}"
    )


def _cells(row: tuple[Inline, ...], names: list[str]) -> str:
    cells = []
    for cell, name in zip(row, names, strict=True):
        kind = 'class="sentence"' if len(text_of(cell)) > LONGEST_NUMBER else name
        if cell and cell[0].place:
            kind = 'class="place"'
        cells.append(f"<td {kind}>{_inline(cell)}</td>")
    return "".join(cells)


def _copies(copies: Copies) -> str:
    """A button for each, and the text itself for whoever wants to select it."""
    shown = []
    for item in copies.items:
        label = f"Copy as {_escaped(item.language)}"
        shown.append(
            f'<details class="copy"><summary>{_escaped(item.language)}</summary>'
            f'<button type="button" class="tool" data-copy>{label}</button><pre>{_escaped(item.text)}</pre></details>'
        )
    return f'<div class="copies">{"".join(shown)}</div>'


def _figure(figure: Figure, *, titled: bool = False) -> str:
    title = f"<h4>{_escaped(figure.title)}</h4>" if titled else ""
    numbers = ""
    if figure.numbers is not None:
        numbers = f"<details><summary>The numbers</summary>{_table(figure.numbers)}</details>"
    return (
        f"<figure>{title}{_plot(figure.plot)}{_plot(figure.below) if figure.below else ''}"
        f"<figcaption>{_inline(figure.caption)}</figcaption>{numbers}</figure>"
    )


def _plot(plot: Plot) -> str:
    return f'<div class="plot" data-plot="{plot.identifier}">{WITHOUT_SCRIPT}</div>'


def _heat_map(shown: HeatMap) -> str:
    head = "".join(f'<th scope="col">{_escaped(title)}</th>' for title in shown.columns)
    body = "".join(
        f'<tr><th scope="row">{_escaped(title)}</th>{"".join(map(_heat_cell, cells))}</tr>'
        for title, cells in shown.rows
    )
    legend = "".join(
        f'<span class="heat {level_class(heat_cell.level)}">{_escaped(heat_cell.text)}</span>'
        for heat_cell in shown.legend
    )
    return (
        f'<figure class="heat-map"><h4>{_escaped(shown.title)}</h4><div class="scroll"><table class="heat">'
        f'<thead><tr><th scope="col">{_escaped(shown.corner)}</th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
        f'<p class="heat-legend">{legend}</p><figcaption>{_inline(shown.caption)}</figcaption></figure>'
    )


def _matrix(shown: Matrix) -> str:
    return (
        f'<figure class="heat-map"><h4>{_escaped(shown.title)}</h4>'
        f'<div class="scroll">{matrix_svg(shown.pairs)}</div>{legend_html(shown.pairs)}'
        f"<figcaption>{_inline(shown.caption)}</figcaption></figure>"
    )


def _heat_cell(cell: HeatCell) -> str:
    return f'<td class="{level_class(cell.level)}">{_escaped(cell.text)}</td>'
