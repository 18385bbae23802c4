"""Measured tunings on the terminal: the answer first, then a row for each size."""

from __future__ import annotations

import math
from collections.abc import Sequence

from chiplog.cli.output import SCREEN_ROWS, aligned, say, wrapped
from chiplog.counts import counted
from chiplog.report import format
from chiplog.tune.measured.choices import SizeVerdict
from chiplog.tune.measured.mistakes import FAR, Mistake, mistakes
from chiplog.tune.measured.raced import Raced
from chiplog.tune.measured.statistics import LOOKS
from chiplog.tune.measured.tuning import MeasuredTuning

MOST_MISTAKES = 5
"""Given: what a screen has room for."""


def print_measured(measured: MeasuredTuning, operation: str, *, details: bool) -> None:
    """At most SCREEN_ROWS sizes without `details`, those that leave the default first."""
    summary = measured.summary
    ranks = ", ".join(str(count) for count in measured.raced.options.ranks)
    types = " and ".join(measured.raced.options.datatypes)
    of_types = f", {types}" if operation != "barrier" else ""
    say(wrapped(f"{operation}, {measured.mpi}, {ranks} ranks{of_types}: {_answer(measured)}"))
    cells = [verdict for verdict in measured.verdicts if details or not verdict.is_held_out]
    print_verdicts(cells, details=details)
    if summary.held_out:
        worst = (
            ""
            if summary.worst_held_out is None
            else f", slower than the default by at most {_worse(summary.worst_held_out)}"
        )
        say(
            wrapped(
                f"held out: {summary.held_out_passed} of {summary.held_out} sizes inside a range{worst}"
            )
        )
    share = (
        ""
        if math.isnan(summary.share)
        else f", {summary.share:.0%} of trying everything as thoroughly"
    )
    launches = counted(measured.raced.launches, "launch", "launches")
    say(wrapped(f"measured {format.duration(summary.seconds)} in {launches}{share}"))
    print_mistakes(mistakes(measured.verdicts), details)
    for name, reason in measured.left_out.items():
        if details or name in measured.raced.dropped:
            say(wrapped(f"left out: {name}: {reason}", "  "))
    if measured.raced.ran_out:
        say("The budget ended first: sizes that are not sure keep the default (--budget).")
        if wanted := wanted_budget(measured.raced):
            say(f"With {wanted}, each of them would get the {LOOKS[0]} launches it needs.")


def print_verdicts(cells: Sequence[SizeVerdict], *, details: bool) -> None:
    """A row for each size, at most SCREEN_ROWS without `details`; a question mark where something is not sure."""
    shown = cells if details or len(cells) <= SCREEN_ROWS else _most_important(cells)
    say(aligned(_table(shown)))
    if len(shown) < len(cells):
        say(
            f"{counted(len(cells) - len(shown), 'more size keeps', 'more sizes keep')} the default (--details)"
        )
    if any(verdict.candidate and not verdict.is_changed for verdict in cells):
        say("NAME?: seemed faster, but that is not sure")


def wanted_budget(raced: Raced) -> str:
    """The option that gives each size the launches it needs at least; empty where it is not known."""
    seconds = raced.wanted_seconds
    return f"--budget {math.ceil(seconds)}" if math.isfinite(seconds) else ""


def print_mistakes(known_mistakes: Sequence[Mistake], details: bool) -> None:
    """Where the default is far behind, and whether it is so beside, too."""
    if not known_mistakes:
        return
    shown = known_mistakes if details else known_mistakes[:MOST_MISTAKES]
    say(f"The default takes {FAR} times as long as it could, or longer, at:")
    titles = ("ranks", "bytes", "default", "times as long as", "factor", "beside")
    say(aligned([titles, *map(_mistake_row, shown)]))
    if len(shown) < len(known_mistakes):
        say(f"{counted(len(known_mistakes) - len(shown), 'more range')} (--details)")


def _mistake_row(mistake: Mistake) -> tuple[str, ...]:
    sizes = [format.exact_bytes(size) for size in (mistake.first_bytes, mistake.last_bytes)]
    return (
        str(mistake.ranks),
        " to ".join(dict.fromkeys(sizes)),
        format.value(mistake.default_seconds, "s"),
        mistake.candidate.name,
        f"{mistake.factor:.1f}",
        "" if mistake.least_beside is None else f"{mistake.least_beside:.1f}",
    )


def _answer(measured: MeasuredTuning) -> str:
    summary = measured.summary
    if not summary.changed:
        return "the default stays at all sizes."
    return (
        f"{summary.changed} of {summary.cells} sizes leave\nthe default; geometric mean of the gain over all sizes "
        f"{summary.mean_gain:.2f}."
    )


def _worse(ratio: float) -> str:
    return f"{max(0.0, ratio - 1):.1%}"


def _most_important(cells: Sequence[SizeVerdict]) -> list[SizeVerdict]:
    ordered = sorted(cells, key=lambda cell: not cell.is_changed)[:SCREEN_ROWS]
    return sorted(ordered, key=lambda verdict: (verdict.cell.ranks, verdict.cell.message_bytes))


def _table(cells: Sequence[SizeVerdict]) -> list[tuple[str, ...]]:
    """A row for each size; the numbers of ranks where there are several."""
    table: list[tuple[str, ...]] = [
        ("ranks", "bytes", "in force", "default", "gain", "95 % interval")
    ]
    for cell in cells:
        row = (
            str(cell.cell.ranks),
            format.exact_bytes(cell.cell.message_bytes),
            _in_force(cell),
            format.value(cell.default_seconds, "s") if math.isfinite(cell.default_seconds) else "",
            f"{cell.gain:.2f}" if cell.is_changed else "1",
            _interval(cell),
        )
        table.append(row)
    several = len({cell.cell.ranks for cell in cells}) > 1
    return table if several else [row[1:] for row in table]


def _interval(verdict: SizeVerdict) -> str:
    if verdict.ratio is None or not verdict.is_changed:
        return ""
    high = "..." if verdict.ratio.low <= 0 else f"{1 / verdict.ratio.low:.2f}"
    return f"{1 / verdict.ratio.high:.2f} to {high}"


def _in_force(verdict: SizeVerdict) -> str:
    mark = "  (held out)" if verdict.is_held_out else ""
    if verdict.candidate is None:
        return "default" + mark
    return (
        verdict.candidate.name + mark
        if verdict.is_changed
        else f"default ({verdict.candidate.name}?)" + mark
    )
