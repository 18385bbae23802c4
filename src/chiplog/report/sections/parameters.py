"""Every model's parameters with their 95 % intervals: a table a model, a row a protocol."""

from __future__ import annotations

from chiplog.fit.result import Fit
from chiplog.report.document import (
    Column,
    Inline,
    Section,
    Table,
    line,
    muted,
    plain,
)
from chiplog.report.input import TargetReport
from chiplog.report.measured import headline, main_fits
from chiplog.report.names import fit_name, of_many, parameter_symbol, sizes
from chiplog.report.parameter_text import full, is_known

MOST_SEGMENTS = 12
"""A model with more segments than this is a table over sizes: its curves show it better."""
USUAL_ORDER = ("alpha", "R", "n_half", "L_half", "L", "o_s", "o_r", "g", "G", "O", "S")


def section(target: TargetReport, key: str) -> Section | None:
    """One table a model of one pair, each with the notes on its parameters; None without any fit."""
    blocks = [
        table(fit, in_terminal=fit is headline(target))
        for fit in main_fits(target)
        if _symbols(fit) and not of_many(fit.model, fit.method)
    ]
    if not blocks:
        return None
    return Section(f"{key}-parameters", line("Parameters"), tuple(blocks))


def _symbols(fit: Fit) -> list[str]:
    found = dict.fromkeys(name for segment in fit.segments for name in segment.parameters)
    usual = [name for name in USUAL_ORDER if name in found]
    return usual + [name for name in found if name not in USUAL_ORDER]


def table(fit: Fit, *, in_terminal: bool) -> Table:
    """One row a protocol, one column a parameter; what is not identified says why."""
    symbols = _symbols(fit)
    columns = (
        Column(line("Sizes")),
        *(Column((parameter_symbol(name),), numeric=True) for name in symbols),
    )
    shown = fit.segments[:MOST_SEGMENTS]
    rows = tuple(
        (
            line(sizes(segment.first_bytes, segment.last_bytes)),
            *(full(segment.parameters.get(name)) for name in symbols),
        )
        for segment in shown
    )
    words = f"{fit_name(fit)}, {fit.direction}, fitted on the {fit.statistic}, with "
    more = len(fit.segments) - len(shown)
    tail = f"; the first {len(shown)} of {len(fit.segments)} segments." if more else "."
    caption = line(words, plain("95 % intervals", term="interval"), tail)
    return Table(caption, columns, rows, _notes(fit), in_terminal)


def _notes(fit: Fit) -> tuple[Inline, ...]:
    """What the fit says about parameters that it does give, each note once."""
    found = {
        (name, parameter.reason): None
        for segment in fit.segments[:MOST_SEGMENTS]
        for name, parameter in segment.parameters.items()
        if is_known(parameter) and parameter.reason
    }
    return tuple(line(parameter_symbol(name), muted(f": {reason}")) for name, reason in found)
