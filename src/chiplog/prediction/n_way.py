"""n*, the number of peers a round with which the n-way dissemination barrier takes least.

Where all rounds take the same time, only the smallest n for each number of rounds R, n = ceil(P^(1/R)) - 1, can win:
with more peers, the same rounds take longer. That makes ceil(log2 P) candidates at most. Where each message is
followed, the last round is shorter if few ranks are left for it, which more peers before may be worth: then it is the
smallest n for each R and each number of peers in the last round.

Source: T. Hoefler, T. Mehlan, F. Mietke, W. Rehm, "Fast barrier synchronization for InfiniBand", IPDPS 2006 (CAC).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from chiplog.collectives.algorithm import Task
from chiplog.collectives.barrier.n_way_dissemination import last_peers, round_count
from chiplog.collectives.registry import algorithms
from chiplog.prediction.network import Speaker

N_WAY = "n-way-dissemination"

SAME = 1e-12
"""Given: times that differ by less, as a share, are the same; the smaller n is taken then."""


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
    numbers = set(candidates(ranks))
    for peers in candidates(ranks):
        rounds = round_count(ranks, peers)
        while rounds > 1 and round_count(ranks, peers) == rounds:
            numbers.add(peers)
            peers = _least_base((ranks - 1) // last_peers(ranks, peers) + 1, rounds - 1) - 1
    return sorted(numbers)


def _least_base(number: int, exponent: int) -> int:
    """The smallest base >= 2 with base^exponent >= number."""
    low, high = 2, max(2, number)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if middle**exponent >= number else (middle + 1, high)
    return low


class BarrierTimes:
    """Times of the n-way dissemination barrier in the middle of what a model leaves, each computed once.

    They depend on the number of rounds, on n and on the peers of the last round, which many numbers of ranks share.
    """

    def __init__(self, speaker: Speaker, message_bytes: int) -> None:
        self._algorithm = algorithms("barrier")[N_WAY]
        self._speaker, self._message_bytes = speaker, message_bytes
        self.space = speaker.space([(self._algorithm, Task(2, message_bytes, peers=1))])
        self._middle = np.full((1, len(self.space.symbols)), 0.5)
        self._known: dict[Shape, float] = {}
        self._least: dict[int, float] = {}

    def seconds(self, ranks: int, peers: int) -> float:
        """The time for n = `peers`."""
        shape = shape_of(ranks, peers)
        if shape not in self._known:
            task = Task(ranks, self._message_bytes, peers=peers)
            times = self.space.seconds(self._algorithm, task, self._middle, False)
            self._known[shape] = float(times[0, 0])
        return self._known[shape]

    def fastest(self, ranks: int) -> int:
        """n*.

        A candidate whose rounds take longer than a known time, even if no message waits for another rank's, is not
        followed.
        """
        least = {n: self._least_seconds(ranks, n) for n in ragged_candidates(ranks)}
        times: dict[int, float] = {}
        best = np.inf
        for n in sorted(least, key=lambda n: (least[n], n)):
            if least[n] > best * (1 + SAME):
                break
            times[n] = self.seconds(ranks, n)
            best = min(best, times[n])
        return min(n for n, time in times.items() if time <= best * (1 + SAME))

    def _least_seconds(self, ranks: int, peers: int) -> float:
        rounds, _, last = shape_of(ranks, peers)
        return (rounds - 1) * self._least_round(peers) + self._least_round(last)

    def _least_round(self, peers: int) -> float:
        if peers not in self._least:
            self._least[peers] = self._speaker.least_round(Task(2, self._message_bytes), peers)
        return self._least[peers]


Shape = tuple[int, int, int]


def shape_of(ranks: int, peers: int) -> Shape:
    """What the barrier's time depends on: the number of rounds, n, and the peers of the last round."""
    return round_count(ranks, peers), peers, last_peers(ranks, peers)


def best_peers(ranks: int, seconds: Callable[[int], float]) -> int:
    """n* among the candidates; `seconds` is the barrier's time for n, which may follow each message."""
    return _least(ragged_candidates(ranks), seconds)


def best_peers_exhaustively(ranks: int, seconds: Callable[[int], float]) -> int:
    """n* among 1..P-1."""
    return _least(range(1, max(2, ranks)), seconds)


def _least(peers: Iterable[int], seconds: Callable[[int], float]) -> int:
    times = {n: seconds(n) for n in peers}
    bound = min(times.values()) * (1 + SAME)
    return next(n for n, time in times.items() if time <= bound)
