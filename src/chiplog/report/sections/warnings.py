"""Warnings: each a fact, a number and a remedy, from the run's header and from the fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chiplog.fit.result import Fit
from chiplog.report import format
from chiplog.report.document import Notice, Notices, Section, line, text_of
from chiplog.report.header import items, number, text
from chiplog.report.input import TargetReport
from chiplog.report.names import fit_name

MOST_NAMES = 3
"""Fits that a warning names one by one."""


def section(target: TargetReport, key: str) -> Section | None:
    """All warnings; None if there are none."""
    shown = notices(target)
    if not shown:
        return None
    return Section(f"{key}-warnings", line(f"Warnings ({len(shown)})"), (Notices(shown),))


def notices(target: TargetReport) -> tuple[Notice, ...]:
    """The warnings of a target's runs, each once: first those of the machine, then those of the fits."""
    facts: dict[object, Mapping[str, object]] = {}
    said: dict[str, list[str]] = {}
    for run in target.runs:
        for warning in items(run.dataset.header, "warnings"):
            if isinstance(warning, Mapping):
                facts.setdefault(warning.get("fact"), warning)
        for fit in run.fits:
            for words in fit.warnings:
                said.setdefault(words, []).append(fit_name(fit))
    of_machine = [_of_header(fact) for fact in facts.values()]
    fits = [fit for run in target.runs for fit in run.fits]
    of_fits = [Notice(line(f"{_speakers(names, fits)}: {words}")) for words, names in said.items()]
    return (*of_machine, *of_fits)


def _speakers(names: list[str], fits: Sequence[Fit]) -> str:
    """The fits that a warning is about; few words where it is about all of a run's."""
    several = tuple(dict.fromkeys(names))
    if len(several) > MOST_NAMES:
        return f"{len(several)} of {len({fit_name(fit) for fit in fits})} fits"
    return ", ".join(several)


def _of_header(warning: Mapping[str, object]) -> Notice:
    amount, unit = number(warning, "number"), text(warning, "unit") or ""
    remedy = text(warning, "remedy")
    return Notice(
        line(text(warning, "fact") or "a warning without words"),
        None if amount is None else _amount(amount, unit),
        None if remedy is None else line(remedy),
    )


def _amount(amount: float, unit: str) -> str:
    if unit == "ns":
        return format.value(amount * 1e-9, "s", digits=3)
    return format.value(amount, unit, digits=3) if unit != "%" else format.percent(amount / 100)


def notice_sentence(notice: Notice) -> str:
    """A warning's fact, its number and its remedy in one sentence."""
    number = f": {notice.number}" if notice.number else ""
    return text_of(notice.fact) + number + (f"; {text_of(notice.remedy)}" if notice.remedy else "")
