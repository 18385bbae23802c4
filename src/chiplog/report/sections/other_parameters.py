"""The parameters of all models but the verdict's: a table a model, a row a regime."""

from __future__ import annotations

from chiplog.report.document import Section, line
from chiplog.report.input import TargetReport
from chiplog.report.measured import headline, main_fits
from chiplog.report.sections.parameters import has_parameters, table


def section(target: TargetReport, key: str) -> Section | None:
    """One table a model of one pair, each with the notes on its parameters; None without another model."""
    best = headline(target)
    fits = [fit for fit in main_fits(target) if fit is not best and has_parameters(fit)]
    if not fits:
        return None
    tables = tuple(table(fit, in_terminal=False) for fit in fits)
    title = line(f"Parameters of the other models ({len(tables)})")
    return Section(f"{key}-other-parameters", title, tables, in_terminal=False)
