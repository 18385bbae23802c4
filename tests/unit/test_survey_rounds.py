"""Rounds by leaf: every two ranks meet once, and the nodes of a leaf all cross its uplink, or none does."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from chiplog.machine_survey.rounds import rounds_by_leaf
from chiplog.machine_survey.settings import SETTINGS
from chiplog.plan.patterns.all_pairs import rounds_of

SIZES = [
    [8, 8],
    [4] * 4,
    [8] * 8,
    [5] * 3,
    [5] * 4,
    [7, 8, 8],
    [2, 2],
    [1, 2, 2],
    [16, 15],
    [6, 5, 5, 4, 3],
    [10, 2],
]


def mixed(sizes: list[int]) -> list[int]:
    leaves = [leaf for leaf, size in enumerate(sizes) for _ in range(size)]
    random.Random(3).shuffle(leaves)
    return leaves


@pytest.mark.parametrize("sizes", [*SIZES, [32] * 32])
def test_every_two_ranks_meet_once_in_disjoint_pairs(sizes: list[int]) -> None:
    leaves = mixed(sizes)
    found = rounds_by_leaf(leaves)
    assert found is not None
    met = Counter(frozenset(pair) for pairs in found for pair in pairs)
    assert set(met.values()) == {1}
    assert len(met) == len(leaves) * (len(leaves) - 1) // 2
    for pairs in found:
        ends = [end for pair in pairs for end in pair]
        assert len(ends) == len(set(ends))
    assert len(found) <= SETTINGS.most_more_rounds * rounds_of(len(leaves))


@pytest.mark.parametrize("sizes", [[8, 8], [4] * 4, [8] * 8, [5] * 3, [5] * 4, [32] * 32])
def test_leaves_of_one_size_fill_their_uplinks_whenever_they_use_them(sizes: list[int]) -> None:
    leaves = mixed(sizes)
    for pairs in rounds_by_leaf(leaves) or ():
        for leaf, size in enumerate(sizes):
            out = sum(leaves[one] == leaf != leaves[other] for one, other in pairs)
            into = sum(leaves[other] == leaf != leaves[one] for one, other in pairs)
            assert (out, into) in {(0, 0), (size, 0), (0, size)}


def test_leaves_of_one_size_take_no_more_rounds_than_they_must() -> None:
    for sizes in ([8, 8], [4] * 4, [8] * 8, [5] * 3, [32] * 32):
        assert len(rounds_by_leaf(mixed(sizes)) or ()) == rounds_of(sum(sizes))


@pytest.mark.parametrize("leaves", [[0] * 8, [0, 1], [0, 1, 2, 3], [0, 0, 0, 1]])
def test_fewer_than_two_leaves_of_two_nodes_have_no_uplinks_to_fill(leaves: list[int]) -> None:
    assert rounds_by_leaf(leaves) is None
