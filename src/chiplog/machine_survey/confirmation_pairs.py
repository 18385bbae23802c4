"""The figures of single pairs in the confirmation: what nothing else explains of their slowness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chiplog.machine_survey.confirmation import pair_keys
from chiplog.machine_survey.robust import (
    degrees_of_freedom,
    excess_quantile,
    group_medians,
    group_order_statistics,
    mean_excess,
    scale,
    upper_quantile,
)
from chiplog.machine_survey.settings import SETTINGS
from chiplog.machine_survey.slowness_terms import (
    blocks_of,
    of_nearest,
    slowness,
    three_ways,
    two_ways,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chiplog.machine_survey.confirmation import ConfirmationFit
    from chiplog.machine_survey.pair_values import FloatArray, IntArray, PairValues
    from chiplog.machine_survey.sweep import Suspects

PAIR_CLASSES = 4
"""Derived: pairs are of one leaf or of two, and share a CPU or don't."""


@dataclass(frozen=True, slots=True)
class PairFigures:
    """The figures of the confirmation, each with what nothing else explains of its slowness."""

    keys: IntArray
    """Client times nodes plus server."""
    rest: FloatArray
    plain: FloatArray
    """The slowness beyond its class only."""
    is_known: NDArray[np.bool_]
    """Whether all is known of the effects of the figure's nodes."""
    is_control: NDArray[np.bool_]
    """Whether it is of two healthy nodes, and not of a suspected pair."""
    cpus: IntArray
    """(n,) as of PairValues; each node on one of its own where no two share one."""
    quantile: float
    """Of the slowness of a pair's repeats, by which it is judged."""

    @property
    def nodes(self) -> int:
        """Returns how many there are."""
        return self.cpus.size

    def kind_of(self, pairs: IntArray) -> IntArray:
        """Returns (k,) 1 of pairs (k, 2) whose nodes share a CPU, else 0: two kinds that spread differently."""
        cpus, other_cpus = self.cpus[pairs].T
        return np.asarray((cpus == other_cpus) & (cpus >= 0), dtype=np.int64)

    def of_pairs(self, values: FloatArray, pairs: IntArray) -> tuple[FloatArray, IntArray]:
        """Returns (k,) that quantile of the values of each directed pair, 0 without any, and (k,) its known repeats."""
        wanted, order = np.unique(pairs[:, 0] * self.nodes + pairs[:, 1], return_inverse=True)
        place = np.minimum(np.searchsorted(wanted, self.keys), wanted.size - 1)
        is_wanted = wanted[place] == self.keys
        low = group_order_statistics(
            values[is_wanted], place[is_wanted], wanted.size, self.quantile
        )
        repeats = np.bincount(place[is_wanted & self.is_known], minlength=wanted.size)
        order = order.reshape(-1)
        return np.nan_to_num(low[order]), repeats[order]


@dataclass(frozen=True, slots=True)
class PairControls:
    """Healthy pairs by their quantile; (2,) each: of pairs whose nodes share no CPU, and of those that share one."""

    centres: FloatArray
    spreads: FloatArray
    errors: FloatArray
    """What a healthy pair's difference from the centre is measured by: its standard error, or the mean excess."""
    counts: IntArray
    """From how many pairs the errors are known."""
    are_minima: bool

    def quantiles(self, probability: float) -> FloatArray:
        """Returns (2,) how many errors a healthy pair's difference exceeds with this probability.

        Minima of what is only ever added have a longer tail than normal values.
        """
        if self.are_minima:
            limits = [excess_quantile(probability, count) for count in self.counts.tolist()]
        else:
            freedom = map(degrees_of_freedom, self.counts.tolist())
            limits = [upper_quantile(probability, count) for count in freedom]
        return np.array(limits)


def pair_controls(figures: PairFigures, values: FloatArray) -> PairControls | None:
    """Returns the healthy pairs by `values`; None with too few.

    Of a kind that has too few, those of both kinds are taken.
    """
    known, number, sizes = np.unique(
        figures.keys[figures.is_control], return_inverse=True, return_counts=True
    )
    low = group_order_statistics(
        values[figures.is_control], number.reshape(-1), sizes.size, figures.quantile
    )
    enough = sizes >= SETTINGS.least_repeats
    low, kind = low[enough], figures.kind_of(np.stack(np.divmod(known[enough], figures.nodes), 1))
    fewest = 2 * SETTINGS.least_controls
    if low.size < fewest:
        return None
    of_kinds = [low[kind == kind_number] for kind_number in (0, 1)]
    chosen = [of_kind if of_kind.size >= fewest else low for of_kind in of_kinds]
    are_minima = figures.quantile == 0
    spreads = np.array([max(SETTINGS.least_spread, scale(lows)) for lows in chosen])
    counts = np.array([lows.size for lows in chosen])
    errors = spreads * np.sqrt(1 + 1 / counts)
    if are_minima:
        excesses = [mean_excess(lows) for lows in chosen]
        errors = np.array([max(SETTINGS.least_spread, mean) for mean, _ in excesses])
        counts = np.array([count for _, count in excesses])
    centres = np.array([np.median(lows) for lows in chosen])
    return PairControls(centres, spreads, errors, counts, are_minima)


def pair_figures(
    fit: ConfirmationFit,
    suspects: Suspects,
    suspected: PairValues | None,
    is_doubted: NDArray[np.bool_],
) -> PairFigures:
    """Returns the figures of the whole rounds, and of `suspected`: rounds of suspected pairs, filled with others.

    `is_doubted` (n,) are nodes that may cost each class of pairs another share.
    """
    whole = _figures_of(fit, suspects, fit.values, is_doubted)
    if suspected is None or not suspected.values.size:
        return whole
    more = _figures_of(fit, suspects, suspected, is_doubted)
    return PairFigures(
        np.concatenate((whole.keys, more.keys)),
        np.concatenate((whole.rest, more.rest)),
        np.concatenate((whole.plain, more.plain)),
        np.concatenate((whole.is_known, more.is_known)),
        np.concatenate((whole.is_control, more.is_control)),
        whole.cpus,
        whole.quantile,
    )


def _figures_of(
    fit: ConfirmationFit, suspects: Suspects, values: PairValues, is_doubted: NDArray[np.bool_]
) -> PairFigures:
    """Returns the figures of the whole rounds, whose blocks are known, or of rounds beside them."""
    sweep, nodes = fit.sweep, len(values.nodes)
    logs = slowness(values)
    usable = np.flatnonzero(np.isfinite(logs))
    ends = np.stack((values.clients[usable], values.servers[usable]))
    client_leaves, server_leaves = sweep.leaves[ends]
    crossing = client_leaves != server_leaves
    classes = crossing + 2 * _share_a_cpu(values)[usable]
    shifts, is_known = _by_class(fit, is_doubted, ends, classes)
    rest = logs[usable] - _level(fit)[crossing.astype(np.int64)]
    rest = _beyond_nodes_and_uplinks(fit, ends, rest) - shifts
    is_healthy = np.isfinite(fit.effects[0]) & ~is_doubted
    is_healthy[suspects.nodes] = False
    suspected_keys = pair_keys(suspects.pairs[:, 0], suspects.pairs[:, 1], nodes)
    is_suspected = np.isin(pair_keys(ends[0], ends[1], nodes), suspected_keys)
    is_control = is_healthy[ends].all(axis=0) & ~is_suspected
    rounds = values.rounds[usable]
    if values is fit.values:
        rest -= _block_shift(fit, rounds)
    else:
        rest -= _shift_by_controls(rest, rounds, crossing, is_control)
    plain = logs[usable] - sweep.class_values[crossing.astype(np.int64)]
    is_latency = values.kind == "latency"
    quantile = SETTINGS.latency_quantile if is_latency else SETTINGS.bandwidth_quantile
    cpus = np.arange(nodes) if values.cpus is None or not is_latency else values.cpus
    keys = ends[0] * nodes + ends[1]
    return PairFigures(keys, rest, plain, is_known, is_control, cpus, quantile)


def _beyond_nodes_and_uplinks(fit: ConfirmationFit, ends: IntArray, slow: FloatArray) -> FloatArray:
    """Returns (m,) the slowness beyond the pairs' nodes, and beyond uplinks, or what pairs within a leaf share."""
    client_leaves, server_leaves = fit.sweep.leaves[ends]
    out, into = fit.ways
    effects = fit.known_effects
    swept = three_ways(fit.sweep.uplink_effects)
    uplinks = np.nan_to_num(np.where(np.isfinite(fit.uplinks), fit.uplinks, swept))
    of_leaves = np.where(
        client_leaves != server_leaves,
        uplinks[out, client_leaves] + uplinks[into, server_leaves],
        fit.terms.within[client_leaves],
    )
    return np.asarray(slow - effects[out, ends[0]] - effects[into, ends[1]] - of_leaves)


def _shift_by_controls(
    rest: FloatArray, rounds: IntArray, crossing: NDArray[np.bool_], is_control: NDArray[np.bool_]
) -> FloatArray:
    """Returns (m,) what the controls of each figure's class, and of its block, have in common.

    The shifts of blocks are shrunk by the share of their variance that chance explains.
    """
    shift = np.zeros(rest.size)
    for of_class in (crossing, ~crossing):
        if (of_class & is_control).any():
            shift[of_class] = np.median(rest[of_class & is_control])
    controls = np.flatnonzero(is_control)
    blocks = blocks_of(rounds[controls])
    count = int(blocks.max(initial=-1)) + 1
    if count < 2:
        return shift
    residuals = (rest - shift)[controls]
    raw = group_medians(residuals, blocks, count)
    chance = np.pi / 2 * scale(residuals) ** 2 / np.bincount(blocks, minlength=count)
    excess = max(0.0, float(np.var(raw)) - float(np.median(chance)))
    raw = (raw - np.median(raw)) * excess / np.maximum(excess + chance, SETTINGS.least_spread**2)
    return np.asarray(shift + of_nearest(rounds, rounds[controls], raw[blocks]))


def _by_class(
    fit: ConfirmationFit, is_doubted: NDArray[np.bool_], ends: IntArray, classes: IntArray
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Returns (m,) what doubted nodes cost in this class of pairs beyond that in all, and (m,) whether it is known.

    A late node costs quick pairs more than others, in logarithms: those of its leaf, and, as their latencies are
    evened, those of its CPU. `classes` (m,) are 1 of pairs between leaves, and 2 more of those that share a CPU.
    Of a class in which the node has too few pairs nothing is known.
    """
    terms, nodes = fit.terms, len(fit.values.nodes)
    both = np.concatenate((fit.values.clients[fit.core], fit.values.servers[fit.core]))
    of_core = terms.classes + 2 * _share_a_cpu(fit.values)[fit.core]
    groups = PAIR_CLASSES * both + np.tile(of_core, 2)
    medians = group_medians(np.tile(terms.rest(), 2), groups, PAIR_CLASSES * nodes)
    fewest = SETTINGS.least_repeats * SETTINGS.least_controls
    known = np.bincount(groups, minlength=PAIR_CLASSES * nodes) >= fewest
    wanted = PAIR_CLASSES * ends + classes
    shifts = np.where(is_doubted[ends] & known[wanted], medians[wanted], 0.0)
    return shifts.sum(axis=0), np.asarray((~is_doubted[ends] | known[wanted]).all(axis=0))


def _share_a_cpu(values: PairValues) -> NDArray[np.bool_]:
    """Returns (m,) whether the pair's nodes share a CPU, which makes latencies another kind, not bandwidths."""
    return values.share_a_cpu & (values.kind == "latency")


def _level(fit: ConfirmationFit) -> FloatArray:
    """Returns (2,) the classes' slowness in the confirmation where the median control has no effect."""
    terms, sweep = fit.terms, fit.sweep
    nodes = len(fit.values.nodes)
    ends = two_ways(terms.ends, nodes, is_directed=terms.is_directed)[:, fit.controls]
    level = terms.class_values + float(np.median(ends, axis=1).sum())
    seen = np.bincount(terms.classes, minlength=2) > 0
    shift = float(np.median((level - sweep.class_values)[seen]))
    return np.where(seen, level, sweep.class_values + shift)


def _block_shift(fit: ConfirmationFit, rounds: IntArray) -> FloatArray:
    """Returns (m,) the shift of the block that each round lies in, or of the nearest one."""
    shifts = fit.terms.block_values[fit.terms.blocks]
    return of_nearest(rounds, fit.values.rounds[fit.core], shifts)
