"""Two ways to do one thing, measured in turn in one run, compared by the ratio of their medians."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Ratio:
    """Median of ours over median of the peer's, with a 95 % bootstrap interval over the alternations."""

    name: str
    ours_seconds: float
    peer_seconds: float
    value: float
    low: float
    high: float
    rounds: int
    goal: float | None = None

    @property
    def standing(self) -> str:
        """What the interval says of the two."""
        if self.high < 1.0:
            return "faster"
        return "slower" if self.low > 1.0 else "at par"

    def line(self) -> str:
        """One row of a table, for people."""
        goal = (
            ""
            if self.goal is None
            else f"   goal <= {self.goal:.2f}: {'met' if self.value <= self.goal else 'NOT met'}"
        )
        return (
            f"{self.name:<44} ours {self.ours_seconds * 1e6:9.4f} us   peer {self.peer_seconds * 1e6:9.4f} us   "
            f"ratio {self.value:6.3f} [{self.low:.3f}, {self.high:.3f}]   {self.rounds} rounds{goal}"
        )


def alternate(
    name: str,
    ours: Callable[[], float],
    peer: Callable[[], float],
    *,
    rounds: int = 24,
    goal: float | None = None,
) -> Ratio:
    """Calls `ours` and `peer` in turn (who goes first alternates too); each returns seconds."""
    ours_seconds: list[float] = []
    peer_seconds: list[float] = []
    for turn in range(rounds):
        order = [(ours, ours_seconds), (peer, peer_seconds)]
        for call, results in order if turn % 2 == 0 else reversed(order):
            results.append(call())
    return ratio(name, ours_seconds, peer_seconds, goal=goal)


def ratio(
    name: str,
    ours_seconds: Sequence[float],
    peer_seconds: Sequence[float],
    *,
    goal: float | None = None,
) -> Ratio:
    """Of as many measurements of each, taken in turn."""
    rounds = len(ours_seconds)
    generator = random.Random(1)
    ratios = []
    for _ in range(1000):
        chosen = [generator.randrange(rounds) for _ in range(rounds)]
        ratios.append(
            statistics.median(ours_seconds[i] for i in chosen)
            / statistics.median(peer_seconds[i] for i in chosen)
        )
    ratios.sort()
    ours_median, peer_median = statistics.median(ours_seconds), statistics.median(peer_seconds)
    return Ratio(
        name,
        ours_median,
        peer_median,
        ours_median / peer_median,
        ratios[24],
        ratios[975],
        rounds,
        goal,
    )
