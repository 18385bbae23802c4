"""Warnings, each a fact, a number and a remedy; and notes, which the fits make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chiplog.dataset.disturbance import oversubscription
from chiplog.fitting.result import Fit
from chiplog.report import format
from chiplog.report.document import Notice, Notices, Section, line, text_of
from chiplog.report.header import items, number, text
from chiplog.report.input import TargetReport
from chiplog.report.names import fit_name

MOST_NAMES = 3
"""Given: fits that a warning names one by one."""


def section(target: TargetReport, key: str) -> Section | None:
    """All warnings, and what the fits say of what they left out; None if there is neither."""
    warned, noted = warnings(target), notes(target)
    if not warned and not noted:
        return None
    counts = [
        f"{word} ({len(kind)})" for word, kind in (("Warnings", warned), ("Notes", noted)) if kind
    ]
    blocks = tuple(Notices(kind) for kind in (warned, noted) if kind)
    return Section(f"{key}-warnings", line(", ".join(counts).replace(", N", ", n")), blocks)


def warnings(target: TargetReport) -> tuple[Notice, ...]:
    """What spoiled a target's runs and can be done something about: failures, too many ranks, and the machine's facts.

    Each is said once.
    """
    failed = [
        f"{run.name}: {run.failure}" for run in target.runs if run is not target and run.failure
    ]
    crowded = [
        crowding.sentence()
        for run in target.runs
        if (crowding := oversubscription(run.dataset.header))
    ]
    facts: dict[object, Mapping[str, object]] = {}
    for run in target.runs:
        for warning in items(run.dataset.header, "warnings"):
            if isinstance(warning, Mapping):
                facts.setdefault(warning.get("fact"), warning)
    sentences = dict.fromkeys([*failed, *crowded])
    return (*(Notice(line(words)) for words in sentences), *map(_of_header, facts.values()))


def notes(target: TargetReport) -> tuple[Notice, ...]:
    """What the fits say of what they left out or could not tell, each once, with the fits that say it."""
    crowded = {
        crowding.sentence()
        for run in target.runs
        if (crowding := oversubscription(run.dataset.header))
    }
    said: dict[str, list[str]] = {}
    for run in target.runs:
        for fit in run.fits:
            for words in fit.warnings:
                if words not in crowded:
                    said.setdefault(words, []).append(fit_name(fit))
    fits = [fit for run in target.runs for fit in run.fits]
    return tuple(
        Notice(line(f"{_speakers(names, fits)}: {words}")) for words, names in said.items()
    )


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
        return format.brief(amount * 1e-9, "s")
    if unit == "%":
        return format.percent(amount / 100)
    digits, space, unit = format.brief(amount, unit).partition(" ")
    return (digits.rstrip("0").rstrip(".") if "." in digits else digits) + space + unit


def notice_sentence(notice: Notice) -> str:
    """A warning's fact, its number and its remedy in one sentence."""
    number = f": {notice.number}" if notice.number else ""
    return text_of(notice.fact) + number + (f"; {text_of(notice.remedy)}" if notice.remedy else "")
