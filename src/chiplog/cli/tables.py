"""Results on the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from chiplog.cli.output import SCREEN_ROWS, aligned, say, wrapped
from chiplog.comparison.best import best_rows
from chiplog.comparison.result import IN_SAMPLE, ModelRow, RunRow
from chiplog.counts import counted
from chiplog.dataset.operations import NORMAL, operation_text
from chiplog.dataset.series import Dataset
from chiplog.fitting.result import Fit
from chiplog.jobs.report import report_input
from chiplog.protocol_changes.change import Change
from chiplog.protocol_changes.result import ChangesResult
from chiplog.report import format
from chiplog.report.input import TargetReport
from chiplog.report.terminal import print_report

INDENT = "    "


def print_fits(fits: tuple[Fit, ...], dataset: Dataset, run: Path) -> None:
    """The fits of one run, as the report shows them."""
    target = TargetReport(
        str(dataset.header["target"]),
        dataset,
        fits,
        consensus=fits[0].changes,
        raw_files=(str(run),),
    )
    print_report(report_input([target]))


def print_changes(found: Mapping[tuple[str, str], ChangesResult], *, details: bool) -> None:
    """Of each operation and posting the consensus; with `details` what each series shows, too."""
    for way, result in found.items():
        of_what = f" of {operation_text(*way)}" if len(found) > 1 else ""
        say(wrapped(f"consensus{of_what}: {_changes(result.consensus)}", INDENT))
        if details:
            for series in result.series:
                what = f"{series.label} ({series.pattern}, {series.operation})"
                say(wrapped(f"{what}: {_changes(series.changes)}", INDENT))
        unsure = sorted({size for series in result.series for size in series.would_tell})
        if unsure:
            sizes = ", ".join(map(format.exact_bytes, unsure))
            said = f"The sizes are too far apart to tell jumps from slopes; measure {sizes}."
            say(wrapped(said, INDENT))
        for end in result.ends:
            sizes = ", ".join(map(format.exact_bytes, end.would_tell))
            say(wrapped(f"{end} Measure {sizes}.", INDENT))
    if not details:
        say("What each series shows: --details")


def _changes(changes: tuple[Change, ...]) -> str:
    return "; ".join(map(_change, changes)) or "no protocol change"


def _change(change: Change) -> str:
    place = (
        f"above {format.exact_bytes(change.last_before_bytes)}, "
        f"at or below {format.exact_bytes(change.first_after_bytes)} ({change.kind})"
    )
    if change.crossing_bytes is None or not change.is_crossing_measured:
        return place
    return f"{place}, the lines cross at {format.exact_bytes(change.crossing_bytes)}"


def print_comparison(rows: Sequence[ModelRow | RunRow], *, details: bool) -> None:
    """Either comparison as tables; of runs only what differs, unless `details` are wanted."""
    of_runs = [row for row in rows if isinstance(row, RunRow)]
    if of_runs:
        _print_runs(of_runs, details=details)
    of_models = [row for row in rows if isinstance(row, ModelRow)]
    for alike in dict.fromkeys(map(_said_above, of_models)):
        for sentence in alike:
            say(wrapped(sentence))
        table = [row for row in of_models if _said_above(row) == alike]
        say(aligned(_model_table(table)))
        for best in best_rows(table):
            say(f"best: {best.model} by {best.method}")


def _said_above(row: ModelRow) -> tuple[str, ...]:
    """What a table of models says in sentences, not in columns: the same for all of its rows."""
    what = "Errors of predictions"
    if (row.operation, row.posting) != ("send", NORMAL):
        what += f" of {operation_text(row.operation, row.posting)}"
    said = [f"{what}; held out: {row.held_out or IN_SAMPLE}."]
    if row.repeatability is not None:
        repeated = format.percent(row.repeatability)
        said.append(f"Repeatability: two visits of a size differ by {repeated} (median).")
    return tuple(said)


def _model_table(rows: Sequence[ModelRow]) -> list[tuple[str, ...]]:
    """A row a model; what no row has gets no column."""
    inside = [row.inside_prediction_interval for row in rows]
    known = ["in 95 % interval"] if any(share is not None for share in inside) else []
    titles = ("model", "method", "points", "median", "mean", "largest", "fitted", *known)
    table: list[tuple[str, ...]] = [titles]
    for row, share in zip(rows, inside, strict=True):
        errors = (row.error.median_relative, row.error.mean_relative, row.error.max_relative)
        table.append(
            (
                row.model,
                row.method,
                str(row.error.points),
                *map(format.percent, errors),
                str(row.parameters),
                *(format.percent(share) for _ in known),
            )
        )
    return table


def _print_runs(rows: Sequence[RunRow], *, details: bool) -> None:
    """The whole in a sentence, then what differs, a line a range of sizes; with `details`, all rows."""
    *parts, whole = rows
    differs = [row for row in parts if row.verdict in ("slower", "faster")]
    lines = _by_range(differs)
    shown = [[row] for row in parts] if details else _worst(lines)
    say(wrapped(f"Over all sizes, {WHOLE_WORDS[whole.verdict]}: {whole.reason}"))
    if shown:
        say(aligned(_run_table(shown)))
    if len(shown) < len(lines):
        say(
            f"{counted(len(lines) - len(shown), 'more differs', 'more differ')}: --details shows all."
        )


WHOLE_WORDS = {
    "slower": "B is slower",
    "faster": "B is faster",
    "same": "B is the same",
    "unclear": "it is unclear whether B differs",
}


def _by_range(rows: Sequence[RunRow]) -> list[list[RunRow]]:
    """The rows, those of one pattern together that follow one range of sizes."""
    groups: dict[object, list[RunRow]] = {}
    for row in rows:
        key = row.message_bytes if row.range is None else row.range
        groups.setdefault((row.what, key), []).append(row)
    return list(groups.values())


def _worst(lines: Sequence[list[RunRow]]) -> list[list[RunRow]]:
    """The lines that differ most, in their own order."""
    kept = sorted(lines, key=lambda line: -abs(math.log(line[0].level)))[:SCREEN_ROWS]
    return [line for line in lines if line in kept]


def _run_table(lines: Sequence[Sequence[RunRow]]) -> list[tuple[str, ...]]:
    """A line for each group of rows: with the interval of its range, or its own where it is one row."""
    every = [row for line in lines for row in line]
    counts = [
        name
        for name in ("train", "pairs", "peers")
        if {getattr(row.what, name) for row in every} != {1}
    ]
    titles = ("pattern", *counts, "size", "B / A", "99 % interval", "verdict")
    table: list[tuple[str, ...]] = [titles]
    for first, *others in lines:
        last = others[-1] if others else first
        interval = first.range if others and first.range is not None else first
        sizes = [format.exact_bytes(row.message_bytes or 0) for row in (first, last)]
        table.append(
            (
                first.what.label,
                *(str(getattr(first.what, name)) for name in counts),
                " to ".join(dict.fromkeys(sizes)),
                f"{interval.ratio:.3f}",
                f"{interval.low:.3f} to {interval.high:.3f}",
                first.verdict,
            )
        )
    return table
