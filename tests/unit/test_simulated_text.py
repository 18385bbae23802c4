"""When each rank is done, in units that people read; ranks that are alike share a line."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from chiplog.cli.simulated_text import simulated_lines
from chiplog.messages import SCREEN_ROWS


def lines(*finish_ps: int, time_range: Any = None) -> list[str]:
    simulation: Any = SimpleNamespace(finish_ps=np.array(finish_ps))
    return list(simulated_lines(simulation, time_range))


def test_ranks_that_are_done_at_the_same_time_share_a_line() -> None:
    assert lines(5_000, 5_000, 7_500, 5_000) == [
        "makespan  7.5 ns",
        "ranks 0 to 1  5 ns",
        "rank 2  7.5 ns",
        "rank 3  5 ns",
    ]


def test_times_are_exact_in_the_unit_that_keeps_them_short() -> None:
    shown = [lines(time)[0].split("  ")[1] for time in (0, 1, 999_999, 10**6, 584_425_800, 10**12)]
    assert shown == ["0 ns", "0.001 ns", "999.999 ns", "1 us", "584.4258 us", "1 s"]
    assert lines(12_345_678_901_234)[0] == "makespan  12.345678901234 s"


def with_range(*finish_ps: int, share: float) -> list[str]:
    """The lines where the interval is the makespan's, and so large a share to both sides of it."""
    middle = max(finish_ps)
    simulation = SimpleNamespace(makespan_ps=middle)
    ends = {"low_ps": round(middle * (1 - share)), "high_ps": round(middle * (1 + share))}
    return lines(*finish_ps, time_range=SimpleNamespace(simulation=simulation, **ends))


def test_a_makespan_by_a_fit_reads_as_predict_prints_it() -> None:
    assert with_range(21_181_428, share=0.03)[0] == (
        "makespan  21.18 us  [20.55, 21.82]  (95 %, with the model's error)"
    )


@pytest.mark.parametrize("share", [0.3, 0.03, 0.003, 0.0003])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_time_by_a_fit_has_more_digits_than_the_interval_bears(share: float, seed: int) -> None:
    times = np.random.default_rng(seed).integers(1_000, 10**12, 10).tolist()
    for line in with_range(*times, share=share):
        number, unit = line.split("  ")[1].split()
        step = 10.0 ** -len(number.partition(".")[2])
        half = float(number) * share
        assert unit in ("ns", "us", "ms", "s")
        assert step >= min(1.0, half / 100, float(number) / 100), line


def test_ranks_whose_times_read_alike_share_a_line() -> None:
    assert with_range(10_000_000, 10_000_300, 5_000_000, share=0.1) == [
        "makespan  10.0 us  [9.0, 11.0]  (95 %, with the model's error)",
        "ranks 0 to 1  10.0 us",
        "rank 2  5.00 us",
    ]


def test_of_many_that_differ_the_first_are_shown_and_the_others_counted() -> None:
    shown = lines(*range(1000, 1000 + 100))
    assert len(shown) == 2 + SCREEN_ROWS
    assert shown[-1] == "… and 80 more ranks: --json FILE has all"
    assert lines(*range(SCREEN_ROWS + 1))[-1] == "… and 1 more rank: --json FILE has all"
