"""Results on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from chiplog.compare.result import IN_SAMPLE, ModelRow, RunRow
from chiplog.dataset.operations import NORMAL, operation_text
from chiplog.dataset.series import Dataset
from chiplog.fit.changes import ChangesResult
from chiplog.fit.result import Change, Fit
from chiplog.jobs.report import report_input
from chiplog.report import format
from chiplog.report.input import TargetReport
from chiplog.report.terminal import print_report


def print_fits(fits: tuple[Fit, ...], dataset: Dataset, run: Path) -> None:
    """The fits of one run, as the report shows them."""
    target = TargetReport(
        str(dataset.header["target"]),
        dataset,
        fits,
        consensus=fits[0].changes,
        raw_files=(str(run),),
    )
    print_report(report_input([target]), Console())


def print_changes(found: Mapping[tuple[str, str], ChangesResult]) -> None:
    """Of each operation and posting the consensus, then what each series shows."""
    for way, result in found.items():
        of_what = f" of {operation_text(*way)}" if len(found) > 1 else ""
        print(f"consensus{of_what}: " + _changes(result.consensus))
        for series in result.series:
            print(
                f"{series.quantity} ({series.pattern}, {series.operation}): {_changes(series.changes)}"
            )
            if series.would_tell:
                sizes = ", ".join(map(format.exact_bytes, series.would_tell))
                print(f"    the sizes are too far apart to tell jumps from slopes: measure {sizes}")


def _changes(changes: tuple[Change, ...]) -> str:
    return "; ".join(map(_change, changes)) or "no protocol change"


def _change(change: Change) -> str:
    place = (
        f"above {format.exact_bytes(change.last_before_bytes)}, "
        f"at or below {format.exact_bytes(change.first_after_bytes)} ({change.kind})"
    )
    if change.crossing_bytes is None:
        return place
    return f"{place}, better at {format.exact_bytes(change.crossing_bytes)}"


def print_comparison(rows: Sequence[ModelRow | RunRow]) -> None:
    """Either comparison as tables."""
    of_runs = [row for row in rows if isinstance(row, RunRow)]
    if of_runs:
        Console().print(_run_table(of_runs))
    of_models = [row for row in rows if isinstance(row, ModelRow)]
    for alike in dict.fromkeys(map(_said_above, of_models)):
        for sentence in alike:
            Console(highlight=False).print(sentence)
        Console().print(_model_table([row for row in of_models if _said_above(row) == alike]))


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


def _model_table(rows: Sequence[ModelRow]) -> Table:
    """A row a model; what no row has gets no column."""
    inside = [row.inside_prediction_interval for row in rows]
    known = ["in 95 % interval"] if any(share is not None for share in inside) else []
    table = Table(
        *("model", "method", "points", "median", "mean", "largest", "fitted", *known),
        box=None,
        pad_edge=False,
    )
    for row, share in zip(rows, inside, strict=True):
        errors = (row.error.median_relative, row.error.mean_relative, row.error.max_relative)
        table.add_row(
            row.model,
            row.method,
            str(row.error.points),
            *map(format.percent, errors),
            str(row.parameters),
            *(format.percent(share) for _ in known),
        )
    return table


def _run_table(rows: Sequence[RunRow]) -> Table:
    table = Table(
        *(
            "pattern",
            "train",
            "pairs",
            "peers",
            "size",
            "B / A",
            "95 % interval",
            "verdict",
            "reason",
        ),
        box=None,
        pad_edge=False,
    )
    for row in rows:
        table.add_row(
            row.what.label,
            str(row.what.train),
            str(row.what.pairs),
            str(row.what.peers),
            "all" if row.message_bytes is None else format.exact_bytes(row.message_bytes),
            f"{row.ratio:.3f}",
            f"{row.low:.3f} to {row.high:.3f}",
            row.verdict,
            row.reason,
        )
    return table
