"""The second measurement, fitted without the suspected pairs, and what was judged by it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from chiplog.survey.pair_fit import (
    LEAST_LEAVES,
    LEAST_OF_LEAF,
    Terms,
    both_ways,
    class_scales,
    end_effects,
    make_terms,
    of_nearest,
    shared_by_most,
    slowness,
    solve,
)
from chiplog.survey.robust import group_medians, spread_of_controls
from chiplog.survey.suspects import LEAST_CONTROLS, WAYS, scores, three_ways

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from chiplog.survey.pair_fit import PairFit
    from chiplog.survey.pair_values import FloatArray, IntArray, Kind, PairValues
    from chiplog.survey.suspects import Suspects

LEAST_REPEATS = 3
"""Figures of a pair from which it is judged: one spike, or two, must not decide."""
PAIR_QUANTILE: Mapping[Kind, float] = {"bandwidth": 0.25, "latency": 0.0}
"""A pair is judged by the lower quartile of its bandwidths' slowness, so that most of its repeats must be slow. What a
busy machine adds to a latency is never below 0 and may be many times the latency, so its minimum is taken."""
HINT = 0.05
"""The error rate below which an unproved suspect is still listed as inconclusive."""
LEAST_HINT = 0.02
DOUBT = "it is slow in both measurements, but not beyond doubt"
UNTOLD = "it was slow in the sweep, and the second measurement can't tell"
HINTED = "it seemed slow in the sweep, and the second measurement can't tell"
HIDDEN = "its leaf's uplink seems slow, which may hide that the node is, too"
LEAST_SPREAD = 1e-5


@dataclass(frozen=True, slots=True)
class JudgedSuspect:
    """A suspect and its fresh slowness, a logarithm, with the half width that all intervals of the sweep share."""

    kind: Literal["node", "uplink", "pair"]
    number: int
    other: int | None
    way: str
    slowness: float
    half_width: float
    is_slow: bool
    reason: str | None


@dataclass(slots=True)
class Again:
    """What the second measurement says of all suspects."""

    fresh: Fresh | None = None
    """None where it has too few healthy nodes."""
    judged: list[JudgedSuspect] = field(default_factory=list)
    critical: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Of each kind that was judged: the slowness that is accused, and the standard error of a suspect's."""
    untested_pairs: list[int] = field(default_factory=list)
    """Places of the suspected pairs that were not measured often enough."""


@dataclass(frozen=True, slots=True)
class Fresh:
    """The second measurement, fitted without the suspected pairs."""

    first: PairFit
    values: PairValues
    logs: FloatArray
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


def fit_again(first: PairFit, suspected: Suspects, again: PairValues) -> Fresh | None:
    """None with too few healthy nodes."""
    logs = slowness(again)
    core = _core(suspected, again, logs)
    ends = np.union1d(again.clients[core], again.servers[core])
    reference = _reference(first, suspected, ends)
    if reference is None:
        return None
    judged = _judged_uplinks(first, suspected, ends)
    fixed = _known_uplinks(first, again, core, judged)
    directed = both_ways(again, core)
    terms = make_terms(again, first.leaves, logs, core, judged, is_directed=directed, fixed=fixed)
    effects = _effects(terms, len(again.nodes), first.leaf_count, reference)
    if directed:
        effects = _apart_from(suspected.uplinks, first, again, core, terms, reference, effects)
    spread = [spread_of_controls(row[np.isfinite(row)]) for row in effects.nodes[:, reference]]
    return Fresh(
        first,
        again,
        logs,
        core,
        terms,
        effects.nodes,
        effects.errors,
        reference,
        np.array([max(LEAST_SPREAD, sigma) for sigma, _ in spread]),
        min(freedom for _, freedom in spread),
        effects.uplinks,
    )


def _core(suspected: Suspects, again: PairValues, logs: FloatArray) -> IntArray:
    """Places of the pairs that are not suspected, nor between two suspected nodes."""
    nodes = len(again.nodes)
    is_suspect = np.zeros(nodes, dtype=bool)
    is_suspect[suspected.nodes] = True
    keys = pair_keys(again.clients, again.servers, nodes)
    suspected_keys = pair_keys(suspected.pairs[:, 0], suspected.pairs[:, 1], nodes)
    both = is_suspect[again.clients] & is_suspect[again.servers]
    return np.flatnonzero(np.isfinite(logs) & ~np.isin(keys, suspected_keys) & ~both)


def _reference(first: PairFit, suspected: Suspects, ends: IntArray) -> IntArray | None:
    """The controls that effects are relative to: those behind no suspected uplink, where they suffice."""
    controls = np.setdiff1d(ends, suspected.nodes)
    clear = controls[~np.isin(first.leaves[controls], suspected.uplinks)]
    chosen = clear if clear.size >= LEAST_CONTROLS else controls
    return chosen if chosen.size >= LEAST_CONTROLS else None


@dataclass(slots=True)
class _Effects:
    """What a fit says of nodes and uplinks, each both ways, out and in."""

    nodes: FloatArray
    """(3, n) relative to the median one of the reference."""
    errors: FloatArray
    centres: FloatArray
    """(3,) that median."""
    uplinks: FloatArray
    """(3, leaves) NaN of one that is not fitted."""


def _effects(terms: Terms, nodes: int, leaves: int, reference: IntArray) -> _Effects:
    """Solves the terms."""
    weights = solve(terms)
    rest = terms.rest()
    flat, flat_errors = end_effects(terms, rest, class_scales(rest, terms.classes), weights)
    effects = three_ways(two_ways(flat, nodes, terms.is_directed))
    centres = np.nanmedian(effects[:, reference], axis=1)
    pair = two_ways(flat_errors, nodes, terms.is_directed)
    errors = three_ways(pair)
    errors[0] = np.sqrt((pair**2).sum(axis=0)) / 2 if terms.is_directed else pair[0]
    uplinks = np.full(terms.leaf_ends, np.nan)
    uplinks[terms.judged] = terms.uplinks[terms.judged]
    of_leaves = three_ways(two_ways(uplinks, leaves, terms.is_directed))
    return _Effects(effects - centres[:, None], errors, centres, of_leaves)


def _apart_from(
    suspected: IntArray,
    first: PairFit,
    again: PairValues,
    core: IntArray,
    terms: Terms,
    reference: IntArray,
    whole: _Effects,
) -> _Effects:
    """Judges nodes by the pairs that cross no suspected uplink, and then each suspected uplink by its own pairs.

    A full uplink that is slow hides a slow node on its other side: their pairs are only as slow as the uplink.
    `whole` is what all pairs of `core`, whose terms are `terms`, say; it stays where no pairs are apart.
    """
    crossing = _crosses(first, suspected, again.clients[core], again.servers[core])
    kept = ~crossing
    clear = make_terms(
        again,
        first.leaves,
        slowness(again),
        core[kept],
        np.zeros(0, dtype=np.int64),
        is_directed=True,
        fixed=terms.fixed[kept],
    )
    if not crossing.any():
        return whole
    if not (clear.classes == 1).any():
        return replace(whole, uplinks=np.full_like(whole.uplinks, np.nan))
    cleared = _effects(clear, len(again.nodes), first.leaf_count, reference)
    spells = of_nearest(
        again.rounds[core], again.rounds[core[kept]], clear.spell_values[clear.spells]
    )
    rest = terms.data - terms.fixed - spells
    rest -= clear.class_values[1] + cleared.centres[1:].sum()
    pairs = np.stack((again.clients, again.servers))[:, core[crossing]]
    return _uplinks_by_their_pairs(suspected, first.leaves, whole, cleared, pairs, rest[crossing])


def _uplinks_by_their_pairs(
    suspected: IntArray,
    leaves: IntArray,
    whole: _Effects,
    clear: _Effects,
    pairs: IntArray,
    rest: FloatArray,
) -> _Effects:
    """What the pairs across suspected uplinks say beyond `clear`; `whole` where they are too few.

    `pairs` (2, p) are their clients and servers; `rest` (p,) is their slowness beyond their class and spell, a
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
            if beyond.size < LEAST_REPEATS:
                return whole
            of_nodes = group_medians(beyond, behind_it[crossing], leaves.size)
            seen = np.isfinite(of_nodes)
            uplinks[way, leaf] = shared_by_most(of_nodes[seen])
            nodes[way] = np.where(seen, of_nodes - uplinks[way, leaf], nodes[way])
    uplinks[0] = uplinks[1:].mean(axis=0)
    nodes[0, behind] = nodes[1:, behind].mean(axis=0)
    return _Effects(nodes, errors, clear.centres, uplinks)


def _crosses(
    first: PairFit, uplinks: IntArray, clients: IntArray, servers: IntArray
) -> NDArray[np.bool_]:
    """Whether each pair uses one of these uplinks."""
    client_leaves, server_leaves = first.leaves[clients], first.leaves[servers]
    return np.asarray(
        (client_leaves != server_leaves)
        & (np.isin(client_leaves, uplinks) | np.isin(server_leaves, uplinks))
    )


def tests_alone(first: PairFit) -> int:
    """How many tests share the error rate of bandwidths alone: each node and each uplink, in three ways."""
    return len(WAYS) * (len(first.values.nodes) + first.leaf_count)


def two_ways(ends: FloatArray, size: int, directed: bool) -> FloatArray:
    """(2, size) out and in, the same where both directions were fitted together."""
    return ends.reshape(2, size) if directed else np.array([ends[:size], ends[:size]])


def pair_keys(values: IntArray, other: IntArray, nodes: int) -> IntArray:
    """A number for each pair, whichever way round."""
    return np.asarray(np.minimum(values, other) * nodes + np.maximum(values, other))


def _judged_uplinks(first: PairFit, suspected: Suspects, ends: IntArray) -> IntArray:
    members = np.bincount(first.leaves[ends], minlength=first.leaf_count)
    if (members > 0).sum() < LEAST_LEAVES:
        return np.zeros(0, dtype=np.int64)
    return suspected.uplinks[members[suspected.uplinks] >= LEAST_OF_LEAF]


def _known_uplinks(
    first: PairFit, again: PairValues, pairs: IntArray, judged: IntArray
) -> FloatArray:
    """(pairs,) what the sweep found of the uplinks that are not judged now."""
    known = np.nan_to_num(first.uplink_effects)
    known[:, judged] = 0.0
    client_leaves, server_leaves = (
        first.leaves[again.clients[pairs]],
        first.leaves[again.servers[pairs]],
    )
    return np.where(
        client_leaves != server_leaves, known[0, client_leaves] + known[1, server_leaves], 0.0
    )


def expected_effects(first: PairFit) -> FloatArray:
    """(3, n) the effect to be expected of each node again: the sweep's, drawn towards 0 as far as it is uncertain.

    A suspected pair was chosen by what its nodes left over, so their effects as fitted would repeat that choice.
    """
    sweep_scores = scores(first)
    errors = first.node_errors[:, np.isfinite(first.node_effects[0])]
    chance = float(np.median(errors)) ** 2 if errors.size else 0.0
    effects = np.nan_to_num(first.node_effects)
    lasting = max(0.0, float(sweep_scores.node_spread[1:].max()) ** 2 - chance)
    drawn = lasting / (lasting + first.node_errors**2 + LEAST_SPREAD**2)
    return three_ways(effects * drawn)
