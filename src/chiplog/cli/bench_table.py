"""Bench results on the terminal."""

from __future__ import annotations

from rich.table import Table

from chiplog.benchmarking.result import Bench
from chiplog.cli.output import COLUMNS, say, wrapped
from chiplog.cli.screen import Screen
from chiplog.counts import counted
from chiplog.report import format

MEANINGS = {
    "window": "window: start to last exit",
    "barrier": "barrier: longest rank after",
    "round": "round: many in a row, each",
}


def print_bench(bench: Bench) -> None:
    """The verdict, and a row a mode and variant; the mode to believe is marked."""
    _print_verdict(bench)
    about = (
        counted(bench.ranks, "rank"),
        f"{format.exact_bytes(bench.bytes)} of {bench.datatype}s",
        counted(bench.launches, "launch", "launches"),
    )
    say(wrapped(f"{bench.operation}, {', '.join(about)}, {bench.mpi}"))
    table = Table(box=None, pad_edge=False)
    for title in ("mode", "by", "median", "95 % interval", "samples", "late"):
        table.add_column(title, no_wrap=title != "mode")
    for row in bench.rows:
        estimate = row.seconds
        seconds, interval = format.value_and_interval(
            estimate.value, estimate.low, estimate.high, "s"
        )
        mark = " *" if row.mode == bench.mode else ""
        meaning = f"{MEANINGS[row.mode]}{mark}"
        table.add_row(meaning, row.variant, seconds, interval, str(row.samples), str(row.invalid))
    Screen(width=COLUMNS).print(table)
    error, floor = (
        format.value_and_interval(duration, duration, duration, "s")[0]
        for duration in (bench.clock_error_seconds, bench.floor_seconds)
    )
    say(
        wrapped(
            f"Clocks agree within {error}; a window without any operation takes {floor}; * is the mode to believe."
        )
    )
    if bench.library is not None:
        say(wrapped(f"library: {bench.library}"))


def _print_verdict(bench: Bench) -> None:
    if not bench.ratios:
        return
    chosen = bench.ratios[bench.mode]
    estimate = chosen.estimate
    interval = f"{estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"
    because = f", because {chosen.reason}" if chosen.reason else ""
    say(wrapped(f"library / MPI's own: {interval}: {chosen.verdict}{because}."))
