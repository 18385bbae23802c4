"""Two runs of a real machine, whose launches differ: what a call takes most of all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from synthetic import Ask, SyntheticDisturbance, synthetic_dataset

from chiplog.comparison.runs import compare_runs
from chiplog.comparison.threshold import over_threshold, parse_threshold
from chiplog.dataset.series import Dataset, Series
from chiplog.models.piecewise import Piece

TRUTH = {"L": 5e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": 0.5e-9}
SIZES = (1, 64, 4096, 65536)
VISITS = 3
SLOWER = parse_threshold("slower:5%")


def of_machine(seed: int, launches: int, *, calls: float = 1.0, wander: float = 0.0) -> Dataset:
    """A run over tcp. `calls` multiplies what calls take; a launch doubles that half of the time if `wander` is 1."""
    draw = np.random.default_rng(seed)
    series: list[Series] = []
    for visit in range(launches * VISITS):
        launch = visit // VISITS
        if visit % VISITS == 0:
            factor = calls * 2.0 ** (wander * draw.integers(0, 2))
        part = synthetic_dataset(
            [Piece(None, TRUTH)],
            SIZES,
            asks=(Ask("prtt"), Ask("prtt", 10), Ask("send_overhead")),
            disturbance=SyntheticDisturbance(noise=0.02),
            seed=1000 * seed + visit,
        )
        series += [in_launch(one, launch, visit % VISITS, factor) for one in part.series]
    header = {**part.header, "target": "tcp"}
    return replace(part, header=header, series=tuple(series))


def in_launch(one: Series, launch: int, visit: int, factor: float) -> Series:
    scale = factor if one.direction == "call" else 1.0
    return replace(one, launch=launch, visit=visit, seconds=scale * one.seconds)


def test_one_launch_does_not_tell_a_slower_call_from_another_place_in_memory() -> None:
    rows = compare_runs(of_machine(1, 1), of_machine(2, 1, calls=3.0))
    calls = [row for row in rows if row.what.direction == "call"]
    assert len(calls) == len(SIZES)
    assert {row.verdict for row in calls} == {"unclear"}
    assert "--launches 3" in calls[0].reason


def test_three_launches_that_agree_tell_a_slower_call() -> None:
    rows = compare_runs(of_machine(1, 3), of_machine(2, 3, calls=3.0))
    calls = [row for row in rows if row.what.direction == "call"]
    assert {row.verdict for row in calls} == {"slower"}
    assert over_threshold(rows, SLOWER)


def test_calls_that_launches_double_at_random_fire_no_gate() -> None:
    fired = [
        pair
        for pair in range(30)
        for launches in (1, 3)
        if over_threshold(
            compare_runs(
                of_machine(2 * pair, launches, wander=1.0),
                of_machine(2 * pair + 1, launches, wander=1.0),
            ),
            SLOWER,
        )
    ]
    assert len(fired) <= 1


def test_two_launches_do_not_tell_a_slower_call_and_the_whole_does_not_count_it() -> None:
    rows = compare_runs(of_machine(1, 2), of_machine(2, 2, calls=3.0))
    assert {row.verdict for row in rows if row.what.direction == "call"} == {"unclear"}
    assert 0.95 < rows[-1].ratio < 1.05
