"""Predictions on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from chiplog.cli.output import note
from chiplog.predict.result import LOWER_BOUND, Prediction
from chiplog.report import format


def print_predictions(rows: Sequence[Prediction]) -> None:
    """A row an algorithm, fastest first, the lower bound last; what is extrapolated is said on standard error."""
    table = Table(
        *("algorithm", "n", "time", "95 % interval", "verdict", "by", "extrapolated"),
        box=None,
        pad_edge=False,
    )
    for row in rows:
        seconds, interval = format.value_and_interval(row.seconds, row.low, row.high, "s")
        table.add_row(
            "lower bound" if row.algorithm == LOWER_BOUND else row.algorithm,
            "" if row.peers is None else str(row.peers),
            seconds,
            interval,
            "" if row.algorithm == LOWER_BOUND else row.verdict,
            f"{row.model}, {row.method}",
            "yes" if row.extrapolated else "",
        )
    Console().print(table)
    for reason in dict.fromkeys(row.reason for row in rows if row.reason):
        note(f"extrapolated: {reason}.")
