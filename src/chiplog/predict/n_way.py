"""n*, the number of peers a round with which the n-way dissemination barrier takes least.

Only the smallest n for each number of rounds R, n = ceil(P^(1/R)) - 1, can win: with more peers, the same rounds take
longer. That makes ceil(log2 P) candidates at most.

Source: T. Hoefler, T. Mehlan, F. Mietke, W. Rehm, "Fast barrier synchronization for InfiniBand", IPDPS 2006 (CAC).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from chiplog.collectives.barrier.n_way_dissemination import round_count

SAME = 1e-12
"""Times that differ by less, as a share, are the same; the smaller n is taken then."""


def candidates(ranks: int) -> list[int]:
    """The smallest n for each number of rounds, ascending.

    >>> candidates(64), candidates(17)
    ([1, 2, 3, 7, 63], [1, 2, 4, 16])
    """
    found = {1}
    for rounds in range(1, round_count(ranks, 1) + 1):
        low, high = 1, max(1, ranks - 1)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if (middle + 1) ** rounds >= ranks else (middle + 1, high)
        found.add(low)
    return sorted(found)


def best_peers(ranks: int, seconds: Callable[[int], float]) -> int:
    """n* among the candidates; `seconds` is the barrier's time for n."""
    return _least(candidates(ranks), seconds)


def best_peers_exhaustively(ranks: int, seconds: Callable[[int], float]) -> int:
    """n* among 1..P-1."""
    return _least(range(1, max(2, ranks)), seconds)


def _least(peers: Iterable[int], seconds: Callable[[int], float]) -> int:
    found = {n: seconds(n) for n in peers}
    bound = min(found.values()) * (1 + SAME)
    return next(n for n, time in found.items() if time <= bound)
