"""The best model's parameters with their 95 % intervals, a row a regime: to be read, and to be taken into a paper."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from chiplog.fitting.result import FREE, RECEIVER, Fit, Parameter, Segment
from chiplog.report.copies import csv_table, latex_table
from chiplog.report.document import (
    Copies,
    Copy,
    Inline,
    Section,
    Table,
    detail,
    line,
    muted,
    number_columns,
    plain,
    strong,
    text_columns,
)
from chiplog.report.input import TargetReport
from chiplog.report.measured import headline
from chiplog.report.names import (
    fit_name,
    intervals_text,
    model_name,
    of_many,
    parameter_symbol,
    sizes,
)
from chiplog.report.parameter_text import full, is_known, not_identified, short

FORMS = {FREE: "free slopes", RECEIVER: "trains bound by o_r"}
MOST_SEGMENTS = 12
"""Given: a model with more segments than this is a table over sizes: its curves show it better."""
MOST_WITH_REASONS = 2
"""Given: regimes up to which a cell has room for the reason why a parameter is not identified."""
USUAL_ORDER = (
    "alpha",
    "R",
    "n_half",
    "L_half",
    "L",
    "o_s",
    "o_r",
    "g",
    "G",
    "O_s",
    "O_r",
    "O",
    "S",
)


def section(target: TargetReport, key: str) -> Section | None:
    """The table of the verdict's model, in LaTeX and CSV, too; None without any parameter."""
    fit = headline(target)
    if fit is None or not has_parameters(fit):
        return None
    copies = Copies((Copy("LaTeX", latex_table(fit)), Copy("CSV", csv_table(fit))))
    title = line(f"Parameters of {model_name(fit.model)}")
    return Section(f"{key}-parameters", title, (table(fit, in_terminal=True), copies))


def has_parameters(fit: Fit) -> bool:
    """Whether there is a table of one pair's parameters to show."""
    return bool(_symbols(fit)) and not of_many(fit.method)


def _symbols(fit: Fit) -> list[str]:
    return in_usual_order(
        dict.fromkeys(name for segment in fit.segments for name in segment.parameters)
    )


def in_usual_order(found: Collection[str]) -> list[str]:
    """Names of parameters, those that everyone knows first, as papers have them."""
    usual = [name for name in USUAL_ORDER if name in found]
    return usual + [name for name in found if name not in USUAL_ORDER]


def table(fit: Fit, *, in_terminal: bool) -> Table:
    """One row a regime, those of one protocol under its name; one column a parameter.

    What is not identified says why: in its cell where there is room, else below the table.
    """
    symbols = _symbols(fit)
    columns = (*text_columns("Sizes"), *number_columns(*map(parameter_symbol, symbols)))
    shown = fit.segments[:MOST_SEGMENTS]
    cell = full if len(shown) <= MOST_WITH_REASONS else short
    rows: list[tuple[Inline, ...]] = []
    for protocol in _protocols(shown):
        blank = [line()] * len(symbols)
        if len(protocol) > 1:
            whole = sizes(protocol[0].first_bytes, protocol[-1].last_bytes)
            title = line(strong(whole), f", {len(protocol)} regimes:")
            rows.append((_on_one_line(title), *blank))
        above: Segment | None = None
        for segment in protocol:
            rows.append(
                (
                    _place(segment, within=len(protocol) > 1),
                    *(_cell(cell, name, segment, above) for name in symbols),
                )
            )
            above = segment
    words = f"{fit_name(fit)}, {fit.direction}, fitted on the {fit.statistic}, with "
    more = len(fit.segments) - len(shown)
    tail = f"; the first {len(shown)} of {len(fit.segments)} regimes." if more else "."
    caption = line(words, plain("95 % intervals", term="interval"), intervals_text(fit) + tail)
    notes = _notes(fit) if cell is full else (*_reasons(shown), *_notes(fit))
    return Table(caption, columns, tuple(rows), notes, in_terminal)


def _protocols(segments: Sequence[Segment]) -> list[list[Segment]]:
    """The regimes of each protocol."""
    protocols: list[list[Segment]] = []
    for segment in segments:
        if segment.border == "slope" and protocols:
            protocols[-1].append(segment)
        else:
            protocols.append([segment])
    return protocols


def _place(segment: Segment, *, within: bool) -> Inline:
    place = sizes(segment.first_bytes, segment.last_bytes)
    shown = f"· {place}" if within else place
    if not segment.form:
        return _on_one_line(line(shown))
    return _on_one_line(line(shown, " ", detail(FORMS[segment.form])))


def _on_one_line(content: Inline) -> Inline:
    return (replace(content[0], place=True), *content[1:])


def _cell(
    cell: Callable[[Parameter | None], Inline], name: str, segment: Segment, above: Segment | None
) -> Inline:
    """A parameter; where it is that of the regime above, it says so."""
    parameter = segment.parameters.get(name)
    if parameter is not None and above is not None and parameter == above.parameters.get(name):
        return line(muted("as above"))
    return cell(parameter)


def _reasons(segments: Sequence[Segment]) -> tuple[Inline, ...]:
    """Why parameters are not identified: each reason once, with the sizes that it holds for."""
    places_of: dict[tuple[str, str], list[str]] = {}
    for segment in segments:
        for name, parameter in segment.parameters.items():
            if not is_known(parameter):
                place = sizes(segment.first_bytes, segment.last_bytes)
                places_of.setdefault((name, not_identified(parameter)), []).append(place)
    return tuple(
        line(parameter_symbol(name), muted(f" ({', '.join(places)}): {reason}."))
        for (name, reason), places in places_of.items()
    )


def _notes(fit: Fit) -> tuple[Inline, ...]:
    """What the fit says about parameters that it does give, each note once."""
    notes = {
        (name, parameter.reason): None
        for segment in fit.segments[:MOST_SEGMENTS]
        for name, parameter in segment.parameters.items()
        if is_known(parameter) and parameter.reason
    }
    return tuple(line(parameter_symbol(name), muted(f": {reason}")) for name, reason in notes)
