"""Predictions on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from chiplog.cli.output import note
from chiplog.predict.result import LOWER_BOUND, Prediction
from chiplog.report import format


def print_predictions(rows: Sequence[Prediction]) -> None:
    """A row an algorithm, fastest first, the lower bound last; why a row is extrapolated is said on standard error."""
    first = rows[0]
    ranks = "1 rank" if first.ranks == 1 else f"{first.ranks} ranks"
    table = Table(box=None, pad_edge=False)
    for title in ("algorithm", "n", "time", "95 % interval", "verdict", "by"):
        table.add_column(title, no_wrap=True)
    for row in rows:
        seconds, interval = format.value_and_interval(row.seconds, row.low, row.high, "s")
        is_bound = row.algorithm == LOWER_BOUND
        table.add_row(
            "lower bound" if is_bound else row.algorithm,
            "" if row.peers is None else str(row.peers),
            seconds,
            interval,
            "" if is_bound else row.verdict,
            ("" if is_bound else row.method) + (" *" if row.extrapolated else ""),
        )
    print(
        f"{first.operation}, {ranks}, {format.exact_bytes(first.bytes)}, by the fit of {first.model}"
    )
    Console().print(table)
    for reason in dict.fromkeys(row.reason for row in rows if row.reason):
        note(f"* extrapolated: {reason}.")
