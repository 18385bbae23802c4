"""The slowness model: the logarithm of each pair's figure as class + block + node + node + uplinks + rest.

It is fitted robustly. Where half of a few leaves, or more, have slow uplinks, a fit by typical pairs takes these for
healthy ones, so their part is taken out first.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from chiplog.machine_survey.robust import group_medians, mad
from chiplog.machine_survey.settings import SETTINGS
from chiplog.machine_survey.slowness_terms import (
    Terms,
    class_scales,
    end_effects,
    make_terms,
    noise_of_ends,
    slowness,
    solve,
    two_ways,
)
from chiplog.statistics import MEDIAN_ERROR

if TYPE_CHECKING:
    from chiplog.machine_survey.pair_values import FloatArray, IntArray, PairValues


@dataclass(frozen=True, slots=True)
class PairFit:
    """A sweep, explained by its classes, nodes and uplinks. All figures are slowness in logarithms: above 0 is slow."""

    values: PairValues
    leaves: IntArray
    """(n,) the number of each node's leaf."""
    is_directed: bool
    """Whether a node's two directions, out (as client) and in (as server), were fitted apart."""
    usable: IntArray
    """(u,) the pairs that have a figure, as places in `values`."""
    node_effects: FloatArray
    """(2, n) out and in, the same where not directed; NaN of a node without pairs."""
    node_errors: FloatArray
    """(2, n) standard errors by the spread of the node's own pairs."""
    uplink_effects: FloatArray
    """(2, leaves) out and in; NaN where it can't be told from the nodes or from other uplinks."""
    uplink_pairs: IntArray
    """(leaves,) the pairs that cross each uplink."""
    within_effects: FloatArray
    """(leaves,) what the pairs within each leaf whose uplink is fitted have in common beyond their class; else 0."""
    residuals: FloatArray
    """(u,) what is left of each usable pair."""
    scales: FloatArray
    """(u,) the spread to be expected of it: that of its class, or of its noisier node."""
    classes: IntArray
    """(u,) 0 within a leaf, 1 between leaves."""
    class_values: FloatArray
    """(2,) the class's own slowness; NaN of a class without pairs."""

    @property
    def leaf_count(self) -> int:
        """Returns the number of leaves."""
        return int(self.leaves.max(initial=-1)) + 1


def fit_pairs(values: PairValues, leaves: IntArray | None = None) -> PairFit:
    """Fits a sweep of pairs: full, sparse, in one direction or both.

    `leaves` (n,) is the number of each node's leaf; without it all nodes are in one. Alternates between the terms:
    first medians, then means with Tukey's weights, until no node's effect moves by more than a fiftieth of its
    standard error. What a whole block of rounds shares is taken out as far as the blocks differ by more than chance.
    Of bandwidths, where most pairs between leaves seem to cross a slow uplink, its part is taken out first.
    """
    nodes = len(values.nodes)
    leaves = np.zeros(nodes, dtype=np.int64) if leaves is None else leaves
    usable = np.flatnonzero(np.isfinite(slowness(values)))
    fitted = _fitted_leaves(values, leaves, usable)
    terms = make_terms(values, leaves, usable, fitted)
    weights = solve(terms)
    fit = _result(values, leaves, usable, terms, weights)
    slow, gap = _majority_uplinks(fit)
    if not slow.size:
        return fit
    is_behind = np.isin(leaves, slow)
    touched = is_behind[values.clients[usable]] | is_behind[values.servers[usable]]
    fixed = gap * (touched & (terms.classes == 1))
    terms = make_terms(values, leaves, usable, fitted, fixed=fixed)
    weights = solve(terms)
    terms.uplinks.reshape(len(terms.sides), -1)[:, slow] += gap
    return _result(values, leaves, usable, terms, weights)


def _majority_uplinks(fit: PairFit) -> tuple[IntArray, float]:
    """Returns the slow uplinks where half of a few leaves, or more, have such, and their slowness; else none.

    A pair is as slow as the slower one of two full uplinks. So with two slow ones of four only the pairs between the
    other two leaves are quick, and the fit takes these for the odd ones. Two leaves must be healthy to be told.
    """
    none = np.zeros(0, dtype=np.int64), 0.0
    crossing = fit.classes == 1
    client_leaves = fit.leaves[fit.values.clients[fit.usable][crossing]]
    server_leaves = fit.leaves[fit.values.servers[fit.usable][crossing]]
    leaves = np.union1d(client_leaves, server_leaves)
    fewest, most = SETTINGS.majority_leaves
    if fit.values.kind == "latency" or not fewest <= leaves.size <= most:
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
    return _best_majority(medians, np.stack(np.divmod(known, size)), leaves, noise)


def _best_majority(
    medians: FloatArray, ends: IntArray, leaves: IntArray, noise: float
) -> tuple[IntArray, float]:
    """Returns the set of slow uplinks that explains best what pairs of leaves differ by, if it is half of them or more.

    `medians` (p,) are those of pairs of leaves, `ends` (2, p) their two leaves; `noise` is a median's standard error.
    """
    none = np.zeros(0, dtype=np.int64), 0.0
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
            error = max(noise, mad(residuals)) * shares**0.5
            is_clear = gap > max(SETTINGS.majority_gap, SETTINGS.majority_errors * error)
            is_most = 2 * count >= leaves.size
            slow_uplinks = (np.array(chosen, dtype=np.int64), gap) if is_clear and is_most else none
    return slow_uplinks


def _fitted_leaves(values: PairValues, leaves: IntArray, usable: IntArray) -> IntArray:
    """Returns the leaves whose uplinks can be told from their nodes, and from each other."""
    seen = np.union1d(values.clients[usable], values.servers[usable])
    sizes = np.bincount(leaves[seen], minlength=int(leaves.max(initial=-1)) + 1)
    crossing = leaves[values.clients[usable]] != leaves[values.servers[usable]]
    if (sizes > 0).sum() < SETTINGS.least_leaves or not crossing.any():
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(sizes >= SETTINGS.least_of_leaf)


def _result(
    values: PairValues, leaves: IntArray, usable: IntArray, terms: Terms, weights: FloatArray
) -> PairFit:
    """Returns the fitted terms as effects with their errors."""
    nodes, leaf_count = len(values.nodes), int(leaves.max(initial=-1)) + 1
    is_directed = terms.is_directed
    rest = terms.rest()
    scales = class_scales(rest, terms.classes)
    ends, errors = end_effects(terms, rest, scales, weights)
    noise = noise_of_ends(terms, rest, scales)
    uplinks = np.full(terms.leaf_ends, np.nan)
    uplinks[terms.fitted] = terms.uplinks[terms.fitted]
    crossing = terms.classes == 1
    per_leaf = np.bincount(leaves[values.clients[usable]][crossing], minlength=leaf_count)
    per_leaf += np.bincount(leaves[values.servers[usable]][crossing], minlength=leaf_count)
    class_values = np.where(np.bincount(terms.classes, minlength=2) > 0, terms.class_values, np.nan)
    return PairFit(
        values=values,
        leaves=leaves,
        is_directed=is_directed,
        usable=usable,
        node_effects=two_ways(ends, nodes, is_directed=is_directed),
        node_errors=two_ways(errors, nodes, is_directed=is_directed),
        uplink_effects=two_ways(uplinks, leaf_count, is_directed=is_directed)
        if leaf_count
        else np.zeros((2, 0)),
        uplink_pairs=per_leaf,
        within_effects=terms.within[:leaf_count],
        residuals=rest,
        scales=scales[terms.classes] * np.maximum(noise[terms.clients], noise[terms.servers]),
        classes=terms.classes,
        class_values=class_values,
    )
