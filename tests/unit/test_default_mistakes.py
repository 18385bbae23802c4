"""Where an MPI's default is far behind: neighbouring sizes are one range, and what is beside them is said."""

from __future__ import annotations

from chiplog.tune.measured.candidate import Candidate
from chiplog.tune.measured.choices import SizeVerdict
from chiplog.tune.measured.launch import Cell
from chiplog.tune.measured.mistakes import mistakes
from chiplog.tune.measured.statistics import CandidateRatio

TREE = Candidate("tree")


def verdict(ranks: int, size: int, factor: float | None) -> SizeVerdict:
    """Factor None: the default stays."""
    ratio = None if factor is None else CandidateRatio(1 / factor, 0.95 / factor, 1.05 / factor, 6)
    return SizeVerdict(
        Cell("bcast", ranks, size), TREE if factor else None, ratio, 1e-3, False, factor is not None
    )


def test_a_step_at_one_number_of_ranks_stands_out_from_its_neighbours() -> None:
    found = mistakes([verdict(127, 4, None), verdict(128, 4, 10.0), verdict(128, 1024, 1.2)])
    (one,) = found
    assert (one.ranks, one.first_bytes, one.last_bytes, one.candidate) == (128, 4, 4, TREE)
    assert (one.factor, one.least_beside) == (10.0, 1.0)
    assert one.factor_low == 10.0 / 1.05


def test_neighbouring_sizes_are_one_range_and_the_worst_comes_first() -> None:
    sizes = {1: 2.0, 16: 3.0, 256: None, 4096: 5.0}
    found = mistakes([verdict(8, size, factor) for size, factor in sizes.items()])
    ranges = [(one.first_bytes, one.last_bytes, one.factor) for one in found]
    assert ranges == [(4096, 4096, 5.0), (1, 16, 3.0)]
    assert [one.least_beside for one in found] == [1.0, 1.0]


def test_what_is_not_surely_far_behind_is_none() -> None:
    assert mistakes([verdict(8, 1, 1.55), verdict(8, 16, 1.4), verdict(8, 64, None)]) == []


def test_without_a_neighbour_nothing_is_said_of_it() -> None:
    (one,) = mistakes([verdict(8, 1, 2.0)])
    assert one.least_beside is None
