"""The logarithm of each pair's figure as class + spell + node + node + uplinks + rest, robustly fitted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from chiplog.statistics import MAD_TO_DEVIATION
from chiplog.survey.half_slow import most_uplinks
from chiplog.survey.robust import (
    group_means,
    group_medians,
    mad,
    tukey_weights,
)

if TYPE_CHECKING:
    from chiplog.survey.pair_values import FloatArray, IntArray, PairValues

LEAST_SCALE = 1e-4
"""The spread of a class of pairs is taken as at least this, as a clock's and a counter's resolution gives."""
LEAST_IN_SPELL = 16
"""Pairs from which the shift of a spell, of one round or several in a row, is estimated."""
LEAST_OF_LEAF = 3
"""Nodes from which a leaf's uplink can be told from its nodes."""
LEAST_LEAVES = 3
"""Leaves from which the uplink of one can be told from that of another."""
LEAST_EACH_WAY = 2
"""Pairs that a node must be client of, and server of, for its two directions to be told apart."""
PRIOR_PAIRS = 64
"""Pairs that the spread of all pairs counts as in that of one class."""
_MEDIAN_STEPS = 2
_STEPS = 60
_DONE = 0.02


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
        """The number of leaves."""
        return int(self.leaves.max(initial=-1)) + 1


def slowness(values: PairValues) -> FloatArray:
    """(m,) the logarithm of a latency, or minus that of a bandwidth; NaN where a pair has no figure."""
    known = np.isfinite(values.values) & (values.values > 0)
    logs = np.log(np.where(known, values.values, np.nan))
    return logs if values.kind == "latency" else -logs


@dataclass(slots=True)
class Terms:
    """The state of the fit: which term each pair has a part in, and the terms' values."""

    data: FloatArray
    clients: IntArray
    """(u,) numbers of the ends of nodes: out."""
    servers: IntArray
    """(u,) likewise in, the numbers of `clients` plus the nodes where directed."""
    client_leaves: IntArray
    server_leaves: IntArray
    classes: IntArray
    spells: IntArray
    leaf_of_end: IntArray
    """(ends,) the leaf's end that each node's end belongs to."""
    judged: IntArray
    """The leaf ends whose uplinks are fitted."""
    leaf_ends: int
    is_directed: bool
    fixed: FloatArray
    """(u,) what is known of each pair from elsewhere."""
    class_values: FloatArray = field(init=False)
    spell_values: FloatArray = field(init=False)
    ends: FloatArray = field(init=False)
    uplinks: FloatArray = field(init=False)
    within: FloatArray = field(init=False)
    sides: tuple[IntArray, ...] = field(init=False)
    """The ends with pairs: of both directions together, or of out and of in."""

    def __post_init__(self) -> None:
        self.class_values = np.zeros(2)
        self.spell_values = np.zeros(int(self.spells.max(initial=-1)) + 1)
        self.ends = np.zeros(self.leaf_of_end.size)
        self.uplinks = np.zeros(self.leaf_ends)
        self.within = np.zeros(self.leaf_ends)
        out, into = np.unique(self.clients), np.unique(self.servers)
        self.sides = (out, into) if self.is_directed else (np.union1d(out, into),)

    def rest(self) -> FloatArray:
        """(u,) what the terms leave of each pair."""
        crossing = self.classes == 1
        leaf_part = np.where(
            crossing,
            self.uplinks[self.client_leaves] + self.uplinks[self.server_leaves],
            self.within[self.client_leaves],
        )
        return np.asarray(
            self.data
            - self.fixed
            - self.class_values[self.classes]
            - self.spell_values[self.spells]
            - self.ends[self.clients]
            - self.ends[self.servers]
            - leaf_part
        )


def fit_pairs(values: PairValues, leaves: IntArray | None = None) -> PairFit:
    """Fits a sweep of pairs: full, sparse, in one direction or both.

    `leaves` (n,) is the number of each node's leaf; without it all nodes are in one. Alternates between the terms:
    first medians, then means with Tukey's weights, until no node's effect moves by more than a fiftieth of its
    standard error. What a whole spell of rounds shares is taken out as far as the spells differ by more than chance.
    Of bandwidths, where most pairs between leaves seem to cross a slow uplink, its part is taken out first.
    """
    nodes = len(values.nodes)
    leaves = np.zeros(nodes, dtype=np.int64) if leaves is None else leaves
    logs = slowness(values)
    usable = np.flatnonzero(np.isfinite(logs))
    judged = _judged_leaves(values, leaves, usable)
    terms = make_terms(values, leaves, logs, usable, judged)
    weights = solve(terms)
    fit = _result(values, leaves, usable, terms, weights)
    slow, gap = most_uplinks(fit)
    if not slow.size:
        return fit
    is_behind = np.isin(leaves, slow)
    touched = is_behind[values.clients[usable]] | is_behind[values.servers[usable]]
    fixed = gap * (touched & (terms.classes == 1))
    terms = make_terms(values, leaves, logs, usable, judged, fixed=fixed)
    weights = solve(terms)
    terms.uplinks.reshape(len(terms.sides), -1)[:, slow] += gap
    return _result(values, leaves, usable, terms, weights)


def make_terms(
    values: PairValues,
    leaves: IntArray,
    logs: FloatArray,
    usable: IntArray,
    judged: IntArray,
    *,
    is_directed: bool | None = None,
    fixed: FloatArray | None = None,
) -> Terms:
    """The terms of a sweep before they are fitted; `judged` are the leaves whose uplinks are fitted."""
    nodes = len(values.nodes)
    leaf_count = int(leaves.max(initial=-1)) + 1
    clients, servers = values.clients[usable], values.servers[usable]
    directed = both_ways(values, usable) if is_directed is None else is_directed
    shift, leaf_shift = (nodes, leaf_count) if directed else (0, 0)
    return Terms(
        data=logs[usable],
        clients=clients,
        servers=servers + shift,
        client_leaves=leaves[clients],
        server_leaves=leaves[servers] + leaf_shift,
        classes=(leaves[clients] != leaves[servers]).astype(np.int64),
        spells=spells_of(values.rounds[usable]),
        leaf_of_end=np.concatenate((leaves, leaves + leaf_shift)) if directed else leaves,
        judged=np.concatenate((judged, judged + leaf_shift)) if directed else judged,
        leaf_ends=max(1, leaf_count + leaf_shift),
        is_directed=directed,
        fixed=np.zeros(usable.size) if fixed is None else fixed,
    )


def both_ways(values: PairValues, usable: IntArray) -> bool:
    """Whether nearly all nodes are often enough client, and server, for their directions to be told apart."""
    if values.kind == "latency" or not usable.size:
        return False
    nodes = len(values.nodes)
    out = np.bincount(values.clients[usable], minlength=nodes)
    into = np.bincount(values.servers[usable], minlength=nodes)
    seen = out + into > 0
    enough = (out >= LEAST_EACH_WAY) & (into >= LEAST_EACH_WAY)
    return bool(enough[seen].mean() >= 0.9)


def _judged_leaves(values: PairValues, leaves: IntArray, usable: IntArray) -> IntArray:
    seen = np.union1d(values.clients[usable], values.servers[usable])
    sizes = np.bincount(leaves[seen], minlength=int(leaves.max(initial=-1)) + 1)
    crossing = leaves[values.clients[usable]] != leaves[values.servers[usable]]
    if (sizes > 0).sum() < LEAST_LEAVES or not crossing.any():
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(sizes >= LEAST_OF_LEAF)


def spells_of(rounds: IntArray) -> IntArray:
    """(u,) the number of each pair's spell: as many rounds in a row as have LEAST_IN_SPELL pairs together."""
    _, number, sizes = np.unique(rounds, return_inverse=True, return_counts=True)
    spell_of_round = np.zeros(sizes.size, dtype=np.int64)
    filled = spell = 0
    for place, size in enumerate(sizes.tolist()):
        spell_of_round[place] = spell
        filled += size
        if filled >= LEAST_IN_SPELL:
            spell, filled = spell + 1, 0
    if filled and spell:  # what is left of the last rounds goes with those before
        spell_of_round[spell_of_round == spell] = spell - 1
    return np.asarray(spell_of_round[number.reshape(-1)])


def of_nearest(rounds: IntArray, known_rounds: IntArray, shifts: FloatArray) -> FloatArray:
    """(m,) of each round the shift of the nearest one that is known."""
    known, place = np.unique(known_rounds, return_index=True)
    nearest = np.searchsorted((known[1:] + known[:-1]) / 2, rounds)
    return np.asarray(shifts[place][nearest])


def class_scales(rest: FloatArray, classes: IntArray) -> FloatArray:
    """(2,) the spread within each class, drawn towards that of all where a class has few pairs.

    Terms of their own could otherwise explain a small class wholly, which would then outweigh the other.
    """
    common = max(LEAST_SCALE, mad(rest))
    own_scales = np.array([mad(rest[classes == pair_class]) for pair_class in (0, 1)])
    pairs = np.bincount(classes, minlength=2)
    drawn = np.sqrt((pairs * own_scales**2 + PRIOR_PAIRS * common**2) / (pairs + PRIOR_PAIRS))
    return np.asarray(np.maximum(drawn, common / 2))


def solve(terms: Terms) -> FloatArray:
    """Fits the terms in place; returns (u,) the weights of the pairs, at most 1."""
    if not terms.data.size:
        return np.zeros(0)
    for pair_class in (0, 1):
        if (terms.classes == pair_class).any():
            terms.class_values[pair_class] = np.median(
                (terms.data - terms.fixed)[terms.classes == pair_class]
            )
    for _ in range(_MEDIAN_STEPS):
        _step(terms, None)
    weights = np.ones(terms.data.size)
    for _ in range(_STEPS):
        rest = terms.rest()
        scales = class_scales(rest, terms.classes)[terms.classes]
        weights = tukey_weights(rest / scales)
        before = terms.ends.copy()
        _step(terms, weights / scales**2)
        if np.abs(terms.ends - before).max(initial=0.0) < _DONE * _error_of_an_end(terms, scales):
            break
    return weights


def _error_of_an_end(terms: Terms, scales: FloatArray) -> float:
    pairs = 2 * terms.data.size / max(1, terms.ends.size)
    return float(np.median(scales)) / max(1.0, pairs) ** 0.5 if scales.size else 1.0


def _step(terms: Terms, weights: FloatArray | None) -> None:
    """Moves each term to the centre of what the others leave: the median without `weights`, else the weighted mean."""
    _move_ends(terms, weights)
    _centre(terms)
    if terms.judged.size:
        _move_uplinks(terms, weights)
    if weights is not None:
        _move_spells(terms, weights)
    rest = terms.rest()
    for pair_class in (0, 1):
        of_class = terms.classes == pair_class
        if of_class.any():
            kept = None if weights is None else weights[of_class]
            terms.class_values[pair_class] += _centre_of(rest[of_class], kept)


def _centre_of(values: FloatArray, weights: FloatArray | None) -> float:
    if weights is None or not weights.sum() > 0:
        return float(np.median(values))
    return float(np.average(values, weights=weights))


def _centres(
    values: FloatArray, groups: IntArray, count: int, weights: FloatArray | None
) -> FloatArray:
    if weights is None:
        return np.nan_to_num(group_medians(values, groups, count))
    return group_means(values, groups, count, weights)[0]


def _move_ends(terms: Terms, weights: FloatArray | None) -> None:
    rest, count = terms.rest(), terms.ends.size
    if len(terms.sides) == 2:  # no end is both client and server: one side after the other
        terms.ends += _centres(rest, terms.clients, count, weights)
        terms.ends += _centres(terms.rest(), terms.servers, count, weights)
        return
    groups = np.concatenate((terms.clients, terms.servers))
    twice = None if weights is None else np.concatenate((weights, weights))
    terms.ends += _centres(np.concatenate((rest, rest)), groups, count, twice)


def _centre(terms: Terms) -> None:
    """Takes from the nodes what all have in common, and those of a judged leaf: the class's and the uplink's."""
    for side in terms.sides:
        terms.ends[side] -= np.median(terms.ends[side])
        for leaf in terms.judged.tolist():
            members = side[terms.leaf_of_end[side] == leaf]
            if members.size:
                terms.ends[members] -= shared_by_most(terms.ends[members])


def shared_by_most(effects: FloatArray) -> float:
    """What more than half of a leaf's nodes, and a healthy one beside them, have in common: their uplink's part.

    It is the median of them and a 0, of two middle ones the one nearer to 0: where half of a leaf's nodes are slow, its
    uplink would explain that only together with as many nodes that are too quick.
    """
    ordered = np.sort(np.append(effects, 0.0))
    middle = ordered[effects.size // 2 : (effects.size + 1) // 2 + 1]
    return float(middle[np.argmin(np.abs(middle))])


def _move_uplinks(terms: Terms, weights: FloatArray | None) -> None:
    crossing = np.flatnonzero(terms.classes == 1)
    rest = terms.rest()
    groups = np.concatenate((terms.client_leaves[crossing], terms.server_leaves[crossing]))
    kept = None if weights is None else np.concatenate((weights[crossing], weights[crossing]))
    moves = _centres(
        np.concatenate((rest[crossing], rest[crossing])), groups, terms.leaf_ends, kept
    )
    terms.uplinks[terms.judged] += moves[terms.judged]
    for side in terms.sides:
        judged_here = np.intersect1d(terms.judged, terms.leaf_of_end[side])
        if judged_here.size:
            terms.uplinks[judged_here] -= np.median(
                terms.uplinks[np.unique(terms.leaf_of_end[side])]
            )
    inner = np.flatnonzero(terms.classes == 0)
    kept = None if weights is None else weights[inner]
    moves = _centres(rest[inner], terms.client_leaves[inner], terms.leaf_ends, kept)
    terms.within[terms.judged] += moves[terms.judged]


def _move_spells(terms: Terms, weights: FloatArray) -> None:
    """Shifts of spells, shrunk by the share of their variance that chance explains."""
    count = terms.spell_values.size
    if count < 2:
        return
    means, total = group_means(terms.rest(), terms.spells, count, weights)
    raw = terms.spell_values + means
    chance = 1 / np.maximum(total, 1e-12)  # the weights are inverse variances
    excess = max(0.0, float(np.var(raw)) - float(np.median(chance)))
    raw -= np.median(raw)
    terms.spell_values = raw * excess / (excess + chance)


def _result(
    values: PairValues, leaves: IntArray, usable: IntArray, terms: Terms, weights: FloatArray
) -> PairFit:
    nodes, leaf_count = len(values.nodes), int(leaves.max(initial=-1)) + 1
    is_directed = terms.is_directed
    rest = terms.rest()
    scales = class_scales(rest, terms.classes)
    ends, errors = end_effects(terms, rest, scales, weights)
    noise = _noise_of_ends(terms, rest, scales)
    uplinks = np.full(terms.leaf_ends, np.nan)
    uplinks[terms.judged] = terms.uplinks[terms.judged]
    crossing = terms.classes == 1
    per_leaf = np.bincount(leaves[values.clients[usable]][crossing], minlength=leaf_count)
    per_leaf += np.bincount(leaves[values.servers[usable]][crossing], minlength=leaf_count)
    class_values = np.where(np.bincount(terms.classes, minlength=2) > 0, terms.class_values, np.nan)

    def two(array: FloatArray, size: int) -> FloatArray:
        return array.reshape(2, size) if is_directed else np.array([array[:size], array[:size]])

    return PairFit(
        values=values,
        leaves=leaves,
        is_directed=is_directed,
        usable=usable,
        node_effects=two(ends, nodes),
        node_errors=two(errors, nodes),
        uplink_effects=two(uplinks, leaf_count) if leaf_count else np.zeros((2, 0)),
        uplink_pairs=per_leaf,
        within_effects=terms.within[:leaf_count],
        residuals=rest,
        scales=scales[terms.classes] * np.maximum(noise[terms.clients], noise[terms.servers]),
        classes=terms.classes,
        class_values=class_values,
    )


def end_effects(
    terms: Terms, rest: FloatArray, scales: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(ends,) effects, NaN of an end without pairs, and their standard errors by the spread of its own pairs.

    A late node costs each class of pairs another share, so hardly any of its pairs may be near its effect. Where the
    weights leave less than half of them, the error is that of a median.
    """
    count = terms.ends.size
    groups = np.concatenate((terms.clients, terms.servers))
    pairs = np.bincount(groups, minlength=count)
    inverse = 1 / np.tile(scales[terms.classes] ** 2, 2)
    every = np.bincount(groups, inverse, count)
    total = np.bincount(groups, np.concatenate((weights, weights)) * inverse, count)
    noise = np.maximum(1.0, _noise_of_ends(terms, rest, scales))
    is_median = (total < every / 2) & (pairs >= LEAST_IN_SPELL)
    total = np.where(is_median, every * 2 / np.pi, total)
    errors = np.divide(noise, np.sqrt(total), out=np.full(count, np.inf), where=total > 0)
    return np.where(pairs > 0, terms.ends, np.nan), errors


def _noise_of_ends(terms: Terms, rest: FloatArray, scales: FloatArray) -> FloatArray:
    """(ends,) how much wider than the class's the pairs of each end spread; 1 at least, and of one with few pairs."""
    count = terms.ends.size
    groups = np.concatenate((terms.clients, terms.servers))
    wide = np.abs(rest) / scales[terms.classes]
    noise = MAD_TO_DEVIATION * group_medians(np.concatenate((wide, wide)), groups, count)
    pairs = np.bincount(groups, minlength=count)
    return np.where(pairs >= LEAST_IN_SPELL, np.fmax(noise, 1.0), 1.0)
