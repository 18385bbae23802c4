"""What `chiplog app` prints: one screen of 80 columns."""

from __future__ import annotations

from chiplog.application.result import AppResult, RankCosts, Replay, Savings
from chiplog.cli.output import aligned, wrapped
from chiplog.counts import counted, number_ranges
from chiplog.report import format
from chiplog.report.application_words import (
    BETTER,
    alternative_sentence,
    communication_sentence,
    gain_words,
    replay_sentence,
    saving_words,
    tolerance_sentence,
)
from chiplog.simulation.sensitivity import Sensitivity

MOST_CALLS, MOST_RANK_LINES, MOST_RANKS_IN_MATRIX, MOST_PAIRS = 8, 12, 8, 10
"""Given: what a screen has room for."""
BAR_COLUMNS = 24
"""Given: how long the longest bar of the histogram is."""
FEW_DIGITS = 2
"""Given: digits of times by rank, so that ranks like each other read alike."""


def application_text(result: AppResult, *, details: bool) -> str:
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
            parts.append(_sensitivity(result.replay.sensitivity))
        if result.replay.savings is not None:
            parts.append(_savings(result.replay.savings, result.replay.seconds))
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
    """The columns of a rank; unless `exact`, to so few digits that ranks like each other read alike."""

    def time(seconds: float) -> str:
        if not seconds:
            return "0"
        return format.value(seconds, "s") if exact else format.value(seconds, "s", FEW_DIGITS)

    return (
        format.value(row.seconds - row.start_and_end_seconds, "s"),
        time(row.communication_seconds),
        format.percent(row.communication_share),
        time(row.late_sender_seconds),
        time(row.late_receiver_seconds),
        time(row.collective_seconds),
        format.volume(row.bytes_sent),
    )


def _calls(result: AppResult, *, details: bool) -> str:
    titles = ("call", "calls", "all ranks", "share", "waiting", "bytes")
    longest = [row for row in result.calls if row.seconds > 0 or not result.has_times]
    shown = result.calls if details else longest[:MOST_CALLS]
    total = sum(row.seconds for row in result.calls)
    table = [titles]
    for row in shown:
        share = result.share_of_communication(row)
        time = format.brief(row.seconds, "s") if result.has_times else "—"
        waiting = format.percent(row.waiting_seconds / row.seconds) if row.seconds > 0 else "—"
        volume = format.volume(row.bytes) if row.bytes else "—"
        of_all = "" if share is None else format.percent(share)
        table.append((row.call, format.count(row.calls), time, of_all, waiting, volume))
    text = aligned(table)
    rest = len(longest) - len(shown)
    if rest > 0:
        taken = format.value(total - sum(row.seconds for row in shown), "s", FEW_DIGITS)
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


def _sensitivity(sensitivity: Sensitivity) -> str:
    """What each better parameter saves, and from where on worse ones cost 1 %."""
    gains = [(BETTER[row.parameter], *gain_words(row)) for row in sensitivity.gains]
    title = ("if better", "saves", "95 %" if any(interval for *_, interval in gains) else "")
    tolerances = (wrapped(tolerance_sentence(row)) for row in sensitivity.tolerances)
    return "\n".join([aligned([title, *gains]), *tolerances])


def _savings(savings: Savings, seconds: float) -> str:
    """What saves how much of the replay's time, and how to do it; then what could not be tried."""
    lines = [
        wrapped(f"{number}. {row.what[0].upper()}{row.what[1:]} {saving_words(row, seconds)}.")
        for number, row in enumerate(savings.rows, 1)
    ]
    lines += [row.file.rstrip() for row in savings.rows if row.file is not None]
    if not lines:
        lines = [wrapped("Nothing that was tried surely saves time.")]
    return "\n".join([*lines, *(wrapped(f"Not tried: {reason}.") for reason in savings.untried)])
