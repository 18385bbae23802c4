"""Suspects judged by their second measurement: fresh figures against those of controls in the same rounds."""

from __future__ import annotations

from dataclasses import dataclass, field
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
    slowness,
    solve,
    spells_of,
)
from chiplog.survey.robust import (
    degrees_of_freedom,
    group_medians,
    group_order_statistics,
    scale,
    spread_of_controls,
    upper_quantile,
)
from chiplog.survey.suspects import (
    BOTH,
    LEAST_CONTROLS,
    OUT,
    WAYS,
    scores,
    three_ways,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chiplog.survey.pair_fit import PairFit
    from chiplog.survey.pair_values import FloatArray, IntArray, PairValues, SecondMeasurement
    from chiplog.survey.suspects import Suspects

FAMILIES = 4
"""Nodes, uplinks, pairs, and what nodes do alone share the error rate."""
LEAST_REPEATS = 3
"""Figures of a pair from which it is judged: one spike, or two, must not decide."""
PAIR_QUANTILE = 0.25
"""A pair is judged by its lower quartile of slowness, so that most of its repeats must be slow."""
CLEARLY_ONE_WAY = 3.0
"""Standard deviations between a node's two directions from which one alone is accused."""
HINT = 0.05
"""The error rate below which an unproved suspect is still listed as inconclusive."""
LEAST_HINT = 0.02
DOUBT = "it is slow in both measurements, but not beyond doubt"
LEAST_SPREAD = 1e-5


@dataclass(frozen=True, slots=True)
class Judged:
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
    judged: list[Judged] = field(default_factory=list)
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


def judge_again(
    first: PairFit, suspected: Suspects, again: SecondMeasurement, family_error: float
) -> Again:
    """Judges each suspect; `family_error` bounds the probability of a false accusation over the whole sweep."""
    fresh = _fit_again(first, suspected, again.rounds)
    result = Again(fresh)
    if fresh is None:
        _untested(result, suspected)
        return result
    error = family_error / FAMILIES
    _judge_nodes(result, fresh, suspected, error)
    _judge_uplinks(result, fresh, suspected, error)
    _judge_pairs(result, fresh, suspected, again.pairs, error)
    return result


def _untested(result: Again, suspected: Suspects) -> None:
    reason = "too few healthy nodes were measured again beside it"
    for kind, numbers in (("node", suspected.nodes), ("uplink", suspected.uplinks)):
        for number in numbers.tolist():
            of_kind: Literal["node", "uplink"] = "node" if kind == "node" else "uplink"
            result.judged.append(_unknown(of_kind, number, reason))


def _unknown(kind: Literal["node", "uplink"], number: int, reason: str) -> Judged:
    return Judged(kind, number, None, BOTH, 0.0, np.inf, False, reason)


def _fit_again(first: PairFit, suspected: Suspects, again: PairValues) -> Fresh | None:
    logs = slowness(again)
    nodes = len(again.nodes)
    is_suspect = np.zeros(nodes, dtype=bool)
    is_suspect[suspected.nodes] = True
    keys = pair_keys(again.clients, again.servers, nodes)
    suspected_keys = pair_keys(suspected.pairs[:, 0], suspected.pairs[:, 1], nodes)
    both = is_suspect[again.clients] & is_suspect[again.servers]
    core = np.flatnonzero(np.isfinite(logs) & ~np.isin(keys, suspected_keys) & ~both)
    ends = np.union1d(again.clients[core], again.servers[core])
    control = np.setdiff1d(ends, suspected.nodes)
    reference = control[~np.isin(first.leaves[control], suspected.uplinks)]
    if reference.size < LEAST_CONTROLS:
        reference = control
    if reference.size < LEAST_CONTROLS:
        return None
    judged = _judged_uplinks(first, suspected, ends)
    directed = both_ways(again, core)
    fixed = _known_uplinks(first, again, core, judged)
    terms = make_terms(again, first.leaves, logs, core, judged, is_directed=directed, fixed=fixed)
    weights = solve(terms)
    rest = terms.rest()
    scales = class_scales(rest, terms.classes)
    flat, flat_errors = end_effects(terms, rest, scales, weights)
    effects = three_ways(_two(flat, nodes, directed))
    effects -= np.nanmedian(effects[:, reference], axis=1, keepdims=True)
    pair = _two(flat_errors, nodes, directed)
    errors = three_ways(pair)
    errors[0] = np.sqrt((pair**2).sum(axis=0)) / 2 if directed else pair[0]
    spread = [spread_of_controls(row[np.isfinite(row)]) for row in effects[:, reference]]
    uplinks = np.full(terms.leaf_ends, np.nan)
    uplinks[terms.judged] = terms.uplinks[terms.judged]
    return Fresh(
        first,
        again,
        logs,
        core,
        terms,
        effects,
        errors,
        reference,
        np.array([max(LEAST_SPREAD, sigma) for sigma, _ in spread]),
        min(freedom for _, freedom in spread),
        three_ways(_two(uplinks, first.leaf_count, directed)),
    )


def _two(ends: FloatArray, size: int, directed: bool) -> FloatArray:
    return ends.reshape(2, size) if directed else np.array([ends[:size], ends[:size]])


def pair_keys(one: IntArray, other: IntArray, nodes: int) -> IntArray:
    """A number for each pair, whichever way round."""
    return np.asarray(np.minimum(one, other) * nodes + np.maximum(one, other))


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
    one, other = first.leaves[again.clients[pairs]], first.leaves[again.servers[pairs]]
    return np.where(one != other, known[0, one] + known[1, other], 0.0)


def _judge_nodes(result: Again, fresh: Fresh, suspected: Suspects, error: float) -> None:
    ways = 3 if fresh.terms.is_directed else 1
    critical = upper_quantile(error / len(fresh.values.nodes) / ways, fresh.freedom)
    hint = upper_quantile(HINT / max(1, suspected.nodes.size) / ways, fresh.freedom)
    typical = np.nanmedian(fresh.errors[:, fresh.controls], axis=1)
    own = fresh.spread**2 * (1 + np.pi / 2 / fresh.controls.size)
    sigma = np.sqrt(own[:, None] + np.maximum(0.0, fresh.errors**2 - typical[:, None] ** 2))
    was_clear = scores(fresh.first).node_scores
    strict = upper_quantile(
        error / len(fresh.values.nodes) / ways,
        degrees_of_freedom(int(np.isfinite(was_clear[0]).sum())),
    )
    result.critical["node"] = critical * float(fresh.spread[0]), float(fresh.spread[0])
    for node in suspected.nodes.tolist():
        slow, wide = fresh.effects[:, node], sigma[:, node]
        if not np.isfinite(slow).all():
            result.judged.append(
                _unknown("node", node, "it has no figures of a second measurement")
            )
            continue
        way, named = _way(slow, wide, critical)
        is_slow = bool(slow[way] > critical * wide[way])
        reason: str | None = None
        if not is_slow and slow[way] > max(LEAST_HINT, hint * wide[way]):
            reason = DOUBT
        elif not is_slow and was_clear[0, node] > strict:
            reason = "it was slow in the sweep, but not when measured again"
        half = critical * float(wide[way])
        result.judged.append(
            Judged("node", node, None, named, float(slow[way]), half, is_slow, reason)
        )


def _way(slow: FloatArray, sigma: FloatArray, critical: float) -> tuple[int, str]:
    """Which of both, out and in is judged, and which is named: one alone only where the two are clearly apart."""
    difference = float(slow[1] - slow[2])
    worse, better = (1, 2) if difference > 0 else (2, 1)
    clear = abs(difference) > CLEARLY_ONE_WAY * float(np.hypot(sigma[1], sigma[2]))
    if clear and slow[better] <= critical * sigma[better] and slow[better] < slow[worse] / 2:
        return worse, WAYS[worse]
    missed = slow[0] <= critical * sigma[0] and slow[worse] > critical * sigma[worse]
    return (worse if missed else 0), BOTH


def _judge_uplinks(result: Again, fresh: Fresh, suspected: Suspects, error: float) -> None:
    first, ways = fresh.first, 3 if fresh.terms.is_directed else 1
    found = scores(first)
    leaves = max(1, int(np.isfinite(found.uplink_slowness[0]).sum()))
    critical = upper_quantile(error / leaves / ways, fresh.freedom)
    hint = upper_quantile(HINT / max(1, suspected.uplinks.size) / ways, fresh.freedom)
    core_nodes = np.flatnonzero(np.isfinite(fresh.effects[0]))
    members = np.bincount(first.leaves[core_nodes], minlength=first.leaf_count)
    for leaf in suspected.uplinks.tolist():
        slow = fresh.uplinks[:, leaf]
        if not np.isfinite(slow).all():
            few = "too few nodes of its leaf, or of other leaves, were measured again"
            result.judged.append(_unknown("uplink", leaf, few))
            continue
        share = 1 / members[leaf] + 1 / max(1, core_nodes.size - members[leaf])
        by_nodes = np.pi / 2 * fresh.spread**2 * share
        lasting = found.uplink_spread[:, leaf] if leaves >= 8 else np.zeros(3)
        sigma = np.sqrt(by_nodes + lasting**2)
        way, named = _way(slow, sigma, critical)
        is_slow = bool(slow[way] > critical * sigma[way])
        doubtful = not is_slow and slow[way] > max(LEAST_HINT, hint * sigma[way])
        reason = DOUBT if doubtful else None
        half = critical * float(sigma[way])
        result.critical["uplink"] = half, float(sigma[way])
        result.judged.append(
            Judged("uplink", leaf, None, named, float(slow[way]), half, is_slow, reason)
        )


def _judge_pairs(
    result: Again, fresh: Fresh, suspected: Suspects, beside: PairValues | None, error: float
) -> None:
    """`beside` are rounds of suspected pairs, and of others beside them."""
    if not len(suspected.pairs):
        return
    figures = _figures(fresh, suspected, beside)
    centre, spread, count = _control_pairs(figures)
    if count < 2 * LEAST_CONTROLS:
        return
    critical = upper_quantile(error / max(1, fresh.first.usable.size), degrees_of_freedom(count))
    hint = upper_quantile(HINT / len(suspected.pairs), degrees_of_freedom(count))
    slow, repeats = _suspected_pairs(figures, suspected.pairs)
    back, back_repeats = _suspected_pairs(figures, suspected.pairs[:, ::-1])
    outside = ~np.isfinite(fresh.effects[0])
    unknown = outside[suspected.pairs].sum(axis=1)
    sigma = np.sqrt(spread**2 * (1 + 1 / count) + unknown * _today(fresh) ** 2)
    result.critical["pair"] = critical * float(np.median(sigma)), spread
    slow, back = slow - centre, back - centre
    for place, (client, server) in enumerate(suspected.pairs.tolist()):
        if repeats[place] < LEAST_REPEATS:
            result.untested_pairs.append(place)
            continue
        is_slow = bool(slow[place] > critical * sigma[place])
        doubtful = not is_slow and slow[place] > max(LEAST_HINT, hint * sigma[place])
        reason = DOUBT if doubtful else None
        one_way = back_repeats[place] >= LEAST_REPEATS and back[place] < slow[place] / 2
        twin = (
            back_repeats[place] >= LEAST_REPEATS
            and (client > server)
            and _has(suspected, server, client)
        )
        if twin and not one_way and back[place] > critical * sigma[place]:
            continue  # the other way round says it already
        way = OUT if one_way else BOTH
        half = critical * float(sigma[place])
        result.judged.append(
            Judged("pair", client, server, way, float(slow[place]), half, is_slow, reason)
        )


def _has(suspected: Suspects, client: int, server: int) -> bool:
    return bool(np.any((suspected.pairs[:, 0] == client) & (suspected.pairs[:, 1] == server)))


@dataclass(frozen=True, slots=True)
class _Figures:
    """The figures of the second measurement, each with what nothing else explains of its slowness."""

    keys: IntArray
    """Client times nodes plus server."""
    rest: FloatArray
    is_known: NDArray[np.bool_]
    """Whether all is known of the effects of the figure's nodes."""
    is_control: NDArray[np.bool_]
    """Whether it is of two healthy nodes, and not of a suspected pair."""
    nodes: int


def _figures(fresh: Fresh, suspected: Suspects, beside: PairValues | None) -> _Figures:
    whole = _figures_of(fresh, suspected, fresh.values, is_whole=True)
    if beside is None or not beside.values.size:
        return whole
    more = _figures_of(fresh, suspected, beside, is_whole=False)
    return _Figures(
        np.concatenate((whole.keys, more.keys)),
        np.concatenate((whole.rest, more.rest)),
        np.concatenate((whole.is_known, more.is_known)),
        np.concatenate((whole.is_control, more.is_control)),
        whole.nodes,
    )


def _figures_of(
    fresh: Fresh, suspected: Suspects, values: PairValues, *, is_whole: bool
) -> _Figures:
    """Of the whole rounds, whose spells are known, or of rounds beside them."""
    first, nodes = fresh.first, len(values.nodes)
    logs = slowness(values)
    these = np.flatnonzero(np.isfinite(logs))
    ends = np.stack((values.clients[these], values.servers[these]))
    one, other = first.leaves[ends]
    crossing = one != other
    out, into = (1, 2) if fresh.terms.is_directed else (0, 0)
    effects = np.where(np.isfinite(fresh.effects), fresh.effects, expected_effects(first))
    uplinks = np.where(np.isfinite(fresh.uplinks), fresh.uplinks, three_ways(first.uplink_effects))
    uplinks = np.nan_to_num(uplinks)
    own, is_known = _by_class(fresh, ends, crossing)
    rest = (
        logs[these]
        - _level(fresh)[crossing.astype(np.int64)]
        - effects[out, ends[0]]
        - effects[into, ends[1]]
        - np.where(crossing, uplinks[out, one] + uplinks[into, other], fresh.terms.within[one])
        - own
    )
    is_healthy = np.zeros(nodes, dtype=bool)
    is_healthy[fresh.controls] = True
    suspected_keys = pair_keys(suspected.pairs[:, 0], suspected.pairs[:, 1], nodes)
    is_suspected = np.isin(pair_keys(ends[0], ends[1], nodes), suspected_keys)
    is_control = is_healthy[ends].all(axis=0) & ~is_suspected
    rounds = values.rounds[these]
    if is_whole:
        rest -= _spell_shift(fresh, rounds)
    else:
        rest -= _shift_beside(rest, rounds, crossing, is_control)
    return _Figures(ends[0] * nodes + ends[1], rest, is_known, is_control, nodes)


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
    left = (rest - shift)[controls]
    raw = group_medians(left, spells, count)
    chance = np.pi / 2 * scale(left) ** 2 / np.bincount(spells, minlength=count)
    excess = max(0.0, float(np.var(raw)) - float(np.median(chance)))
    raw = (raw - np.median(raw)) * excess / np.maximum(excess + chance, LEAST_SPREAD**2)
    known, place = np.unique(rounds[controls], return_index=True)
    nearest = np.searchsorted((known[1:] + known[:-1]) / 2, rounds)
    return np.asarray(shift + raw[spells[place]][nearest])


def _control_pairs(figures: _Figures) -> tuple[float, float, int]:
    """The centre and the spread of the lower quartiles of healthy pairs, and how many pairs these are."""
    _, number, sizes = np.unique(
        figures.keys[figures.is_control], return_inverse=True, return_counts=True
    )
    low = group_order_statistics(
        figures.rest[figures.is_control], number.reshape(-1), sizes.size, PAIR_QUANTILE
    )[sizes >= LEAST_REPEATS]
    if not low.size:
        return 0.0, 0.0, 0
    return float(np.median(low)), max(LEAST_SPREAD, scale(low)), low.size


def _suspected_pairs(figures: _Figures, pairs: IntArray) -> tuple[FloatArray, IntArray]:
    """(k,) the lower quartile of each pair's fresh slowness beyond what all else explains; (k,) its repeats."""
    wanted, order = np.unique(pairs[:, 0] * figures.nodes + pairs[:, 1], return_inverse=True)
    place = np.minimum(np.searchsorted(wanted, figures.keys), wanted.size - 1)
    these = wanted[place] == figures.keys
    low = group_order_statistics(figures.rest[these], place[these], wanted.size, PAIR_QUANTILE)
    repeats = np.bincount(place[these & figures.is_known], minlength=wanted.size)
    order = order.reshape(-1)
    return np.nan_to_num(low[order]), repeats[order]


def _by_class(
    fresh: Fresh, ends: IntArray, crossing: NDArray[np.bool_]
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """(m,) what the ends' suspected nodes cost in this class of pairs beyond what they cost in all; (m,) known?

    A late node costs the pairs of its own leaf more than others, in logarithms. Of a class in which it has too few
    pairs nothing is known.
    """
    terms, nodes = fresh.terms, len(fresh.values.nodes)
    both = np.concatenate((fresh.values.clients[fresh.core], fresh.values.servers[fresh.core]))
    groups = 2 * both + np.tile(terms.classes, 2)
    medians = group_medians(np.tile(terms.rest(), 2), groups, 2 * nodes)
    known = np.bincount(groups, minlength=2 * nodes) >= LEAST_REPEATS * LEAST_CONTROLS
    apart = np.ones(nodes, dtype=bool)
    apart[fresh.controls] = False
    apart[np.isnan(fresh.effects[0])] = False
    wanted = 2 * ends + crossing.astype(np.int64)
    shifts = np.where(apart[ends] & known[wanted], medians[wanted], 0.0)
    return shifts.sum(axis=0), np.asarray((~apart[ends] | known[wanted]).all(axis=0))


def _level(fresh: Fresh) -> FloatArray:
    """(2,) the classes' slowness in the second measurement where the median control has no effect."""
    terms, first = fresh.terms, fresh.first
    nodes = len(fresh.values.nodes)
    ends = _two(terms.ends, nodes, terms.is_directed)[:, fresh.controls]
    level = terms.class_values + float(np.median(ends, axis=1).sum())
    seen = np.bincount(terms.classes, minlength=2) > 0
    shift = float(np.median((level - first.class_values)[seen]))
    return np.where(seen, level, first.class_values + shift)


def _spell_shift(fresh: Fresh, rounds: IntArray) -> FloatArray:
    """(m,) the shift of the spell that each round lies in, or of the nearest one."""
    known, place = np.unique(fresh.values.rounds[fresh.core], return_index=True)
    shifts = fresh.terms.spell_values[fresh.terms.spells[place]]
    nearest = np.searchsorted((known[1:] + known[:-1]) / 2, rounds)
    return np.asarray(shifts[nearest])


def expected_effects(first: PairFit) -> FloatArray:
    """(3, n) the effect to be expected of each node again: the sweep's, drawn towards 0 as far as it is uncertain.

    A suspected pair was chosen by what its nodes left over, so their effects as fitted would repeat that choice.
    """
    found = scores(first)
    errors = first.node_errors[:, np.isfinite(first.node_effects[0])]
    chance = float(np.median(errors)) ** 2 if errors.size else 0.0
    effects = np.nan_to_num(first.node_effects)
    lasting = max(0.0, float(found.node_spread[1:].max()) ** 2 - chance)
    drawn = lasting / (lasting + first.node_errors**2 + LEAST_SPREAD**2)
    return three_ways(effects * drawn)


def _today(fresh: Fresh) -> float:
    """The standard deviation by which the effects of healthy nodes differ from the expected ones."""
    misses = fresh.effects[1:, fresh.controls] - expected_effects(fresh.first)[1:, fresh.controls]
    return float(np.hypot(scale(misses[0]), scale(misses[1]))) / 2**0.5
