"""Predictions on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chiplog.cli.output import aligned, note, rejected_text, say, wrapped
from chiplog.counts import counted
from chiplog.prediction.correction import Correction, CorrectionKind
from chiplog.prediction.error_table import ErrorShare
from chiplog.prediction.result import LOWER_BOUND, Prediction
from chiplog.report import format

MOST_NAMED = 8
"""Given: numbers of ranks that a line has room for."""


def print_predictions(rows: Sequence[Prediction]) -> None:
    """A row an algorithm, fastest first, the lower bound last, for one number of ranks after the other.

    Why a row is extrapolated is said on standard error.
    """
    first, counts = rows[0], tuple(dict.fromkeys(row.ranks for row in rows))
    table = [("ranks", "algorithm", "n", "time", "95 % interval", "verdict", "by")]
    for row in rows:
        seconds, interval = format.value_and_interval(row.seconds, row.low, row.high, "s")
        is_bound = row.algorithm == LOWER_BOUND
        table.append(
            (
                str(row.ranks),
                "lower bound" if is_bound else row.algorithm,
                "" if row.peers is None else str(row.peers),
                seconds,
                interval,
                "" if is_bound else row.verdict,
                ("" if is_bound else row.method) + (" *" if row.extrapolated else ""),
            )
        )
    say(
        f"{first.operation}, {_ranks_text(counts)}, {format.exact_bytes(first.bytes)}, by the fit of {first.model}"
    )
    say(f"time: {first.convention.in_words}")
    say(aligned(table if len(counts) > 1 else [cells[1:] for cells in table]))
    for row in rows:
        name = (
            f"{row.algorithm}, {counted(row.ranks, 'rank')}" if len(counts) > 1 else row.algorithm
        )
        if row.correction is not None:
            say(wrapped(f"{name}: {correction_text(row.correction)}", "  "))
        if row.longest_seconds is not None:
            say(f"{name}: longest rank {format.value(row.longest_seconds, 's')}")
    for line in _error_lines(rows):
        say(line)
    if first.rejected is not None:
        note(rejected_text(first.rejected))
    for reason in dict.fromkeys(row.reason for row in rows if row.reason):
        note(f"* extrapolated: {reason}.")


def _ranks_text(counts: Sequence[int]) -> str:
    if len(counts) == 1:
        return counted(counts[0], "rank")
    if len(counts) > MOST_NAMED:
        return f"{counts[0]} to {counts[-1]} ranks"
    return f"{', '.join(map(str, counts))} ranks"


def correction_text(correction: Correction) -> str:
    """What anchors made of a model's time, and how well they predict each other."""
    uncorrected = format.percent(correction.uncorrected_error)
    by = f"by {correction.anchors} anchor{'s' if correction.anchors > 1 else ''}"
    by += "" if correction.is_of_asked_size else " of other sizes"
    if correction.left_out_error is None:
        judged = f"missed by {uncorrected} without correction"
    elif correction.kind is CorrectionKind.NONE:
        return f"not corrected {by}, which are missed by {uncorrected} (median): no correction meets them better."
    else:
        left_out = format.percent(correction.left_out_error)
        judged = f"left out, an anchor is missed by {left_out}, without correction by {uncorrected} (medians)"
    if correction.carried_width > 0.0:
        judged += (
            ". Anchors of one number of ranks, or one size, do not tell how that changes the correction, "
            "so the interval is as wide as it"
        )
    shared = ", with sends at once sharing the network" if correction.shares_network else ""
    return f"corrected {_numbers_text(correction)} {by}{shared}; {judged}."


def _numbers_text(correction: Correction) -> str:
    """The numbers of a correction with their intervals."""
    factor, offset = correction.factor, correction.offset_seconds_per_round
    parts = []
    if correction.kind is not CorrectionKind.OFFSET:
        times = format.with_interval(factor.value, factor.low, factor.high, "")
        parts.append(f"times {times}")
    if offset.value > 0.0 or correction.kind is CorrectionKind.OFFSET:
        plus = format.with_interval(offset.value, offset.low, offset.high, "s")
        parts.append(f"plus {plus} a round")
    return " ".join(parts)


def _error_lines(rows: Sequence[Prediction]) -> Iterator[str]:
    """What a table of errors adds to intervals, a line for each family."""
    shares = {row.errors.family: row.errors for row in rows if row.errors is not None}
    for share in shares.values():
        yield f"intervals hold errors of {share.family}: a factor of {share.factor:.3g}, by {_evidence(share)}"


def _evidence(share: ErrorShare) -> str:
    machines = counted(share.machines, "other machine")
    of_what = "" if share.is_of_family else f" (without {share.family}: all that was measured)"
    cells = f"{counted(share.cells, 'cell')} of {share.table} and " if share.cells else ""
    name = "" if share.cells else f" ({share.table})"
    return f"{cells}{machines}{of_what}{name}"
