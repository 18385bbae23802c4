"""Bench results on the terminal."""

from __future__ import annotations

from rich.table import Table

from chiplog.benchmarking.result import Bench
from chiplog.cli.output import say
from chiplog.cli.screen import Screen
from chiplog.report import format

MEANINGS = {
    "window": "common start to last exit",
    "barrier": "after a barrier, longest rank",
    "round": "many in a row, each",
}


def print_bench(bench: Bench) -> None:
    """A row a mode and variant; the mode to believe is marked."""
    say(
        f"{bench.operation}, {bench.ranks} ranks, {format.exact_bytes(bench.bytes)}, {bench.launches} launches, "
        f"{bench.mpi}"
    )
    table = Table(box=None, pad_edge=False)
    for title in ("mode", "by", "median", "95 % interval", "samples", "late"):
        table.add_column(title, no_wrap=True)
    for row in bench.rows:
        estimate = row.seconds
        seconds, interval = format.value_and_interval(
            estimate.value, estimate.low, estimate.high, "s"
        )
        mark = " *" if row.mode == bench.mode else ""
        meaning = f"{row.mode}: {MEANINGS[row.mode]}{mark}"
        table.add_row(meaning, row.variant, seconds, interval, str(row.samples), str(row.invalid))
    Screen(width=140).print(table)
    error, floor = (
        format.value_and_interval(duration, duration, duration, "s")[0]
        for duration in (bench.clock_error_seconds, bench.floor_seconds)
    )
    say(f"clocks agree within {error}, no operation at all takes {floor}; * is the mode to believe")
    if bench.library is not None:
        say(f"library: {bench.library}")
    if bench.ratios:
        chosen = bench.ratios[bench.mode]
        estimate = chosen.estimate
        say(
            f"library / MPI's own: {estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f}): {chosen.verdict}"
        )
