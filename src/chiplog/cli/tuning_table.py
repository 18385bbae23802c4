"""Tunings on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from chiplog.cli.output import SCREEN_ROWS, aligned, note, rejected_text, say
from chiplog.counts import counted
from chiplog.plan.units import format_bytes
from chiplog.report import format
from chiplog.tune.choice import FARTHEST, Choice, Tuning

TITLES = ("ranks", "bytes", "in force", "n", "best", "gain", "95 % interval", "verdict")
SHORT_TITLES = ("ranks", "bytes", "in force", "gain", "verdict")


def print_tuning(tuning: Tuning, *, details: bool) -> None:
    """A row for each range of ranks and sizes with the same choice; gains are from the least to the largest.

    Beyond SCREEN_ROWS the rows are counted, not shown. With `details` all rows, with the best algorithm and the
    interval of the gain, and the ranking of all algorithms at the first number of ranks of each run.
    """
    blocks = _blocks(tuning)
    say(f"{tuning.operation}, by the fit of {tuning.model}")
    if details:
        say(aligned([TITLES, *map(_row, blocks)]))
        say("\nAll algorithms, by the time in the middle of what the data leave:")
        say(aligned(_rankings(tuning)))
    else:
        say(aligned([SHORT_TITLES, *map(_short_row, blocks[:SCREEN_ROWS])]))
        not_shown = len(blocks) - SCREEN_ROWS
        what = f"{counted(not_shown, 'more row')}, intervals" if not_shown > 0 else "Intervals"
        say(f"{what} and what would be best: --details, or --json FILE")
    if tuning.rejected is not None:
        note(rejected_text(tuning.rejected))
    reasons = [choice.extrapolated for choice in tuning.choices if choice.extrapolated]
    if reasons:
        note(f"* extrapolated: {reasons[-1]}.")
    if tuning.too_far:
        note(
            f"{counted(tuning.too_far, 'choice is', 'choices are')} not written: beyond {FARTHEST} times the "
            f"{counted(tuning.measured_ranks or 0, 'rank')} of the measurement nothing confirms the model; race with "
            "--measure there, or give --extrapolate."
        )


def _short_row(block: Sequence[Choice]) -> tuple[str, ...]:
    """The range, what is in force there with its peers, the gain and the verdict."""
    first = block[0]
    ranks, *_ = row = _row(block)
    named = first.algorithm if first.peers is None else f"{first.algorithm}, n = {first.peers}"
    sizes = sorted({choice.message_bytes for choice in block})
    return (
        ranks,
        _range([format_bytes(size) for size in sizes]),
        named if first.is_changed else "default",
        row[5],
        row[7],
    )


def _row(block: Sequence[Choice]) -> tuple[str, ...]:
    """One range of ranks and sizes; all choices in it are the same but for their numbers."""
    first = block[0]
    ranks = sorted({choice.ranks for choice in block})
    sizes = sorted({choice.message_bytes for choice in block})
    best = first.best if first.best_peers is None else f"{first.best}, n = {first.best_peers}"
    gains = [choice.gain for choice in block]
    lows, highs = [choice.gain_low for choice in block], [choice.gain_high for choice in block]
    return (
        _range(list(map(str, ranks)))
        + (" *" if any(choice.extrapolated for choice in block) else ""),
        _range([format.exact_bytes(size) for size in sizes]),
        first.algorithm if first.is_changed else f"default ({first.algorithm})",
        "" if first.peers is None else str(first.peers),
        best,
        _range([f"{gain:.1%}" for gain in sorted(gains)]),
        f"{min(lows):.1%} to {max(highs):.1%}",
        first.verdict,
    )


def _range(texts: Sequence[str]) -> str:
    return texts[0] if texts[0] == texts[-1] else f"{texts[0]}-{texts[-1]}"


def _blocks(tuning: Tuning) -> list[list[Choice]]:
    """Runs of ranks at each size, joined with those of the next sizes where they begin, end and choose alike."""
    blocks: list[list[Choice]] = []
    open_ones: dict[object, list[Choice]] = {}
    for of_size in _by_size(tuning):
        still: dict[object, list[Choice]] = {}
        for run in _runs_of(of_size):
            key = (run[0].ranks, run[-1].ranks, _same(run[0]))
            block = open_ones.get(key)
            if block is None:
                block = []
                blocks.append(block)
            block += run
            still[key] = block
        open_ones = still
    return blocks


def _by_size(tuning: Tuning) -> Iterator[list[Choice]]:
    """The choices for each size, by the number of ranks."""
    ordered = sorted(tuning.choices, key=lambda choice: (choice.message_bytes, choice.ranks))
    for _, group in groupby(ordered, lambda choice: choice.message_bytes):
        yield list(group)


def _same(choice: Choice) -> tuple[object, ...]:
    """What two choices must share to stand in one row."""
    return (choice.verdict, choice.algorithm, choice.peers, choice.best, choice.best_peers)


def _runs_of(choices: Sequence[Choice]) -> Iterator[list[Choice]]:
    for _, group in groupby(choices, _same):
        yield list(group)


def _rankings(tuning: Tuning) -> list[tuple[str, ...]]:
    """All algorithms at the first choice of each run, size by size."""
    firsts = (run[0] for of_size in _by_size(tuning) for run in _runs_of(of_size))
    rows = (
        (
            str(first.ranks),
            format.exact_bytes(first.message_bytes),
            ranked.algorithm,
            "" if ranked.peers is None else str(ranked.peers),
            format.value(ranked.seconds, "s"),
        )
        for first in firsts
        for ranked in first.ranking
    )
    return [("ranks", "bytes", "algorithm", "n", "time"), *rows]
