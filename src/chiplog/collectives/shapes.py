"""Shapes that several algorithms share: rounds of doubling distance, binomial trees, shares of a message."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Ranks = NDArray[np.int64]


def all_ranks(ranks: int) -> Ranks:
    """0, 1, …, shape (ranks,)."""
    return np.arange(ranks, dtype=np.int64)


def distances(ranks: int, radix: int = 2) -> Iterator[int]:
    """1, radix, radix², … below `ranks`, counted with integers, since logarithms of floats miss exact powers.

    >>> list(distances(125, 5))
    [1, 5, 25]
    """
    distance = 1
    while distance < ranks:
        yield distance
        distance *= radix


def power_of_two_below(ranks: int) -> int:
    """The largest power of two that is not above `ranks`.

    >>> power_of_two_below(12)
    8
    """
    return 1 << (ranks.bit_length() - 1)


def tree_edges(ranks: int, distance: int) -> tuple[Ranks, Ranks]:
    """Parents and children of the binomial tree's round of that distance: r < distance sends to r + distance.

    A rank's parent is its number without the highest bit, so a broadcast goes through growing distances.

    >>> [edges.tolist() for edges in tree_edges(7, 4)]
    [[0, 1, 2], [4, 5, 6]]
    """
    parents = np.arange(max(0, min(distance, ranks - distance)), dtype=np.int64)
    return parents, parents + distance


def low_bit_edges(ranks: int, distance: int) -> tuple[Ranks, Ranks]:
    """Parents and children of the other binomial tree, whose subtrees are runs of ranks: r and r + distance.

    A rank's parent is its number without the lowest bit, so a broadcast goes through shrinking distances.

    >>> [edges.tolist() for edges in low_bit_edges(7, 2)]
    [[0, 4], [2, 6]]
    """
    children = np.arange(distance, ranks, 2 * distance, dtype=np.int64)
    return children - distance, children


def share_bytes(message_bytes: int, parts: int) -> NDArray[np.int64]:
    """A message in parts that differ by one byte at most, shape (parts,).

    >>> share_bytes(10, 4).tolist()
    [3, 3, 2, 2]
    """
    return message_bytes // parts + (np.arange(parts) < message_bytes % parts).astype(np.int64)
