"""`chiplog report` as a function: run files and model files become one report."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from chiplog import __version__
from chiplog.dataset.operations import operation_text
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset, by_part
from chiplog.errors import ChiplogError, CorruptFile, UsageError
from chiplog.file_kind import MODEL, RUN, file_in
from chiplog.fitting.model_file import read_model
from chiplog.fitting.result import Cost
from chiplog.input_file import open_input
from chiplog.jobs.analysis import analyse
from chiplog.plan.assessment import ONE_TO_MANY, PAIRS
from chiplog.report.input import ReportInput, TargetReport
from chiplog.report.write import check_suffix, write_report

OVER_PEERS = {ONE_TO_MANY, "send_overhead", "receive_overhead"}
TITLE = "chiplog: how this machine communicates"


def report(
    files: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    command: Sequence[str] = (),
) -> tuple[ReportInput, list[ChiplogError]]:
    """Analyse run files, read model files, and write the report `out` (.html or .md) of them all.

    A run of `one_to_many` or `pairs` alone belongs to another run of the same target.

    Also returns an error for each file that is left out: one that is damaged or can't be opened. Raises the first of
    them where nothing else is left, and UsageError for another suffix.
    """
    check_suffix(out)
    if not files:
        raise UsageError("FILE: is missing; name at least one run file or model file.")
    targets: list[TargetReport] = []
    left_out: list[ChiplogError] = []
    for file in files:
        try:
            targets += target_reports(file)
        except (CorruptFile, UsageError) as error:
            left_out.append(error)
    if left_out and not targets:
        raise left_out[0]
    made = report_input(joined(targets), command=command)
    write_report(made, out)
    return made, left_out


def joined(targets: Sequence[TargetReport]) -> list[TargetReport]:
    """The targets, each run of one pattern of many processes as a part of its target's first other run."""
    parts = {
        id(target): pattern
        for target in targets
        if (pattern := _only_pattern(target.dataset)) is not None
    }
    joined_targets = [target for target in targets if id(target) not in parts]
    for target in targets:
        pattern = parts.get(id(target))
        if pattern is None:
            continue
        place = next(
            (i for i, main in enumerate(joined_targets) if _takes(main, target.name, pattern)), None
        )
        if place is None:
            joined_targets.append(target)
        elif pattern == ONE_TO_MANY:
            joined_targets[place] = replace(joined_targets[place], one_to_many=target)
        else:
            joined_targets[place] = replace(joined_targets[place], pairs=target)
    return joined_targets


def _takes(main: TargetReport, name: str, pattern: str) -> bool:
    if main.name != name or _only_pattern(main.dataset) is not None:
        return False
    return (main.one_to_many if pattern == ONE_TO_MANY else main.pairs) is None


def _only_pattern(dataset: Dataset) -> str | None:
    """`one_to_many` or `pairs`, where the dataset was measured for it alone."""
    patterns = {series.pattern for series in dataset.series}
    if patterns == {PAIRS}:
        return PAIRS
    return ONE_TO_MANY if ONE_TO_MANY in patterns and patterns <= OVER_PEERS else None


def report_input(
    targets: Sequence[TargetReport], *, command: Sequence[str] = (), seconds: float | None = None
) -> ReportInput:
    """The input of a report on `targets`; `seconds` is the wall-clock time of all that led to it."""
    series = [
        one_series for target in targets for run in target.runs for one_series in run.dataset.series
    ]
    measured = sum(one_series.elapsed_seconds for one_series in series)
    return ReportInput(
        title=TITLE,
        targets=tuple(targets),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        command=tuple(command),
        cost=Cost(
            sum(one_series.messages for one_series in series),
            sum(one_series.bytes_sent for one_series in series),
            measured if seconds is None else seconds,
        ),
        versions=(
            ("chiplog", __version__),
            ("Python", platform.python_version()),
            *((name, version(name)) for name in ("numpy", "scipy")),
        ),
    )


def _of_path(name: str, dataset: Dataset, raw_file: str) -> Iterator[TargetReport]:
    """What a run, or a part of it, tells: of each operation and posting, where it has several."""
    ways = dataset.by_way()
    if len(ways) < 2 or any(series.pattern == ONE_TO_MANY for series in dataset.series):
        yield analyse(name, dataset, raw_file=raw_file)
        return
    for way, part in ways.items():
        yield analyse(f"{name}, {operation_text(*way)}", part, raw_file=raw_file)


def target_reports(file: str | os.PathLike[str]) -> tuple[TargetReport, ...]:
    """What one run file or model file tells; a model file has no samples to show.

    A run between two ranks tells of each operation and posting apart; one process to many shows them side by side. So
    does an imported file with several parts of each of them.
    """
    path = Path(file_in(file, MODEL, RUN))
    with open_input(path) as stream:
        is_run = b'"type":"header"' in stream.readline(4096)
    if is_run:
        dataset = read_run(path)
        name = str(dataset.header["target"])
        parts = {None: dataset} if _only_pattern(dataset) else by_part(dataset)
        return tuple(
            target_report
            for part, series in parts.items()
            for target_report in _of_path(f"{name}, {part}" if part else name, series, str(path))
        )
    fits = read_model(path)
    transport = fits[0].transport if fits else "unknown"
    dataset = Dataset({"target": path.name, "transport": transport}, (), True, str(path))
    return (TargetReport(path.name, dataset, fits, consensus=fits[0].changes if fits else ()),)
