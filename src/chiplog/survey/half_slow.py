"""Slow uplinks of half of a few leaves, or more, which the fit by typical pairs takes for healthy ones."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from chiplog.statistics import MEDIAN_ERROR
from chiplog.survey.robust import group_medians, mad
from chiplog.survey.suspects import LEAST_EFFECT

if TYPE_CHECKING:
    from chiplog.survey.pair_fit import PairFit
    from chiplog.survey.pair_values import IntArray

FEWEST_LEAVES, MOST_LEAVES = 4, 8
"""Numbers of leaves of which half, or more, may be slow; of more leaves most are healthy."""
CLEAR = 4.0
"""Standard errors by which pairs across slow uplinks must be slower than the others."""


def most_uplinks(fit: PairFit) -> tuple[IntArray, float]:
    """The leaves whose uplinks are slow where half of a few leaves, or more, have such, and the slowness; else none.

    A pair is as slow as the slower one of two full uplinks. So with two slow ones of four only the pairs between the
    other two leaves are quick, and the fit takes these for the odd ones. Two leaves must be healthy to be told.
    """
    none = np.zeros(0, dtype=np.int64), 0.0
    crossing = fit.classes == 1
    client_leaves = fit.leaves[fit.values.clients[fit.usable][crossing]]
    server_leaves = fit.leaves[fit.values.servers[fit.usable][crossing]]
    leaves = np.union1d(client_leaves, server_leaves)
    if fit.values.kind == "latency" or not FEWEST_LEAVES <= leaves.size <= MOST_LEAVES:
        return none
    uplinks = np.nan_to_num(fit.uplink_effects)
    slow = fit.residuals[crossing] + uplinks[0, client_leaves] + uplinks[1, server_leaves]
    size = int(leaves.max()) + 1
    keys = np.minimum(client_leaves, server_leaves) * size + np.maximum(
        client_leaves, server_leaves
    )
    known, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
    medians = group_medians(slow, place.reshape(-1), known.size)
    noise = float(np.median(fit.scales[crossing]) * MEDIAN_ERROR / np.sqrt(np.median(counts)))
    ends = np.stack(np.divmod(known, size))
    best, slow_uplinks = np.inf, none
    for count in range(1, leaves.size - 1):
        for chosen in combinations(leaves.tolist(), count):
            is_slow = np.isin(ends, chosen).any(axis=0)
            if is_slow.all():
                continue
            above, below = np.median(medians[is_slow]), np.median(medians[~is_slow])
            residuals = medians - np.where(is_slow, above, below)
            if np.abs(residuals).sum() >= best:
                continue
            best, gap = float(np.abs(residuals).sum()), float(above - below)
            shares = 1 / is_slow.sum() + 1 / (~is_slow).sum()
            is_clear = gap > max(LEAST_EFFECT, CLEAR * max(noise, mad(residuals)) * shares**0.5)
            is_most = 2 * count >= leaves.size
            slow_uplinks = (np.array(chosen, dtype=np.int64), gap) if is_clear and is_most else none
    return slow_uplinks
