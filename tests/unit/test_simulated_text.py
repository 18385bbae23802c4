"""When each rank is done, in units that people read; ranks that are alike share a line."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

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


def test_an_interval_has_the_unit_of_the_makespan() -> None:
    time_range = SimpleNamespace(low_ps=20_060_200.0, high_ps=22_327_300.0)
    assert lines(21_181_428, time_range=time_range)[0] == (
        "makespan  21.181428 us  (20.0602 to 22.3273 us, 95 %, with the model's error)"
    )


def test_of_many_that_differ_the_first_are_shown_and_the_others_counted() -> None:
    shown = lines(*range(1000, 1000 + 100))
    assert len(shown) == 2 + SCREEN_ROWS
    assert shown[-1] == "… and 80 more ranks: --json FILE has all"
    assert lines(*range(SCREEN_ROWS + 1))[-1] == "… and 1 more rank: --json FILE has all"
