"""Suspected pairs judged by their fresh figures, beside those of healthy pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chiplog.survey.fresh import (
    DOUBT,
    HINT,
    LEAST_HINT,
    LEAST_REPEATS,
    LEAST_SPREAD,
    PAIR_QUANTILE,
    Again,
    Fresh,
    JudgedSuspect,
    expected_effects,
    pair_keys,
    two_ways,
)
from chiplog.survey.pair_fit import of_nearest, slowness, spells_of
from chiplog.survey.robust import (
    degrees_of_freedom,
    excess_quantile,
    group_medians,
    group_order_statistics,
    mean_excess,
    scale,
    upper_quantile,
)
from chiplog.survey.suspects import BOTH, LEAST_CONTROLS, OUT, three_ways

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chiplog.survey.pair_values import FloatArray, IntArray, PairValues
    from chiplog.survey.suspects import Suspects


def judge_pairs(
    result: Again, fresh: Fresh, suspected: Suspects, beside: PairValues | None, error: float
) -> None:
    """Judges the suspected pairs; `beside` are rounds of them, and of others beside them."""
    figures = _figures(fresh, suspected, beside, _apart(result, fresh, suspected))
    controls = _controls(figures, figures.rest)
    if controls is None:  # too few healthy pairs: no pair is accused
        result.critical["pair"] = np.inf, np.inf
    if controls is None or not len(suspected.pairs):
        return
    kind = figures.kind_of(suspected.pairs)
    critical = controls.quantiles(error / max(1, fresh.first.usable.size))[kind]
    hint = controls.quantiles(HINT / len(suspected.pairs))[kind]
    slow, repeats = _suspected_pairs(figures, figures.rest, suspected.pairs)
    back, back_repeats = _suspected_pairs(figures, figures.rest, suspected.pairs[:, ::-1])
    outside = ~np.isfinite(fresh.effects[0])
    unknown = outside[suspected.pairs].sum(axis=1)
    sigma = np.sqrt(controls.errors[kind] ** 2 + unknown * _today(fresh) ** 2)
    result.critical["pair"] = max(
        (
            float(np.median((critical * sigma)[kind == pair_kind])),
            float(controls.spreads[pair_kind]),
        )
        for pair_kind in np.unique(kind)
    )
    slow, back = slow - controls.centres[kind], back - controls.centres[kind]
    if fresh.first.values.kind == "latency":
        slow, sigma = _by_floor(figures, suspected.pairs, slow, sigma)
    for place, (client, server) in enumerate(suspected.pairs.tolist()):
        if repeats[place] < LEAST_REPEATS:
            result.untested_pairs.append(place)
            continue
        is_slow = bool(slow[place] > critical[place] * sigma[place])
        doubtful = not is_slow and slow[place] > max(LEAST_HINT, hint[place] * sigma[place])
        reason = DOUBT if doubtful else None
        one_way = back_repeats[place] >= LEAST_REPEATS and back[place] < slow[place] / 2
        twin = (
            back_repeats[place] >= LEAST_REPEATS
            and (client > server)
            and _has(suspected, server, client)
        )
        if twin and not one_way and back[place] > critical[place] * sigma[place]:
            continue  # the other way round says it already
        way = OUT if one_way else BOTH
        half = float(critical[place] * sigma[place])
        result.judged.append(
            JudgedSuspect("pair", client, server, way, float(slow[place]), half, is_slow, reason)
        )


def _apart(result: Again, fresh: Fresh, suspected: Suspects) -> NDArray[np.bool_]:
    """(n,) whether a node, or the uplink before it, is in doubt: such a one may cost each class another share."""
    cleared = [judged for judged in result.judged if not judged.is_slow and judged.reason is None]
    nodes, uplinks = (
        np.setdiff1d(those, [judged.number for judged in cleared if judged.kind == kind])
        for kind, those in (("node", suspected.nodes), ("uplink", suspected.uplinks))
    )
    is_doubted = np.isin(fresh.first.leaves, uplinks)
    is_doubted[nodes] = True
    return np.asarray(is_doubted & np.isfinite(fresh.effects[0]))


def _by_floor(
    figures: _FiguresAgain, pairs: IntArray, slow: FloatArray, sigma: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(k,) the slowness of each latency and its standard error; by its minimum as it is, where that says less.

    What nodes and spells explain is fitted to typical figures, and busy CPUs move these more than the minima.
    """
    controls = _controls(figures, figures.plain)
    assert controls is not None  # there are some by what is left beyond nodes and spells
    kind = figures.kind_of(pairs)
    plain = _suspected_pairs(figures, figures.plain, pairs)[0] - controls.centres[kind]
    error = controls.errors[kind]
    weaker = plain / error < slow / sigma
    return np.where(weaker, plain, slow), np.where(weaker, error, sigma)


def _has(suspected: Suspects, client: int, server: int) -> bool:
    return bool(np.any((suspected.pairs[:, 0] == client) & (suspected.pairs[:, 1] == server)))


@dataclass(frozen=True, slots=True)
class _FiguresAgain:
    """The figures of the second measurement, each with what nothing else explains of its slowness."""

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
        """How many there are."""
        return self.cpus.size

    def kind_of(self, pairs: IntArray) -> IntArray:
        """(k,) 1 of pairs (k, 2) whose nodes share a CPU, else 0: two kinds that spread differently."""
        cpus, other_cpus = self.cpus[pairs].T
        return np.asarray((cpus == other_cpus) & (cpus >= 0), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class _Controls:
    """Healthy pairs by their quantile; (2,) each: of pairs whose nodes share no CPU, and of those that share one."""

    centres: FloatArray
    spreads: FloatArray
    errors: FloatArray
    """What a healthy pair's difference from the centre is measured by: its standard error, or the mean excess."""
    counts: IntArray
    """From how many pairs the errors are known."""
    are_minima: bool

    def quantiles(self, probability: float) -> FloatArray:
        """(2,) how many errors a healthy pair's difference exceeds with this probability.

        Minima of what is only ever added have a longer tail than normal values.
        """
        if self.are_minima:
            limits = [excess_quantile(probability, count) for count in self.counts.tolist()]
        else:
            freedom = map(degrees_of_freedom, self.counts.tolist())
            limits = [upper_quantile(probability, count) for count in freedom]
        return np.array(limits)


def _figures(
    fresh: Fresh, suspected: Suspects, beside: PairValues | None, is_doubted: NDArray[np.bool_]
) -> _FiguresAgain:
    whole = _figures_of(fresh, suspected, fresh.values, is_doubted, is_whole=True)
    if beside is None or not beside.values.size:
        return whole
    more = _figures_of(fresh, suspected, beside, is_doubted, is_whole=False)
    return _FiguresAgain(
        np.concatenate((whole.keys, more.keys)),
        np.concatenate((whole.rest, more.rest)),
        np.concatenate((whole.plain, more.plain)),
        np.concatenate((whole.is_known, more.is_known)),
        np.concatenate((whole.is_control, more.is_control)),
        whole.cpus,
        whole.quantile,
    )


def _figures_of(
    fresh: Fresh,
    suspected: Suspects,
    values: PairValues,
    is_doubted: NDArray[np.bool_],
    *,
    is_whole: bool,
) -> _FiguresAgain:
    """Of the whole rounds, whose spells are known, or of rounds beside them."""
    first, nodes = fresh.first, len(values.nodes)
    logs = slowness(values)
    these = np.flatnonzero(np.isfinite(logs))
    ends = np.stack((values.clients[these], values.servers[these]))
    client_leaves, server_leaves = first.leaves[ends]
    crossing = client_leaves != server_leaves
    out, into = (1, 2) if fresh.terms.is_directed else (0, 0)
    effects = np.where(np.isfinite(fresh.effects), fresh.effects, expected_effects(first))
    uplinks = np.where(np.isfinite(fresh.uplinks), fresh.uplinks, three_ways(first.uplink_effects))
    uplinks = np.nan_to_num(uplinks)
    own_shifts, is_known = _by_class(
        fresh, is_doubted, ends, crossing + 2 * _share_a_cpu(values)[these]
    )
    rest = (
        logs[these]
        - _level(fresh)[crossing.astype(np.int64)]
        - effects[out, ends[0]]
        - effects[into, ends[1]]
        - np.where(
            crossing,
            uplinks[out, client_leaves] + uplinks[into, server_leaves],
            fresh.terms.within[client_leaves],
        )
        - own_shifts
    )
    is_healthy = np.isfinite(fresh.effects[0]) & ~is_doubted
    is_healthy[suspected.nodes] = False
    suspected_keys = pair_keys(suspected.pairs[:, 0], suspected.pairs[:, 1], nodes)
    is_suspected = np.isin(pair_keys(ends[0], ends[1], nodes), suspected_keys)
    is_control = is_healthy[ends].all(axis=0) & ~is_suspected
    rounds = values.rounds[these]
    if is_whole:
        rest -= _spell_shift(fresh, rounds)
    else:
        rest -= _shift_beside(rest, rounds, crossing, is_control)
    plain = logs[these] - first.class_values[crossing.astype(np.int64)]
    quantile = PAIR_QUANTILE[values.kind]
    cpus = np.arange(nodes) if values.cpus is None or values.kind != "latency" else values.cpus
    return _FiguresAgain(
        ends[0] * nodes + ends[1], rest, plain, is_known, is_control, cpus, quantile
    )


def _shift_beside(
    rest: FloatArray, rounds: IntArray, crossing: NDArray[np.bool_], is_control: NDArray[np.bool_]
) -> FloatArray:
    """(m,) what the controls of each figure's class, and of its spell, have in common.

    The shifts of spells are shrunk by the share of their variance that chance explains.
    """
    shift = np.zeros(rest.size)
    for of_class in (crossing, ~crossing):
        if (of_class & is_control).any():
            shift[of_class] = np.median(rest[of_class & is_control])
    controls = np.flatnonzero(is_control)
    spells = spells_of(rounds[controls])
    count = int(spells.max(initial=-1)) + 1
    if count < 2:
        return shift
    residuals = (rest - shift)[controls]
    raw = group_medians(residuals, spells, count)
    chance = np.pi / 2 * scale(residuals) ** 2 / np.bincount(spells, minlength=count)
    excess = max(0.0, float(np.var(raw)) - float(np.median(chance)))
    raw = (raw - np.median(raw)) * excess / np.maximum(excess + chance, LEAST_SPREAD**2)
    return np.asarray(shift + of_nearest(rounds, rounds[controls], raw[spells]))


def _controls(figures: _FiguresAgain, values: FloatArray) -> _Controls | None:
    """None with too few healthy pairs; of a kind that has too few, those of both kinds are taken."""
    known, number, sizes = np.unique(
        figures.keys[figures.is_control], return_inverse=True, return_counts=True
    )
    low = group_order_statistics(
        values[figures.is_control], number.reshape(-1), sizes.size, figures.quantile
    )
    enough = sizes >= LEAST_REPEATS
    low, kind = low[enough], figures.kind_of(np.stack(np.divmod(known[enough], figures.nodes), 1))
    if low.size < 2 * LEAST_CONTROLS:
        return None
    of_kinds = [low[kind == kind_number] for kind_number in (0, 1)]
    chosen = [of_kind if of_kind.size >= 2 * LEAST_CONTROLS else low for of_kind in of_kinds]
    are_minima = figures.quantile == 0
    spreads = np.array([max(LEAST_SPREAD, scale(lows)) for lows in chosen])
    counts = np.array([lows.size for lows in chosen])
    errors = spreads * np.sqrt(1 + 1 / counts)
    if are_minima:
        excesses = [mean_excess(lows) for lows in chosen]
        errors = np.array([max(LEAST_SPREAD, mean) for mean, _ in excesses])
        counts = np.array([count for _, count in excesses])
    centres = np.array([np.median(lows) for lows in chosen])
    return _Controls(centres, spreads, errors, counts, are_minima)


def _suspected_pairs(
    figures: _FiguresAgain, values: FloatArray, pairs: IntArray
) -> tuple[FloatArray, IntArray]:
    """(k,) that quantile of each pair's fresh slowness beyond what all else explains; (k,) its repeats."""
    wanted, order = np.unique(pairs[:, 0] * figures.nodes + pairs[:, 1], return_inverse=True)
    place = np.minimum(np.searchsorted(wanted, figures.keys), wanted.size - 1)
    these = wanted[place] == figures.keys
    low = group_order_statistics(values[these], place[these], wanted.size, figures.quantile)
    repeats = np.bincount(place[these & figures.is_known], minlength=wanted.size)
    order = order.reshape(-1)
    return np.nan_to_num(low[order]), repeats[order]


def _by_class(
    fresh: Fresh, is_doubted: NDArray[np.bool_], ends: IntArray, classes: IntArray
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """(m,) what the ends' nodes that are `is_doubted` cost in this class of pairs beyond that in all; (m,) known?

    A late node costs quick pairs more than others, in logarithms: those of its own leaf, and, as their latencies are
    evened, those of its own CPU. `classes` (m,) are 1 of pairs between leaves, and 2 more of those that share a CPU.
    Of a class in which the node has too few pairs nothing is known.
    """
    terms, nodes = fresh.terms, len(fresh.values.nodes)
    both = np.concatenate((fresh.values.clients[fresh.core], fresh.values.servers[fresh.core]))
    of_core = terms.classes + 2 * _share_a_cpu(fresh.values)[fresh.core]
    groups = 4 * both + np.tile(of_core, 2)
    medians = group_medians(np.tile(terms.rest(), 2), groups, 4 * nodes)
    known = np.bincount(groups, minlength=4 * nodes) >= LEAST_REPEATS * LEAST_CONTROLS
    wanted = 4 * ends + classes
    shifts = np.where(is_doubted[ends] & known[wanted], medians[wanted], 0.0)
    return shifts.sum(axis=0), np.asarray((~is_doubted[ends] | known[wanted]).all(axis=0))


def _share_a_cpu(values: PairValues) -> NDArray[np.bool_]:
    """(m,) whether the pair's nodes share a CPU, which makes latencies another kind, not bandwidths."""
    return values.share_a_cpu & (values.kind == "latency")


def _level(fresh: Fresh) -> FloatArray:
    """(2,) the classes' slowness in the second measurement where the median control has no effect."""
    terms, first = fresh.terms, fresh.first
    nodes = len(fresh.values.nodes)
    ends = two_ways(terms.ends, nodes, terms.is_directed)[:, fresh.controls]
    level = terms.class_values + float(np.median(ends, axis=1).sum())
    seen = np.bincount(terms.classes, minlength=2) > 0
    shift = float(np.median((level - first.class_values)[seen]))
    return np.where(seen, level, first.class_values + shift)


def _spell_shift(fresh: Fresh, rounds: IntArray) -> FloatArray:
    """(m,) the shift of the spell that each round lies in, or of the nearest one."""
    shifts = fresh.terms.spell_values[fresh.terms.spells]
    return of_nearest(rounds, fresh.values.rounds[fresh.core], shifts)


def _today(fresh: Fresh) -> float:
    """The standard deviation by which the effects of healthy nodes differ from the expected ones."""
    misses = fresh.effects[1:, fresh.controls] - expected_effects(fresh.first)[1:, fresh.controls]
    return float(np.hypot(scale(misses[0]), scale(misses[1]))) / 2**0.5
