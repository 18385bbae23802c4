"""What `chiplog tune` prints: ranges of ranks and sizes, one screen of 30 lines."""

from __future__ import annotations

import pytest

from chiplog.cli.tuning_table import print_tuning
from chiplog.messages import SCREEN_ROWS
from chiplog.tune.choice import Choice, Tuning

SIZES = tuple(1 << bit for bit in range(21))


def choice(ranks: int, size: int, algorithm: str, gain: float) -> Choice:
    return Choice(
        ranks=ranks,
        message_bytes=size,
        algorithm=algorithm,
        peers=None,
        rounds=None,
        seconds=1e-6,
        baseline="linear",
        baseline_seconds=2e-6,
        best=algorithm,
        best_peers=None,
        best_seconds=1e-6,
        gain=gain,
        gain_low=gain - 0.1,
        gain_high=gain + 0.1,
        verdict="changed",
        extrapolated=None,
    )


def printed(
    capsys: pytest.CaptureFixture[str], choices: list[Choice], *, details: bool = False
) -> list[str]:
    print_tuning(Tuning("bcast", "loggp", tuple(choices)), details=details)
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_ranges_that_choose_alike_stand_in_one_row(capsys: pytest.CaptureFixture[str]) -> None:
    """Ranks 2 and 4 choose the chain from 4 B on; 8 and 16 always the tree."""
    chosen = [
        choice(ranks, size, "chain" if ranks < 8 and size >= 4 else "tree", 0.2 + 0.1 * (size > 1))
        for ranks in (2, 4, 8, 16)
        for size in (1, 2, 4, 8)
    ]
    assert printed(capsys, chosen) == [
        "bcast, by the fit of loggp",
        "ranks bytes in force gain verdict",
        "2-16 1 B-2 B tree 20.0%-30.0% changed",
        "2-4 4 B-8 B chain 30.0% changed",
        "8-16 4 B-8 B tree 30.0% changed",
        "Intervals and what would be best: --details, or --json FILE",
    ]
    assert printed(capsys, chosen, details=True)[:5] == [
        "bcast, by the fit of loggp",
        "ranks bytes in force n best gain 95 % interval verdict",
        "2-16 1 B-2 B tree tree 20.0%-30.0% 10.0% to 40.0% changed",
        "2-4 4 B-8 B chain chain 30.0% 20.0% to 40.0% changed",
        "8-16 4 B-8 B tree tree 30.0% 20.0% to 40.0% changed",
    ]


def test_at_most_30_lines_are_printed_and_the_rest_is_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    chosen = [
        choice(ranks, size, "tree" if (at + place) % 2 else "chain", 0.2)
        for at, ranks in enumerate(range(2, 12))
        for place, size in enumerate(SIZES)
    ]
    lines = printed(capsys, chosen)
    assert len(lines) <= 30
    more = f"{10 * len(SIZES) - SCREEN_ROWS} more rows, intervals and what would be best"
    assert lines[-1] == f"{more}: --details, or --json FILE"
    assert len(printed(capsys, chosen, details=True)) > 10 * len(SIZES)
