"""Predictions on the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from chiplog.cli.output import aligned, note, rejected_text, say, wrapped
from chiplog.counts import counted
from chiplog.prediction.correction import Correction, CorrectionKind, may_be_of_another_unit
from chiplog.prediction.error_table import CLUSTERS, ErrorShare
from chiplog.prediction.result import LOWER_BOUND, Prediction
from chiplog.report import format

MOST_NAMED = 8
"""Given: numbers of ranks that a line has room for."""

HEADINGS = ("ranks", "algorithm", "n", "time", "95 % interval", "verdict", "by")


def print_predictions(rows: Sequence[Prediction]) -> None:
    """A row an algorithm, fastest first, the lower bound last, for one number of ranks after the other.

    Why a row is extrapolated is said on standard error.
    """
    first, counts = rows[0], tuple(dict.fromkeys(row.ranks for row in rows))
    table: list[tuple[str, ...]] = [HEADINGS]
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
                "" if is_bound or row.verdict == "only" else row.verdict,
                ("" if is_bound else row.method) + (" *" if row.extrapolated else ""),
            )
        )
    size = format.sizes_of_operation(first.operation, first.bytes)
    about = (first.operation, _ranks_text(counts), *size, f"by the fit of {first.model}")
    say(", ".join(about))
    say(f"time: {first.convention.in_words}")
    verdicts = HEADINGS.index("verdict")
    if not any(cells[verdicts] for cells in table[1:]):
        table = [(*cells[:verdicts], *cells[verdicts + 1 :]) for cells in table]
    say(aligned(table if len(counts) > 1 else [cells[1:] for cells in table]))
    if not any(row.high for row in rows):
        say("A single rank sends nothing, so that every algorithm takes no time.")
    for names, text in _notes_of_rows(rows):
        say(wrapped(f"{names}: {text}", "  "))
    for line in _error_lines(rows):
        say(wrapped(line, "  "))
    if first.rejected is not None:
        note(rejected_text(first.rejected))
    for reason in _extrapolations(rows):
        note(f"* extrapolated: {reason}.")


def _notes_of_rows(rows: Sequence[Prediction]) -> Iterator[tuple[str, str]]:
    """What stands below the table, once for all rows that it holds for, with their names."""
    of_text: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        texts = [] if row.correction is None else [correction_text(row.correction)]
        if row.longest_seconds is not None:
            whole = (row.seconds, row.low, row.high)
            texts.append(f"longest rank {format.in_proportion(row.longest_seconds, whole, 's')}")
        for text in texts:
            of_text.setdefault((row.algorithm, text), []).append(row.ranks)
    is_one = len({row.ranks for row in rows}) == 1
    for (algorithm, text), ranks in of_text.items():
        yield algorithm if is_one else f"{algorithm}, {_ranks_text(ranks)}", text


def _extrapolations(rows: Sequence[Prediction]) -> Iterator[str]:
    """Why rows are extrapolated; of reasons that differ in numbers only, such as of sizes, the largest."""
    parts: dict[str, tuple[int, str]] = {}
    for row in rows:
        for part in row.reason.split("; ") if row.reason else ():
            numbers = re.findall(r"\d[\d,]*", part)
            largest = int(numbers[0].replace(",", "")) if numbers else 0
            name = re.sub(r"\d[\d,]*", "", part)
            parts[name] = max(parts.get(name, (-1, "")), (largest, part))
    if parts:
        yield "; ".join(part for _, part in parts.values())


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
            ". Anchors of one number of ranks, or of one size, do not tell how the correction changes with it, "
            "so the interval is as wide as the correction"
        )
    if may_be_of_another_unit(correction.factor.value):
        judged += (
            ". Are the anchors' times in seconds? The factor is nearer to a thousand than to 1"
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
    """What a table of errors adds to intervals, a sentence for each family."""
    shares = {row.errors.family: row.errors for row in rows if row.errors is not None}
    for share in shares.values():
        yield (
            f"Intervals of {share.family} algorithms hold errors of predictions: a factor of {share.factor:.3g}, by "
            f"{_evidence(share)}."
        )


def _evidence(share: ErrorShare) -> str:
    """Which measured operations the errors are of."""
    machines = counted(share.machines, "other machine")
    if share.cells:
        return f"{counted(share.cells, 'cell')} of {share.table}, and {machines}"
    by = machines if share.table == CLUSTERS else f"{machines} ({share.table} has none)"
    if share.is_of_family:
        return by
    return f"{by}; none measured a {share.family}, so the errors of all algorithms count"
