"""Predictions on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from chiplog.cli.output import aligned, note, rejected_text, say
from chiplog.prediction.result import LOWER_BOUND, Prediction
from chiplog.report import format


def print_predictions(rows: Sequence[Prediction]) -> None:
    """A row an algorithm, fastest first, the lower bound last; why a row is extrapolated is said on standard error."""
    first = rows[0]
    ranks = "1 rank" if first.ranks == 1 else f"{first.ranks} ranks"
    table = [("algorithm", "n", "time", "95 % interval", "verdict", "by")]
    for row in rows:
        seconds, interval = format.value_and_interval(row.seconds, row.low, row.high, "s")
        is_bound = row.algorithm == LOWER_BOUND
        table.append(
            (
                "lower bound" if is_bound else row.algorithm,
                "" if row.peers is None else str(row.peers),
                seconds,
                interval,
                "" if is_bound else row.verdict,
                ("" if is_bound else row.method) + (" *" if row.extrapolated else ""),
            )
        )
    say(
        f"{first.operation}, {ranks}, {format.exact_bytes(first.bytes)}, by the fit of {first.model}"
    )
    say(aligned(table))
    if first.rejected is not None:
        note(rejected_text(first.rejected))
    for reason in dict.fromkeys(row.reason for row in rows if row.reason):
        note(f"* extrapolated: {reason}.")
