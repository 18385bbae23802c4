"""How often a measured tuning is wrong, and how often it finds what there is, where the truth is known.

A choice is wrong where the candidate is truly slower than the default, or as fast: the file must not leave the default.
"""

from __future__ import annotations

import math

import pytest
from simulated_race import SimulatedLauncher, Truth, candidates

from chiplog.tune.measured.choices import verdicts
from chiplog.tune.measured.race import Race
from chiplog.tune.measured.raced import RaceOptions

SIZES = tuple(4**power for power in range(0, 10, 2))
RACES = 40


def raced(truth: Truth, seed: int, **machine: float) -> list[tuple[int, str, bool]]:
    """Of one race: bytes, candidate and whether the choice left the default, held-out sizes included."""
    launcher = SimulatedLauncher(truth, seed, **machine)  # type: ignore[arg-type]
    options = RaceOptions("bcast", (8,), SIZES, 1e9, seed)
    race = Race(launcher, candidates(8), options, clock=lambda: 0.0)
    return [
        (one.cell.message_bytes, one.candidate.name if one.candidate else "", one.is_changed)
        for one in verdicts(race.run())
    ]


def wrong_races(truth: Truth, **machine: float) -> int:
    """Of RACES races, those with a choice that is not truly faster than the default."""
    return sum(
        any(
            changed and truth(name, size) >= truth("default", size)
            for size, name, changed in raced(truth, seed, **machine)
        )
        for seed in range(RACES)
    )


# Eight candidates and ten sizes: the fastest of them looks faster by chance somewhere in every race.
@pytest.mark.parametrize("launch_sigma", [0.01, 0.05, 0.2])
def test_nothing_is_chosen_where_all_take_the_same_time(launch_sigma: float) -> None:
    assert wrong_races(lambda name, size: 1e-4, launch_sigma=launch_sigma) <= 10


def test_nothing_is_chosen_where_all_are_slightly_slower() -> None:
    def truth(name: str, size: int) -> float:
        return 1e-4 * (1.0 if name == "default" else 1.02)

    assert wrong_races(truth, launch_sigma=0.02) <= 1


def test_outliers_of_the_default_make_no_choice() -> None:
    assert wrong_races(lambda name, size: 1e-4, launch_sigma=0.02, outlier_share=0.3) <= 10


@pytest.mark.parametrize(
    ("launch_sigma", "ratio", "least"), [(0.02, 0.9, 0.3), (0.05, 0.8, 0.5), (0.05, 0.6, 0.7)]
)
def test_a_truly_faster_candidate_is_mostly_found(
    launch_sigma: float, ratio: float, least: float
) -> None:
    def truth(name: str, size: int) -> float:
        return 1e-4 * (ratio if name == "a3" else 1.0)

    machine = {"launch_sigma": launch_sigma, "outlier_share": 0.02}
    found = [
        name == "a3" and changed
        for seed in range(10)
        for size, name, changed in raced(truth, seed, **machine)
        if size in SIZES
    ]
    assert sum(found) / len(found) >= least


def test_a_range_in_which_the_default_gets_better_is_not_chosen_as_a_whole() -> None:
    def truth(name: str, size: int) -> float:
        default = 0.5 if 20 < size < 60 else 1.0  # between two sizes of the grid
        return 1e-4 * (default if name == "default" else 0.7)

    assert wrong_races(truth, launch_sigma=0.02) <= 1


def test_the_share_of_wrong_races_that_is_allowed_is_far_from_what_is_right() -> None:
    # Of 40 races of which 5 % are wrong, more than 10 happen less than once in 10^4.
    chance = sum(math.comb(RACES, k) * 0.05**k * 0.95 ** (RACES - k) for k in range(11, RACES + 1))
    assert chance < 1e-4
