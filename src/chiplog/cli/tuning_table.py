"""Tunings on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rich.console import Console
from rich.table import Table

from chiplog.cli.output import note
from chiplog.report import format
from chiplog.tune.choice import Choice, Tuning


def print_tuning(tuning: Tuning, *, details: bool = False) -> None:
    """A row for each run of ranks with the same choice; the gain is that of the run's first number of ranks.

    With `details` the ranking of all algorithms, too, at that number of ranks.
    """
    table = Table(box=None, pad_edge=False)
    for title in ("ranks", "bytes", "in force", "n", "best", "gain", "95 % interval", "verdict"):
        table.add_column(title, no_wrap=True)
    for first, last in _runs(tuning):
        ranks = str(first.ranks) if first.ranks == last.ranks else f"{first.ranks}-{last.ranks}"
        best = first.best if first.best_peers is None else f"{first.best}, n = {first.best_peers}"
        table.add_row(
            ranks + (" *" if first.extrapolated or last.extrapolated else ""),
            format.exact_bytes(first.message_bytes),
            first.algorithm if first.is_changed else f"default ({first.algorithm})",
            "" if first.peers is None else str(first.peers),
            best,
            f"{first.gain:.1%}",
            f"{first.gain_low:.1%} to {first.gain_high:.1%}",
            first.verdict,
        )
    print(f"{tuning.operation}, by the fit of {tuning.model}")
    Console(width=160).print(table)
    if details:
        print("\nAll algorithms, by the time in the middle of what the data leave:")
        Console(width=160).print(_rankings(tuning))
    reasons = [one.extrapolated for one in tuning.choices if one.extrapolated]
    if reasons:
        note(f"* extrapolated: {reasons[-1]}.")


def _rankings(tuning: Tuning) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("ranks", "bytes", "algorithm", "n", "time"):
        table.add_column(title, no_wrap=True)
    for first, _ in _runs(tuning):
        for one in first.ranking:
            table.add_row(
                str(first.ranks),
                format.exact_bytes(first.message_bytes),
                one.algorithm,
                "" if one.peers is None else str(one.peers),
                format.value(one.seconds, "s"),
            )
    return table


def _runs(tuning: Tuning) -> Iterator[tuple[Choice, Choice]]:
    """The first and the last choice of each run, size by size."""
    ordered = sorted(tuning.choices, key=lambda one: (one.message_bytes, one.ranks))
    for _, group in groupby(
        ordered,
        lambda one: (
            one.message_bytes,
            one.verdict,
            one.algorithm,
            one.peers,
            one.best,
            one.best_peers,
        ),
    ):
        run = list(group)
        yield run[0], run[-1]
