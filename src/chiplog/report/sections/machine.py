"""The banner: what was measured, on which machine, with which clock, by which settings."""

from __future__ import annotations

import json

from chiplog.counts import counted
from chiplog.report import format
from chiplog.report.document import (
    Fact,
    Facts,
    Inline,
    Section,
    code,
    joined,
    line,
    muted,
    plain,
    text_of,
)
from chiplog.report.header import items, members, number, text
from chiplog.report.input import TargetReport
from chiplog.report.names import moment

MOST_SETTINGS, MOST_RANKS = 24, 8
"""Given: what a line of facts has room for."""


def section(target: TargetReport, key: str) -> Section | None:
    """The banner; None where the run has no header to speak of."""
    facts = [
        fact
        for name, content, term in (
            ("Target", line(code(target.name)), None),
            ("Hosts", _hosts(target), None),
            ("CPU", _cpu(target), None),
            ("Kernel", _text(target, "machine", "kernel"), None),
            ("Hypervisor", _text(target, "machine", "hypervisor", otherwise="none seen"), None),
            (
                "Governor",
                _text(target, "machine", "governor", otherwise="not readable"),
                "governor",
            ),
            ("Clock", _clock(target), "clock"),
            ("MPI", _mpi(target), None),
            ("MPI settings", _settings(target, "mpi", "settings"), None),
            ("Options", _settings(target, "options"), None),
            ("Binding", _binding(target), "binding"),
            ("Run", _run(target), None),
            ("Plan", _plan(target), "visit"),
            ("Raw samples", _files(target), None),
        )
        if (fact := _fact(name, content, term)) is not None
    ]
    return Section(
        f"{key}-machine", line("Machine and run"), (Facts(tuple(facts)),), in_terminal=False
    )


def short_banner(target: TargetReport) -> Inline:
    """Host, processor, kernel, MPI and clock in one line; empty where there is none of them."""
    header = target.dataset.header
    parts = [
        joined(
            (line(host) for host in dict.fromkeys(str(h) for h in items(header, "hosts"))), ", "
        ),
        _cpu(target),
        _text(target, "machine", "kernel"),
        _text(target, "machine", "hypervisor"),
        _mpi(target),
        _clock(target),
    ]
    shown = joined((part for part in parts if part), " · ")
    return line(muted(text_of(shown))) if shown else ()


def _fact(name: str, content: Inline, term: str | None) -> Fact | None:
    return Fact(line(plain(name, term=term)), content) if content else None


def _text(target: TargetReport, *path: str, otherwise: str | None = None) -> Inline:
    said = text(target.dataset.header, *path)
    if said is not None:
        return line(said)
    return (
        line(muted(otherwise)) if otherwise and members(target.dataset.header, *path[:-1]) else ()
    )


def _hosts(target: TargetReport) -> Inline:
    hosts = [str(host) for host in items(target.dataset.header, "hosts")]
    if not hosts:
        return ()
    distinct = list(dict.fromkeys(hosts))
    return line(", ".join(distinct), muted(f" ({len(hosts)} ranks)"))


def _cpu(target: TargetReport) -> Inline:
    model = text(target.dataset.header, "machine", "cpu_model")
    cores = number(target.dataset.header, "machine", "cores")
    if model is None and cores is None:
        return ()
    return line(model or "unknown", "" if cores is None else f", {format.count(cores)} cores")


def _clock(target: TargetReport) -> Inline:
    header = target.dataset.header
    name = text(header, "clock", "name")
    if name is None:
        return ()
    parts = [name]
    for member, words in (("resolution_ns", "step"), ("overhead_ns", "overhead of a reading")):
        value = number(header, "clock", member)
        if value is not None:
            parts.append(f"{words} {format.brief(value * 1e-9, 's')}")
    error = number(header, "clock", "frequency_relative_error")
    if error is not None:
        parts.append(f"frequency known to {error * 1e6:.2g} ppm")
    return line(", ".join(parts))


def _mpi(target: TargetReport) -> Inline:
    library = text(target.dataset.header, "mpi", "library")
    if library is None:
        return ()
    standard = text(target.dataset.header, "mpi", "standard")
    words = " ".join(library.split())
    return line(words, muted(f", MPI {standard}") if standard else "")


def _settings(target: TargetReport, *path: str) -> Inline:
    settings = members(target.dataset.header, *path)
    shown = list(settings.items())[:MOST_SETTINGS]
    parts = joined((line(code(f"{name}={_setting(setting)}")) for name, setting in shown), " ")
    more = len(settings) - len(shown)
    return (*parts, muted(f" and {more} more in the run file")) if more else parts


def _setting(setting: object) -> str:
    """A setting's value as one would type it."""
    match setting:
        case None:
            return "none"
        case bool():
            return "on" if setting else "off"
        case str():
            return setting
        case float() if setting.is_integer():
            return str(int(setting))
        case _:
            return json.dumps(setting, ensure_ascii=False, default=str)


def _binding(target: TargetReport) -> Inline:
    ranks = items(target.dataset.header, "binding")
    if not ranks:
        return ()
    words = [
        f"rank {rank}: {'CPU' if len(cpus) == 1 else 'CPUs'} {', '.join(str(c) for c in cpus)}"
        for rank, cpus in enumerate(ranks[:MOST_RANKS])
        if isinstance(cpus, list | tuple) and cpus
    ]
    if len(ranks) > MOST_RANKS:
        words.append(f"and {len(ranks) - MOST_RANKS} more ranks")
    return line("; ".join(words)) if words else ()


def _run(target: TargetReport) -> Inline:
    header = target.dataset.header
    parts = []
    created, run_id = text(header, "created"), text(header, "run_id")
    seed = text(header, "seed")
    if created:
        parts.append(moment(created))
    if run_id:
        parts.append(f"id {run_id}")
    if seed:
        parts.append(f"seed {seed}")
    version = text(header, "chiplog")
    if version:
        parts.append(f"chiplog {version}")
    return line(", ".join(parts)) if parts else ()


def _plan(target: TargetReport) -> Inline:
    series = target.dataset.series
    if not series:
        return ()
    launches = {s.launch for s in series}
    visits = {(s.launch, s.visit) for s in series}
    records = {(s.launch, s.record_id) for s in series}
    samples = sum(len(s.seconds) for s in series)
    seconds = sum(s.elapsed_seconds for s in series)
    warm = sum(len(s.warmup_seconds) for s in series)
    return line(
        f"{counted(len(launches), 'launch', 'launches')}, {counted(len(visits), 'visit')}, "
        f"{counted(len(records), 'record')}, {format.count(samples)} samples (and {format.count(warm)} of "
        f"warm-up, kept, not used), {format.duration(seconds)} of measuring"
    )


def _files(target: TargetReport) -> Inline:
    files = target.raw_files or ((target.dataset.source,) if target.dataset.source else ())
    return joined((line(code(name)) for name in files), ", ")
