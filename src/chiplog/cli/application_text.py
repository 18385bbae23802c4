"""What `chiplog app` prints: one screen of 80 columns."""

from __future__ import annotations

from chiplog.application.result import AppResult, RankCosts, Replay
from chiplog.cli.output import aligned, wrapped
from chiplog.cli.savings_text import savings_text
from chiplog.cli.sensitivity_text import sensitivity_text
from chiplog.counts import counted, number_ranges
from chiplog.report import format
from chiplog.report.application_words import (
    alternative_sentence,
    communication_sentence,
    replay_sentence,
)

MOST_CALLS = 8
MOST_RANK_LINES = 12
MOST_RANKS_IN_MATRIX = 8
MOST_PAIRS = 10
BAR_COLUMNS = 24
"""How long the longest bar of the histogram is."""


def application_text(result: AppResult, *, details: bool = False) -> str:
    """What communication takes, then tables by rank, call, size and pair; with `details`, all their rows."""
    parts = [wrapped(communication_sentence(result))]
    if result.has_times:
        parts.append(_ranks(result, details=details))
    parts.append(_calls(result, details=details))
    if result.sizes:
        parts += [_sizes(result), _pairs(result, details=details)]
    if result.replay is not None:
        parts.append(_replay(result.replay))
        if result.replay.sensitivity is not None:
            parts.append(sensitivity_text(result.replay.sensitivity))
        if result.replay.savings is not None:
            parts.append(savings_text(result.replay.savings, result.replay.seconds))
    return "\n\n".join(parts)


def _ranks(result: AppResult, *, details: bool) -> str:
    """A line for all ranks that read alike; those with most time in MPI first, where there are too many."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for row in sorted(result.rows, key=lambda row: -row.mpi_seconds):
        groups.setdefault(_rank_cells(row, exact=details), []).append(row.rank)
    lines = list(groups.items())
    shown = lines if details else _ends(lines)
    titles = ("ranks", "time", "in MPI", "", "late sender", "late receiver", "others late", "sent")
    table = [titles, *((number_ranges(ranks), *cells) for cells, ranks in shown)]
    text = aligned(table)
    if len(shown) < len(lines):
        text += f"\n{counted(len(lines) - len(shown), 'line')} between these left out: --details"
    return text


def _ends(
    lines: list[tuple[tuple[str, ...], list[int]]],
) -> list[tuple[tuple[str, ...], list[int]]]:
    half = MOST_RANK_LINES // 2
    return lines if len(lines) <= MOST_RANK_LINES else lines[:half] + lines[-half:]


def _rank_cells(row: RankCosts, *, exact: bool) -> tuple[str, ...]:
    """The columns of a rank; to two digits, so that ranks like each other read alike."""

    def time(seconds: float) -> str:
        return format.value(seconds, "s", digits=4 if exact else 2) if seconds else "0"

    return (
        format.value(row.seconds - row.start_and_end_seconds, "s", digits=4),
        time(row.communication_seconds),
        format.percent(row.communication_share),
        time(row.late_sender_seconds),
        time(row.late_receiver_seconds),
        time(row.collective_seconds),
        format.volume(row.bytes_sent),
    )


def _calls(result: AppResult, *, details: bool) -> str:
    titles = ("call", "calls", "time, all ranks", "waiting", "bytes")
    longest = [row for row in result.calls if row.seconds > 0 or not result.has_times]
    shown = result.calls if details else longest[:MOST_CALLS]
    total = sum(row.seconds for row in result.calls)
    table = [titles]
    for row in shown:
        share = f"  {format.percent(row.seconds / total)}" if total > 0 else ""
        time = f"{format.value(row.seconds, 's', digits=3)}{share}" if result.has_times else "—"
        waiting = format.percent(row.waiting_seconds / row.seconds) if row.seconds > 0 else "—"
        volume = format.volume(row.bytes) if row.bytes else "—"
        table.append((row.call, format.count(row.calls), time, waiting, volume))
    text = aligned(table)
    rest = len(longest) - len(shown)
    if rest > 0:
        taken = format.value(total - sum(row.seconds for row in shown), "s", digits=2)
        text += f"\nand {counted(rest, 'more function')}"
        text += f", {taken} in all" if result.has_times else ""
        text += ": --details shows all"
    return text


def _sizes(result: AppResult) -> str:
    most = max(row.messages for row in result.sizes)
    table = [("message size", "messages", "bytes", "")]
    for row in result.sizes:
        ends = dict.fromkeys((f"{row.first_bytes:,}", f"{row.last_bytes:,}"))
        bar = "#" * max(1, round(BAR_COLUMNS * row.messages / most))
        table.append(
            (f"{' to '.join(ends)} B", format.count(row.messages), format.volume(row.bytes), bar)
        )
    return aligned(table)


def _pairs(result: AppResult, *, details: bool) -> str:
    if result.ranks <= MOST_RANKS_IN_MATRIX:
        return _matrix(result)
    shown = result.pairs if details else result.pairs[:MOST_PAIRS]
    table = [("from", "to", "messages", "bytes")]
    table += [
        (
            str(row.source),
            str(row.destination),
            format.count(row.messages),
            format.volume(row.bytes),
        )
        for row in shown
    ]
    text = aligned(table)
    if len(shown) < len(result.pairs):
        text += f"\nand {counted(len(result.pairs) - len(shown), 'more pair')}: --details shows all"
    return text


def _matrix(result: AppResult) -> str:
    """Bytes from each rank, a row, to each rank, a column."""
    moved = {(row.source, row.destination): format.volume(row.bytes) for row in result.pairs}
    ranks = range(result.ranks)
    table = [("bytes from \\ to", *map(str, ranks))]
    table += [
        (str(source), *(moved.get((source, destination), "—") for destination in ranks))
        for source in ranks
    ]
    return aligned(table)


def _replay(replay: Replay) -> str:
    """What the model says, and by which algorithms."""
    ways = "; ".join(f"{call} as {way}" for call, way in replay.algorithms.items())
    sentences = [replay_sentence(replay)]
    if ways:
        sentences.append(f"Collectives: {ways}.")
    sentences += map(alternative_sentence, replay.alternatives)
    sentences += [f"{note[0].upper()}{note[1:]}." for note in replay.notes]
    return "\n".join(map(wrapped, sentences))
