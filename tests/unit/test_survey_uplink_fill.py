"""How often a survey's rounds fill the uplinks of leaves, with ranks leaf by leaf and with ranks mixed."""

from __future__ import annotations

import numpy as np
import pytest

from chiplog.machine_survey.pair_values import PairValues
from chiplog.machine_survey.rounds import rounds_by_leaf
from chiplog.machine_survey.slowness_model import PairFit, fit_pairs
from chiplog.machine_survey.sweep import UplinkFill, uplink_fill


def sweep(leaves: np.ndarray) -> PairFit:
    """All rounds as the pattern makes them: a mirror that turns, the lower rank sending in every other round."""
    nodes = leaves.size
    circle = nodes - 1
    ends = []
    for turn in range(circle):
        for rank in range(nodes):
            image = (2 * turn - rank) % circle
            partner = turn if rank == circle else circle if image == rank else image
            if (rank < partner) == (turn % 2 == 0):
                ends.append((rank, partner, turn))
    clients, servers, rounds = np.array(ends, dtype=np.int64).T
    names = tuple(f"n{number}" for number in range(nodes))
    values = np.full(clients.size, 1e9)
    return fit_pairs(PairValues(names, clients, servers, values, "bandwidth", rounds), leaves)


@pytest.mark.parametrize(("nodes", "leaf"), [(16, 4), (64, 8)])
def test_ranks_leaf_by_leaf_fill_every_uplink_each_way(nodes: int, leaf: int) -> None:
    fill = uplink_fill(sweep(np.arange(nodes) // leaf))
    assert fill is not None
    assert fill.rounds == nodes - 1
    assert fill.least >= nodes // 8


def test_one_leaf_has_no_uplink_to_fill() -> None:
    assert uplink_fill(sweep(np.zeros(8, dtype=np.int64))) is None


def test_ranks_that_are_mixed_over_the_leaves_fill_none() -> None:
    mixed = np.random.default_rng(1).permutation(np.arange(64) // 8)
    fill = uplink_fill(sweep(mixed))
    assert fill == UplinkFill(63, 0, 0.0)
    assert not fill.shows_slow_ones


def test_rounds_by_leaf_fill_each_uplink_whenever_it_is_used() -> None:
    leaves = np.random.default_rng(2).permutation(np.arange(64) // 8)
    rounds = rounds_by_leaf(leaves.tolist())
    assert rounds is not None
    ends = [
        (*(pair if number % 2 else pair[::-1]), number)
        for number, pairs in enumerate(rounds)
        for pair in pairs
    ]
    clients, servers, turns = np.array(ends, dtype=np.int64).T
    names = tuple(f"n{number}" for number in range(64))
    values = PairValues(names, clients, servers, np.full(clients.size, 1e9), "bandwidth", turns)
    fill = uplink_fill(fit_pairs(values, leaves))
    assert fill is not None
    assert (fill.rounds, fill.least_share) == (63, 1.0)
