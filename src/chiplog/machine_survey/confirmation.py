"""The second stage, the confirmation: suspects measured again beside healthy nodes, fitted without suspected pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from chiplog.machine_survey.robust import group_medians, spread_of_controls
from chiplog.machine_survey.settings import SETTINGS
from chiplog.machine_survey.slowness_terms import (
    WAYS,
    Terms,
    both_ways,
    class_scales,
    end_effects,
    make_terms,
    of_nearest,
    shared_by_most,
    slowness,
    solve,
    three_ways,
    two_ways,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chiplog.machine_survey.pair_values import FloatArray, IntArray, PairValues
    from chiplog.machine_survey.slowness_model import PairFit
    from chiplog.machine_survey.sweep import Scores, Suspects


@dataclass(frozen=True, slots=True)
class ConfirmationFit:
    """The whole rounds of the confirmation, fitted without the suspected pairs."""

    sweep: PairFit
    values: PairValues
    core: IntArray
    """Places of the pairs between controls, and between a control and a suspected node."""
    terms: Terms
    effects: FloatArray
    """(3, n) both, out, in; relative to the median control; NaN of a node outside the core."""
    errors: FloatArray
    controls: IntArray
    spread: FloatArray
    """(3,) the standard deviation of the controls' effects."""
    freedom: float
    uplinks: FloatArray
    """(3, leaves); NaN of a leaf that is not judged."""
    expected: FloatArray
    """(3, n) the effect to be expected of each node by the sweep alone."""

    @property
    def way_count(self) -> int:
        """Returns in how many ways each node or uplink is judged."""
        return len(WAYS) if self.terms.is_directed else 1

    @property
    def ways(self) -> tuple[int, int]:
        """Returns the rows of `effects` and `uplinks` that a pair's client and its server have a part of."""
        return (1, 2) if self.terms.is_directed else (0, 0)

    @property
    def known_effects(self) -> FloatArray:
        """Returns (3, n) the effects; of a node outside the core the expected one."""
        return np.where(np.isfinite(self.effects), self.effects, self.expected)


def fit_confirmation(
    sweep: PairFit, suspects: Suspects, nodes: Scores, values: PairValues
) -> ConfirmationFit | None:
    """Fits the whole rounds that were measured again; None with too few healthy nodes.

    `nodes` are the scores of the nodes in the sweep.
    """
    core = _core(suspects, values)
    ends = np.union1d(values.clients[core], values.servers[core])
    reference = _reference(sweep, suspects, ends)
    if reference is None:
        return None
    rounds = _WholeRounds(sweep, values, core, reference)
    fitted = _fitted_uplinks(sweep, suspects, ends)
    is_directed = both_ways(values, core)
    fixed = _known_uplinks(rounds, fitted)
    terms = make_terms(values, sweep.leaves, core, fitted, is_directed=is_directed, fixed=fixed)
    effects = rounds.effects(terms)
    if is_directed:
        effects = _clear_of_uplinks(suspects.uplinks, rounds, terms, effects)
    spread = [spread_of_controls(row[np.isfinite(row)]) for row in effects.nodes[:, reference]]
    return ConfirmationFit(
        sweep,
        values,
        core,
        terms,
        effects.nodes,
        effects.errors,
        reference,
        np.array([max(SETTINGS.least_spread, sigma) for sigma, _ in spread]),
        min(freedom for _, freedom in spread),
        effects.uplinks,
        _expected_effects(sweep, nodes),
    )


def _core(suspects: Suspects, values: PairValues) -> IntArray:
    """Returns places of the pairs that are not suspected, nor between two suspected nodes."""
    nodes = len(values.nodes)
    is_suspect = np.zeros(nodes, dtype=bool)
    is_suspect[suspects.nodes] = True
    keys = pair_keys(values.clients, values.servers, nodes)
    suspected_keys = pair_keys(suspects.pairs[:, 0], suspects.pairs[:, 1], nodes)
    both = is_suspect[values.clients] & is_suspect[values.servers]
    is_known = np.isfinite(slowness(values))
    return np.flatnonzero(is_known & ~np.isin(keys, suspected_keys) & ~both)


def _reference(sweep: PairFit, suspects: Suspects, ends: IntArray) -> IntArray | None:
    """Returns the controls that effects are relative to: those behind no suspected uplink, where they suffice."""
    controls = np.setdiff1d(ends, suspects.nodes)
    clear = controls[~np.isin(sweep.leaves[controls], suspects.uplinks)]
    chosen = clear if clear.size >= SETTINGS.least_controls else controls
    return chosen if chosen.size >= SETTINGS.least_controls else None


@dataclass(frozen=True, slots=True)
class _Effects:
    """The effects of nodes and uplinks, each both ways, out and in."""

    nodes: FloatArray
    """(3, n) relative to the median one of the reference."""
    errors: FloatArray
    centres: FloatArray
    """(3,) that median."""
    uplinks: FloatArray
    """(3, leaves) NaN of one that is not fitted."""


@dataclass(frozen=True, slots=True)
class _WholeRounds:
    """Rounds of the sweep that were measured again: the pairs that are fitted, and whom effects are relative to."""

    sweep: PairFit
    values: PairValues
    core: IntArray
    reference: IntArray

    def effects(self, terms: Terms) -> _Effects:
        """Solves the terms."""
        nodes = len(self.values.nodes)
        weights = solve(terms)
        rest = terms.rest()
        flat, flat_errors = end_effects(terms, rest, class_scales(rest, terms.classes), weights)
        effects = three_ways(two_ways(flat, nodes, is_directed=terms.is_directed))
        centres = np.nanmedian(effects[:, self.reference], axis=1)
        pair = two_ways(flat_errors, nodes, is_directed=terms.is_directed)
        errors = three_ways(pair)
        errors[0] = np.sqrt((pair**2).sum(axis=0)) / 2 if terms.is_directed else pair[0]
        uplinks = np.full(terms.leaf_ends, np.nan)
        uplinks[terms.fitted] = terms.uplinks[terms.fitted]
        leaves = self.sweep.leaf_count
        of_leaves = three_ways(two_ways(uplinks, leaves, is_directed=terms.is_directed))
        return _Effects(effects - centres[:, None], errors, centres, of_leaves)

    def crosses(self, uplinks: IntArray) -> NDArray[np.bool_]:
        """Returns (core,) whether each pair uses one of these uplinks."""
        client_leaves = self.sweep.leaves[self.values.clients[self.core]]
        server_leaves = self.sweep.leaves[self.values.servers[self.core]]
        return np.asarray(
            (client_leaves != server_leaves)
            & (np.isin(client_leaves, uplinks) | np.isin(server_leaves, uplinks))
        )


def _fitted_uplinks(sweep: PairFit, suspects: Suspects, ends: IntArray) -> IntArray:
    """Returns the suspected uplinks that can be told from their nodes, and from other uplinks."""
    members = np.bincount(sweep.leaves[ends], minlength=sweep.leaf_count)
    if (members > 0).sum() < SETTINGS.least_leaves:
        return np.zeros(0, dtype=np.int64)
    return suspects.uplinks[members[suspects.uplinks] >= SETTINGS.least_of_leaf]


def _known_uplinks(rounds: _WholeRounds, fitted: IntArray) -> FloatArray:
    """Returns (core,) what the sweep says of the uplinks that are not fitted again."""
    known = np.nan_to_num(rounds.sweep.uplink_effects)
    known[:, fitted] = 0.0
    client_leaves = rounds.sweep.leaves[rounds.values.clients[rounds.core]]
    server_leaves = rounds.sweep.leaves[rounds.values.servers[rounds.core]]
    return np.where(
        client_leaves != server_leaves, known[0, client_leaves] + known[1, server_leaves], 0.0
    )


def _clear_of_uplinks(
    suspected: IntArray, rounds: _WholeRounds, terms: Terms, whole: _Effects
) -> _Effects:
    """Judges nodes by the pairs that cross no suspected uplink, and then each suspected uplink by the others.

    A full uplink that is slow hides a slow node on its other side: their pairs are only as slow as the uplink.
    `whole` is what all pairs of the core, whose terms are `terms`, say; it stays where none cross such an uplink.
    """
    crossing = rounds.crosses(suspected)
    if not crossing.any():
        return whole
    values, core = rounds.values, rounds.core
    clear = make_terms(
        values,
        rounds.sweep.leaves,
        core[~crossing],
        np.zeros(0, dtype=np.int64),
        is_directed=True,
        fixed=terms.fixed[~crossing],
    )
    if not (clear.classes == 1).any():
        return replace(whole, uplinks=np.full_like(whole.uplinks, np.nan))
    cleared = rounds.effects(clear)
    blocks = of_nearest(
        values.rounds[core], values.rounds[core[~crossing]], clear.block_values[clear.blocks]
    )
    rest = terms.data - terms.fixed - blocks
    rest -= clear.class_values[1] + cleared.centres[1:].sum()
    pairs = np.stack((values.clients, values.servers))[:, core[crossing]]
    return _uplinks_by_their_pairs(
        suspected, rounds.sweep.leaves, whole, cleared, pairs, rest[crossing]
    )


def _uplinks_by_their_pairs(
    suspected: IntArray,
    leaves: IntArray,
    whole: _Effects,
    clear: _Effects,
    pairs: IntArray,
    rest: FloatArray,
) -> _Effects:
    """Returns what the pairs across suspected uplinks say beyond `clear`; `whole` where they are too few.

    `pairs` (2, p) are their clients and servers; `rest` (p,) is their slowness beyond their class and block, a
    logarithm.
    """
    behind = np.isin(leaves, suspected)
    known = np.isfinite(clear.nodes[0]) & ~behind
    nodes = np.where(known, clear.nodes, whole.nodes)
    errors = np.where(known, clear.errors, whole.errors)
    uplinks = whole.uplinks.copy()
    for leaf in np.flatnonzero(np.isfinite(uplinks[0])).tolist():
        for way, (behind_it, other) in ((1, pairs), (2, pairs[::-1])):
            crossing = (leaves[behind_it] == leaf) & known[other]
            beyond = rest[crossing] - nodes[3 - way, other[crossing]]
            if beyond.size < SETTINGS.least_repeats:
                return whole
            of_nodes = group_medians(beyond, behind_it[crossing], leaves.size)
            seen = np.isfinite(of_nodes)
            uplinks[way, leaf] = shared_by_most(of_nodes[seen])
            nodes[way] = np.where(seen, of_nodes - uplinks[way, leaf], nodes[way])
    uplinks[0] = uplinks[1:].mean(axis=0)
    nodes[0, behind] = nodes[1:, behind].mean(axis=0)
    return _Effects(nodes, errors, clear.centres, uplinks)


def _expected_effects(sweep: PairFit, nodes: Scores) -> FloatArray:
    """Returns (3, n) the effect to be expected of each node: the sweep's, drawn towards 0 as far as it is uncertain.

    A suspected pair was chosen by what its nodes left over, so their effects as fitted would repeat that choice.
    """
    errors = sweep.node_errors[:, np.isfinite(sweep.node_effects[0])]
    chance = float(np.median(errors)) ** 2 if errors.size else 0.0
    effects = np.nan_to_num(sweep.node_effects)
    lasting = max(0.0, float(nodes.spread[1:].max()) ** 2 - chance)
    drawn = lasting / (lasting + sweep.node_errors**2 + SETTINGS.least_spread**2)
    return three_ways(effects * drawn)


def pair_keys(clients: IntArray, servers: IntArray, nodes: int) -> IntArray:
    """Returns a number for each pair, whichever way round."""
    return np.asarray(np.minimum(clients, servers) * nodes + np.maximum(clients, servers))
