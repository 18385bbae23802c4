"""How often a sweep filled the uplinks: only then does one that is a little slow show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from chiplog.survey.pair_fit import PairFit
    from chiplog.survey.pair_values import IntArray

FULL = 0.9
"""The share of a leaf's nodes that must send (or receive) across its uplink at once for it to count as full."""


LEAST_SHARE = 0.5
"""An uplink is judged by the median of its pairs, so a slow one shows where more than this share filled it."""


@dataclass(frozen=True, slots=True)
class UplinkFill:
    """In how many rounds the uplink that was filled least often was full, of all rounds; each way counts for itself."""

    rounds: int
    least: int
    least_share: float = 1.0
    """Of the pairs across an uplink those that were measured while it was full, where these are the fewest."""

    @property
    def shows_slow_ones(self) -> bool:
        """Whether an uplink that is a little slow would show in most of its pairs."""
        return self.least_share > LEAST_SHARE

    def to_json(self) -> dict[str, Any]:
        """The counts for scripts."""
        return {
            "rounds": self.rounds,
            "least_filled": self.least,
            "least_share": self.least_share,
        }


def uplink_fill(fit: PairFit) -> UplinkFill | None:
    """How often a sweep of bandwidths filled each uplink; None with fewer than two leaves of two nodes.

    An uplink is full, one way, in a round in which nine tenths of its leaf's nodes send to other leaves, or receive
    from them.
    """
    sizes = np.bincount(fit.leaves, minlength=1)
    judged = np.flatnonzero(sizes >= 2)
    clients, servers = fit.values.clients[fit.usable], fit.values.servers[fit.usable]
    if judged.size < 2 or not fit.usable.size:
        return None
    _, rounds = np.unique(fit.values.rounds[fit.usable], return_inverse=True)
    count = int(rounds.max()) + 1
    crossing = fit.leaves[clients] != fit.leaves[servers]
    least, least_share = count, 1.0
    for ends in (clients, servers):
        busy = _busy(rounds[crossing], fit.leaves[ends][crossing], count, sizes.size)
        busy, full = busy[:, judged], (busy >= FULL * sizes)[:, judged]
        least = min(least, int(full.sum(axis=0).min()))
        shares = (busy * full).sum(axis=0) / np.maximum(1, busy.sum(axis=0))
        least_share = min(least_share, float(shares.min()))
    return UplinkFill(count, least, least_share)


def _busy(rounds: IntArray, leaves: IntArray, count: int, leaf_count: int) -> IntArray:
    """(rounds, leaves) how many pairs of each round begin, or end, in each leaf."""
    places = rounds * leaf_count + leaves
    return np.bincount(places, minlength=count * leaf_count).reshape(count, leaf_count)
