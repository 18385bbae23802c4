"""n*, the number of peers a round with which the n-way dissemination barrier takes least.

Where all rounds take the same time, only the smallest n for each number of rounds R, n = ceil(P^(1/R)) - 1, can win:
with more peers, the same rounds take longer. That makes ceil(log2 P) candidates at most. Where each message is
followed, the last round is shorter if few ranks are left for it, which more peers before may be worth: then it is the
smallest n for each R and each number of peers in the last round.

Source: T. Hoefler, T. Mehlan, F. Mietke, W. Rehm, "Fast barrier synchronization for InfiniBand", IPDPS 2006 (CAC).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from chiplog.collectives.barrier.n_way_dissemination import last_peers, round_count

SAME = 1e-12
"""Times that differ by less, as a share, are the same; the smaller n is taken then."""


def candidates(ranks: int) -> list[int]:
    """The smallest n for each number of rounds, ascending.

    >>> candidates(64), candidates(17)
    ([1, 2, 3, 7, 63], [1, 2, 4, 16])
    """
    most = round_count(ranks, 1)
    return sorted({1, *(_least_base(ranks, rounds) - 1 for rounds in range(1, most + 1))})


def ragged_candidates(ranks: int) -> list[int]:
    """The smallest n for each number of rounds and of peers in the last one, ascending: about 2 sqrt(P) of them.

    >>> ragged_candidates(13)
    [1, 2, 3, 4, 6, 12]
    """
    found = set(candidates(ranks))
    for peers in candidates(ranks):
        rounds = round_count(ranks, peers)
        while rounds > 1 and round_count(ranks, peers) == rounds:
            found.add(peers)
            peers = _least_base((ranks - 1) // last_peers(ranks, peers) + 1, rounds - 1) - 1
    return sorted(found)


def _least_base(number: int, exponent: int) -> int:
    """The smallest base >= 2 with base^exponent >= number."""
    low, high = 2, max(2, number)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if middle**exponent >= number else (middle + 1, high)
    return low


def best_peers(ranks: int, seconds: Callable[[int], float]) -> int:
    """n* among the candidates; `seconds` is the barrier's time for n, which may follow each message."""
    return _least(ragged_candidates(ranks), seconds)


def best_peers_exhaustively(ranks: int, seconds: Callable[[int], float]) -> int:
    """n* among 1..P-1."""
    return _least(range(1, max(2, ranks)), seconds)


def _least(peers: Iterable[int], seconds: Callable[[int], float]) -> int:
    found = {n: seconds(n) for n in peers}
    bound = min(found.values()) * (1 + SAME)
    return next(n for n, time in found.items() if time <= bound)
