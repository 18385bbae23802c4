"""Rounds of disjoint pairs in which the nodes of a leaf all send across its uplink, or none of them does.

Only a full uplink shows that it is a little slow. The circle method over all ranks has pairs within leaves and between
them in most of its rounds, and fills no uplink where ranks are mixed over the leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chiplog.machine_survey.settings import SETTINGS
from chiplog.plan.patterns.all_pairs import rounds_of

Pairs = tuple[tuple[int, int], ...]
"""Disjoint pairs of ranks: who sends unless the round is turned, and who receives."""


def rounds_by_leaf(leaves: Sequence[int]) -> tuple[Pairs, ...] | None:
    """Returns rounds in which every two ranks meet once; None without two leaves of two nodes.

    `leaves` has the leaf of each rank. Leaves meet in pairs by the circle method, in as many rounds as the larger one
    has nodes: in each, all nodes of one leaf send to nodes of the other. Then the pairs within leaves follow. A leaf
    without a partner, where their number is odd, has its own pairs meanwhile.

    >>> rounds_by_leaf([0, 1, 0, 1])
    (((0, 1), (2, 3)), ((2, 1), (0, 3)), ((0, 2), (1, 3)))
    """
    members = [
        [rank for rank, leaf in enumerate(leaves) if leaf == leaf_number]
        for leaf_number in sorted(set(leaves))
    ]
    members.sort(key=len, reverse=True)
    if len(members) < 2 or len(members[1]) < 2:
        return None
    rounds = tuple(tuple(pairs) for pairs in _rounds(members) if pairs)
    if len(rounds) <= SETTINGS.most_more_rounds * rounds_of(len(leaves)):
        return rounds
    return tuple(map(tuple, _circle([rank for ranks in members for rank in ranks])))


def _rounds(members: Sequence[Sequence[int]]) -> Iterator[list[tuple[int, int]]]:
    within = {place: list(_circle(ranks)) for place, ranks in enumerate(members)}
    for meetings in _circle(range(len(members))):
        partners = [place for meeting in meetings for place in meeting]
        idle = next((place for place in within if place not in partners), None)
        for step in range(max(len(members[place]) for place in partners)):
            pairs = [
                pair
                for leaf, other_leaf in meetings
                for pair in _between(members[leaf], members[other_leaf], step)
            ]
            idle_rounds = within[idle] if idle is not None else []
            yield pairs + (idle_rounds.pop() if idle_rounds else [])
    while any(within.values()):
        yield [
            pair
            for rounds_within in within.values()
            if rounds_within
            for pair in rounds_within.pop()
        ]


def _between(leaf: Sequence[int], other_leaf: Sequence[int], step: int) -> list[tuple[int, int]]:
    """Returns pairs of two leaves, the first of which sends; after as many steps as the larger has nodes, all met."""
    large, small = sorted((leaf, other_leaf), key=len, reverse=True)
    if step >= len(large):
        return []
    met = [(large[(place + step) % len(large)], node) for place, node in enumerate(small)]
    return met if large is leaf else [(receiver, sender) for sender, receiver in met]


def _circle(ranks: Sequence[int]) -> Iterator[list[tuple[int, int]]]:
    """Yields the circle method's rounds: all but the last one stand on a circle, each paired with its mirror image."""
    count = rounds_of(len(ranks)) if len(ranks) > 1 else 0
    for turn in range(count):
        pairs = []
        for place in range(count):
            image = (2 * turn - place) % count
            if image == place and len(ranks) > count:
                pairs.append((ranks[place], ranks[count]))
            elif place < image:
                pairs.append((ranks[place], ranks[image]))
        yield pairs
