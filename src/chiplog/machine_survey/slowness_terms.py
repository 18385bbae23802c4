"""The terms of the slowness model, and how they are fitted: class + block + node + node + uplinks + rest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from chiplog.machine_survey.robust import group_means, group_medians, mad, tukey_weights
from chiplog.machine_survey.settings import SETTINGS
from chiplog.statistics import MAD_TO_DEVIATION

if TYPE_CHECKING:
    from chiplog.machine_survey.pair_values import FloatArray, IntArray, PairValues

BOTH, OUT, IN = "both", "out", "in"
WAYS = (BOTH, OUT, IN)
"""The rows of effects in three ways: both directions together, out (as client) and in (as server)."""


def slowness(values: PairValues) -> FloatArray:
    """Returns (m,) the logarithm of a latency, or minus that of a bandwidth; NaN where a pair has no figure."""
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
    blocks: IntArray
    leaf_of_end: IntArray
    """(ends,) the leaf's end that each node's end belongs to."""
    fitted: IntArray
    """The leaf ends whose uplinks are fitted."""
    leaf_ends: int
    is_directed: bool
    fixed: FloatArray
    """(u,) what is known of each pair from elsewhere."""
    class_values: FloatArray = field(init=False)
    block_values: FloatArray = field(init=False)
    ends: FloatArray = field(init=False)
    uplinks: FloatArray = field(init=False)
    within: FloatArray = field(init=False)
    sides: tuple[IntArray, ...] = field(init=False)
    """The ends with pairs: of both directions together, or of out and of in."""

    def __post_init__(self) -> None:
        self.class_values = np.zeros(2)
        self.block_values = np.zeros(int(self.blocks.max(initial=-1)) + 1)
        self.ends = np.zeros(self.leaf_of_end.size)
        self.uplinks = np.zeros(self.leaf_ends)
        self.within = np.zeros(self.leaf_ends)
        out, into = np.unique(self.clients), np.unique(self.servers)
        self.sides = (out, into) if self.is_directed else (np.union1d(out, into),)

    def rest(self) -> FloatArray:
        """Returns (u,) what the terms leave of each pair."""
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
            - self.block_values[self.blocks]
            - self.ends[self.clients]
            - self.ends[self.servers]
            - leaf_part
        )


def make_terms(
    values: PairValues,
    leaves: IntArray,
    usable: IntArray,
    fitted: IntArray,
    *,
    is_directed: bool | None = None,
    fixed: FloatArray | None = None,
) -> Terms:
    """Returns the terms of a sweep before they are fitted; `fitted` are the leaves whose uplinks are fitted."""
    nodes = len(values.nodes)
    leaf_count = int(leaves.max(initial=-1)) + 1
    clients, servers = values.clients[usable], values.servers[usable]
    directed = both_ways(values, usable) if is_directed is None else is_directed
    shift, leaf_shift = (nodes, leaf_count) if directed else (0, 0)
    return Terms(
        data=slowness(values)[usable],
        clients=clients,
        servers=servers + shift,
        client_leaves=leaves[clients],
        server_leaves=leaves[servers] + leaf_shift,
        classes=(leaves[clients] != leaves[servers]).astype(np.int64),
        blocks=blocks_of(values.rounds[usable]),
        leaf_of_end=np.concatenate((leaves, leaves + leaf_shift)) if directed else leaves,
        fitted=np.concatenate((fitted, fitted + leaf_shift)) if directed else fitted,
        leaf_ends=max(1, leaf_count + leaf_shift),
        is_directed=directed,
        fixed=np.zeros(usable.size) if fixed is None else fixed,
    )


def both_ways(values: PairValues, usable: IntArray) -> bool:
    """Returns whether nearly all nodes are often enough client, and server, for their directions to be told apart."""
    if values.kind == "latency" or not usable.size:
        return False
    nodes = len(values.nodes)
    out = np.bincount(values.clients[usable], minlength=nodes)
    into = np.bincount(values.servers[usable], minlength=nodes)
    seen = out + into > 0
    enough = (out >= SETTINGS.least_each_way) & (into >= SETTINGS.least_each_way)
    return bool(enough[seen].mean() >= SETTINGS.directed_share)


def blocks_of(rounds: IntArray) -> IntArray:
    """Returns (u,) the number of each pair's block: as many rounds in a row as have 16 pairs together."""
    _, number, sizes = np.unique(rounds, return_inverse=True, return_counts=True)
    block_of_round = np.zeros(sizes.size, dtype=np.int64)
    filled = block = 0
    for place, size in enumerate(sizes.tolist()):
        block_of_round[place] = block
        filled += size
        if filled >= SETTINGS.least_in_block:
            block, filled = block + 1, 0
    if filled and block:  # what is left of the last rounds goes with those before
        block_of_round[block_of_round == block] = block - 1
    return np.asarray(block_of_round[number.reshape(-1)])


def of_nearest(rounds: IntArray, known_rounds: IntArray, shifts: FloatArray) -> FloatArray:
    """Returns (m,) of each round the shift of the nearest one that is known."""
    known, place = np.unique(known_rounds, return_index=True)
    nearest = np.searchsorted((known[1:] + known[:-1]) / 2, rounds)
    return np.asarray(shifts[place][nearest])


def class_scales(rest: FloatArray, classes: IntArray) -> FloatArray:
    """Returns (2,) the spread within each class, drawn towards that of all where a class has few pairs.

    Terms of their own could otherwise explain a small class wholly, which would then outweigh the other.
    """
    common = max(SETTINGS.least_scale, mad(rest))
    class_spreads = np.array([mad(rest[classes == pair_class]) for pair_class in (0, 1)])
    pairs = np.bincount(classes, minlength=2)
    drawn = np.sqrt(
        (pairs * class_spreads**2 + SETTINGS.prior_pairs * common**2)
        / (pairs + SETTINGS.prior_pairs)
    )
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
    for _ in range(SETTINGS.median_steps):
        _step(terms, None)
    weights = np.ones(terms.data.size)
    for _ in range(SETTINGS.mean_steps):
        rest = terms.rest()
        scales = class_scales(rest, terms.classes)[terms.classes]
        weights = tukey_weights(rest / scales)
        before = terms.ends.copy()
        _step(terms, weights / scales**2)
        if np.abs(terms.ends - before).max(initial=0.0) < SETTINGS.done_share * _error_of_an_end(
            terms, scales
        ):
            break
    return weights


def _error_of_an_end(terms: Terms, scales: FloatArray) -> float:
    pairs = 2 * terms.data.size / max(1, terms.ends.size)
    return float(np.median(scales)) / max(1.0, pairs) ** 0.5 if scales.size else 1.0


def _step(terms: Terms, weights: FloatArray | None) -> None:
    """Moves each term to the centre of what the others leave: the median without `weights`, else the weighted mean."""
    _move_ends(terms, weights)
    _centre(terms)
    if terms.fitted.size:
        _move_uplinks(terms, weights)
    if weights is not None:
        _move_blocks(terms, weights)
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
    """Takes from the nodes what all have in common, and those of a fitted leaf: the class's and the uplink's."""
    for side in terms.sides:
        terms.ends[side] -= np.median(terms.ends[side])
        for leaf in terms.fitted.tolist():
            members = side[terms.leaf_of_end[side] == leaf]
            if members.size:
                terms.ends[members] -= shared_by_most(terms.ends[members])


def shared_by_most(effects: FloatArray) -> float:
    """Returns what more than half of a leaf's nodes, and a healthy one beside them, share: their uplink's part.

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
    terms.uplinks[terms.fitted] += moves[terms.fitted]
    for side in terms.sides:
        judged_here = np.intersect1d(terms.fitted, terms.leaf_of_end[side])
        if judged_here.size:
            terms.uplinks[judged_here] -= np.median(
                terms.uplinks[np.unique(terms.leaf_of_end[side])]
            )
    inner = np.flatnonzero(terms.classes == 0)
    kept = None if weights is None else weights[inner]
    moves = _centres(rest[inner], terms.client_leaves[inner], terms.leaf_ends, kept)
    terms.within[terms.fitted] += moves[terms.fitted]


def _move_blocks(terms: Terms, weights: FloatArray) -> None:
    """Moves the shifts of blocks, shrunk by the share of their variance that chance explains."""
    count = terms.block_values.size
    if count < 2:
        return
    means, total = group_means(terms.rest(), terms.blocks, count, weights)
    raw = terms.block_values + means
    chance = 1 / np.maximum(total, 1e-12)  # the weights are inverse variances
    excess = max(0.0, float(np.var(raw)) - float(np.median(chance)))
    raw -= np.median(raw)
    terms.block_values = raw * excess / (excess + chance)


def end_effects(
    terms: Terms, rest: FloatArray, scales: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Returns (ends,) effects, NaN of an end without pairs, and their standard errors by the spread of its own pairs.

    A late node costs each class of pairs another share, so hardly any of its pairs may be near its effect. Where the
    weights leave less than half of them, the error is that of a median.
    """
    count = terms.ends.size
    groups = np.concatenate((terms.clients, terms.servers))
    pairs = np.bincount(groups, minlength=count)
    inverse = 1 / np.tile(scales[terms.classes] ** 2, 2)
    every = np.bincount(groups, inverse, count)
    total = np.bincount(groups, np.concatenate((weights, weights)) * inverse, count)
    noise = np.maximum(1.0, noise_of_ends(terms, rest, scales))
    is_median = (total < every / 2) & (pairs >= SETTINGS.least_in_block)
    total = np.where(is_median, every * 2 / np.pi, total)
    errors = np.divide(noise, np.sqrt(total), out=np.full(count, np.inf), where=total > 0)
    return np.where(pairs > 0, terms.ends, np.nan), errors


def noise_of_ends(terms: Terms, rest: FloatArray, scales: FloatArray) -> FloatArray:
    """Returns (ends,) how much wider than the class's each end's pairs spread; 1 at least, and of few pairs."""
    count = terms.ends.size
    groups = np.concatenate((terms.clients, terms.servers))
    wide = np.abs(rest) / scales[terms.classes]
    noise = MAD_TO_DEVIATION * group_medians(np.concatenate((wide, wide)), groups, count)
    pairs = np.bincount(groups, minlength=count)
    return np.where(pairs >= SETTINGS.least_in_block, np.fmax(noise, 1.0), 1.0)


def two_ways(ends: FloatArray, size: int, *, is_directed: bool) -> FloatArray:
    """Returns (2, size) out and in, the same where both directions were fitted together."""
    return ends.reshape(2, size) if is_directed else np.array([ends[:size], ends[:size]])


def three_ways(effects: FloatArray) -> FloatArray:
    """Returns (3, n) both, out and in, from (2, n) out and in."""
    return np.vstack((effects.mean(axis=0), effects))
