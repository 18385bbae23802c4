"""The same parameters by different methods of measuring, side by side with what each one cost."""

from __future__ import annotations

from collections.abc import Iterator

from chiplog.fitting.result import Fit, Segment
from chiplog.models.registry import find_model
from chiplog.report import format
from chiplog.report.document import (
    Inline,
    Section,
    Table,
    line,
    muted,
    number_columns,
    plain,
    text_columns,
)
from chiplog.report.input import TargetReport
from chiplog.report.measured import headline_rank
from chiplog.report.names import METHODS, method_name, model_name, parameter_symbol, sizes
from chiplog.report.parameter_text import full

SYMBOLS = ("L_half", "L", "o_s", "o_r", "g", "G", "S")
COMPARED = frozenset({"L", "o_s", "o_r", "g"})
"""What a model must have for its methods to be compared by it."""


def section(target: TargetReport, key: str) -> Section | None:
    """The table; None where fewer than two methods were used."""
    fits = _by_method(target)
    if len(fits) < 2:
        return None
    symbols = [s for s in SYMBOLS if any(s in p.parameters for f in fits for p in f.segments)]
    rows = [*(row for name in symbols for row in _symbol_rows(name, fits)), *_cost_rows(fits)]
    heads = (line(f"{method_name(f.method)} ", muted(model_name(f.model))) for f in fits)
    columns = (*text_columns("Parameter", "Sizes"), *number_columns(*heads))
    caption = line(
        "The same machine, measured in different ways: ",
        plain("PRTT", term="prtt"),
        ", ",
        plain("Culler", term="culler"),
        ", ",
        plain("Kielmann", term="kielmann"),
        " and ",
        plain("Bell", term="bell"),
        ", with 95 % intervals and their cost, warm-up included.",
    )
    return Section(
        f"{key}-methods", line("Methods side by side"), (Table(caption, columns, tuple(rows)),)
    )


def _by_method(target: TargetReport) -> list[Fit]:
    """One fit a method: of LogGP if it has one, else of the model next to it; in the usual order of methods."""
    fit_of: dict[str, Fit] = {}
    for fit in sorted(target.fits, key=lambda fit: -headline_rank(fit)):
        model = find_model(fit.model)
        if model is not None and model.symbols >= COMPARED and fit.segments:
            fit_of.setdefault(fit.method, fit)
    known = [name for name in METHODS if name in fit_of]
    return [fit_of[name] for name in (*known, *(n for n in fit_of if n not in METHODS))]


def _symbol_rows(name: str, fits: list[Fit]) -> list[tuple[Inline, ...]]:
    """One row a protocol of the first method; the others' protocols are matched by their sizes."""
    rows: list[tuple[Inline, ...]] = []
    seen: set[int] = set()
    for lead in fits[0].segments:
        cells = []
        for fit in fits:
            segment = _at(fit, lead.first_bytes)
            again = id(segment) in seen and segment is not None and name in segment.parameters
            cells.append(line(muted("as above")) if again else _cell(segment, name))
            seen.add(id(segment))
        title: Inline = () if rows else (parameter_symbol(name),)
        rows.append((title, line(sizes(lead.first_bytes, lead.last_bytes)), *cells))
    return rows


def _cost_rows(fits: list[Fit]) -> Iterator[tuple[Inline, ...]]:
    """What each method cost, and how far off its fit is."""
    errors = (f.error.median_relative if f.error.points else None for f in fits)
    for title, texts in (
        (plain("Messages", term="cost"), [format.count(f.cost.messages) for f in fits]),
        (plain("On the wire"), [format.volume(f.cost.bytes) for f in fits]),
        (plain("Time"), [format.duration(f.cost.seconds) for f in fits]),
        (plain("Median error, in-sample", term="error"), [*map(format.percent, errors)]),
    ):
        yield line(title), line(), *map(line, texts)


def _cell(segment: Segment | None, name: str) -> Inline:
    return full(None if segment is None else segment.parameters.get(name))


def _at(fit: Fit, size: int) -> Segment | None:
    """The segment that holds a size; the first one where the method starts at a larger size."""
    for segment in fit.segments:
        if size <= segment.last_bytes:
            return segment
    return fit.segments[-1] if fit.segments else None
