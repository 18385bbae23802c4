"""What `chiplog bench` prints: times of an operation, or violated performance guidelines."""

from __future__ import annotations

from collections.abc import Sequence

from chiplog.benchmarking.page import message_words, ratio_table, short_names, time_table
from chiplog.benchmarking.result import Bench
from chiplog.cli.output import SCREEN_ROWS, aligned, say, wrapped
from chiplog.counts import counted
from chiplog.report import format
from chiplog.report.document import text_of
from chiplog.tune.guidelines.guideline import TimedCall
from chiplog.tune.guidelines.judge import GuidelineFinding, GuidelineJudgement
from chiplog.tune.measured.candidate import DEFAULT_NAME
from chiplog.tune.measured.launch import Cell

MEANINGS = {
    "window": "window: start to last exit",
    "barrier": "barrier: longest rank after",
    "round": "round: many in a row, each",
}
TITLES = ("ranks", "slow", "faster", "factor", "95 % interval")


def print_bench(bench: Bench) -> None:
    """The verdict, and a row a mode and variant; the mode to believe is marked."""
    _print_verdict(bench)
    about = (
        counted(bench.ranks, "rank"),
        *message_words(bench),
        counted(bench.launches, "launch", "launches"),
        short_names([bench])[bench.mpi],
    )
    say(wrapped(", ".join((bench.operation, *about))))
    table = [("mode", "by", "median", "95 % interval", "samples", "late")]
    for row in bench.rows:
        estimate = row.seconds
        seconds, interval = format.value_and_interval(
            estimate.value, estimate.low, estimate.high, "s"
        )
        mark = " *" if row.mode == bench.mode else ""
        counts = (str(row.samples), str(row.invalid))
        table.append((f"{MEANINGS[row.mode]}{mark}", row.variant, seconds, interval, *counts))
    say(aligned(table))
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


def print_benches(benches: Sequence[Bench]) -> None:
    """One result in full, or the table of several: the library over the MPI's own, or the MPI's own times alone."""
    if len(benches) == 1:
        print_bench(benches[0])
        return
    first = benches[0]
    launches = f"{counted(first.launches, 'launch', 'launches')} each"
    mpis = short_names(benches).values()
    say(wrapped(", ".join((first.operation, *message_words(first), launches, *mpis))))
    made = ratio_table if first.ratios else time_table
    table = made(benches, is_brief=len(mpis) > 1)
    titles = tuple(text_of(column.title) for column in table.columns)
    say(aligned([titles, *(tuple(map(text_of, row)) for row in table.rows)]))
    for sentence in (*table.notes, table.caption):
        say(wrapped(text_of(sentence)))


def _print_verdict(bench: Bench) -> None:
    if not bench.ratios:
        return
    chosen = bench.ratios[bench.mode]
    estimate = chosen.estimate
    interval = f"{estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"
    because = f", because {chosen.reason}" if chosen.reason else ""
    say(wrapped(f"library / MPI's own: {interval}: {chosen.verdict}{because}."))


def print_guidelines(judgement: GuidelineJudgement) -> None:
    """The answer, a row for each violation, and what could not be said."""
    violations, count = judgement.violations, len(judgement.findings)
    say(wrapped(f"{judgement.source}: {_answer(len(violations), count)}"))
    if violations:
        say(aligned([TITLES, *map(_guideline_row, violations[:SCREEN_ROWS])]))
    if len(violations) > SCREEN_ROWS:
        say(f"{counted(len(violations) - SCREEN_ROWS, 'more violation')} (--json)")
    if suspects := len(judgement.suspects):
        say(
            wrapped(
                f"Not told: {counted(suspects, 'more guideline')} that may be violated; more --launches may tell."
            )
        )
    for call, reason in judgement.refused.items():
        say(wrapped(f"left out: {_text(call)}: {reason}", "  "))


def _answer(violated: int, count: int) -> str:
    if not violated:
        return f"no violation is sure among {counted(count, 'guideline')}."
    are = "is" if violated == 1 else "are"
    return f"{violated} of {counted(count, 'guideline')} {are} surely violated (95 %)."


def _guideline_row(finding: GuidelineFinding) -> tuple[str, ...]:
    factor, interval = format.value_and_interval(
        finding.factor, finding.factor_low, finding.factor_high, ""
    )
    cell = finding.guideline.call.cell
    return str(cell.ranks), _name(cell), _other(finding), factor, interval


def _other(finding: GuidelineFinding) -> str:
    """What differs."""
    other = finding.guideline.other
    if other.emulation != DEFAULT_NAME:
        return other.emulation
    if finding.guideline.kind == "size":
        return format.message_size(other.cell.message_bytes)
    return counted(other.cell.ranks, "rank")


def _name(cell: Cell) -> str:
    size = "" if cell.operation == "barrier" else f" {format.message_size(cell.message_bytes)}"
    return f"{cell.operation}{size}"


def _text(call: TimedCall) -> str:
    by = "" if call.emulation == DEFAULT_NAME else f" by {call.emulation}"
    return f"{_name(call.cell)}{by}, {counted(call.cell.ranks, 'rank')}"
