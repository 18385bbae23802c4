"""Slow uplinks alone: each filled by all nodes of its leaf while no other uplink is full.

In a round of the sweep all uplinks are full at once. Then busy CPUs and the spine hide part of what a slow uplink
costs, and its pairs share it unevenly, so that the median pair tells less than the uplink lost. Alone it shows its
whole effect by when its pairs are done; and one that only shares a slow spine with others is as quick as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

import numpy as np

from chiplog.survey.fresh import (
    DOUBT,
    HINTED,
    LEAST_HINT,
    LEAST_REPEATS,
    LEAST_SPREAD,
    UNTOLD,
    pair_keys,
    tests_alone,
)
from chiplog.survey.pair_fit import LEAST_OF_LEAF, slowness
from chiplog.survey.plan import CONTROL_LEAVES, MOST_UPLINKS_ALONE
from chiplog.survey.robust import scale, spread_of_controls, upper_quantile
from chiplog.survey.suspects import LEAST_EFFECT, WAYS, suspects
from chiplog.survey.uplinks import FULL

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chiplog.survey.fresh import Again, JudgedSuspect
    from chiplog.survey.pair_fit import PairFit
    from chiplog.survey.pair_values import FloatArray, IntArray, PairValues
    from chiplog.survey.rounds import Pairs
    from chiplog.survey.suspects import Suspects

NOT_ALONE = "it is slow while other uplinks are full, and not alone: they may share a link"


def uplinks_alone(fit: PairFit, slow_uplinks: Sequence[int], shuffle: random.Random) -> list[Pairs]:
    """Rounds that each fill the uplink of one leaf: of the slow ones, the worst first, and of some healthy ones.

    The leaf's nodes are the clients; their partners are healthy nodes of as many other leaves as there are. A leaf is
    left out where there are too few of these to fill its uplink. There are none where no healthy leaf can be measured.
    """
    suspected_parts = suspects(fit)
    members = _members(fit)
    suspected = {*suspected_parts.uplinks.tolist(), *slow_uplinks}
    suspected_nodes = set(suspected_parts.nodes.tolist())
    healthy = {
        leaf: [node for node in nodes if node not in suspected_nodes]
        for leaf, nodes in members.items()
        if leaf not in suspected
    }
    slow = [
        _filling(leaf, members[leaf], healthy, shuffle)
        for leaf in slow_uplinks[:MOST_UPLINKS_ALONE]
    ]
    others = [leaf for leaf, nodes in healthy.items() if len(nodes) >= LEAST_OF_LEAF]
    drawn = shuffle.sample(others, len(others))
    controls = [_filling(leaf, healthy[leaf], healthy, shuffle) for leaf in drawn]
    known = [pairs for pairs in controls if pairs][:CONTROL_LEAVES]
    return [*filter(None, slow), *known] if known and any(slow) else []


def _members(fit: PairFit) -> dict[int, list[int]]:
    """The nodes of each leaf that have pairs."""
    ends = np.union1d(fit.values.clients[fit.usable], fit.values.servers[fit.usable])
    leaves = fit.leaves[ends]
    return {leaf: ends[leaves == leaf].tolist() for leaf in np.unique(leaves).tolist()}


def _filling(
    leaf: int, nodes: list[int], healthy: dict[int, list[int]], shuffle: random.Random
) -> Pairs:
    """All nodes of a leaf with partners spread over other leaves; () where these are too few."""
    others = [shuffle.sample(ends, len(ends)) for other, ends in healthy.items() if other != leaf]
    shuffle.shuffle(others)
    partners = [node for node in chain.from_iterable(zip_longest(*others)) if node is not None]
    return tuple(zip(nodes, partners, strict=False)) if len(partners) >= FULL * len(nodes) else ()


@dataclass(frozen=True, slots=True)
class _Filled:
    """One uplink, filled again and again."""

    leaves: frozenset[int]
    """Those that its pairs touch."""
    clients: IntArray
    """(repeats, pairs) the leaf of each pair's client."""
    times: FloatArray
    """(repeats, pairs) those of its messages, in any unit; NaN of a pair that failed."""

    @property
    def nodes(self) -> int:
        return int(self.clients.shape[1])

    @property
    def means(self) -> FloatArray:
        """(repeats,) the mean time of its pairs; NaN where one failed."""
        return np.asarray(self.times.mean(axis=1))

    def begins_in(self, leaf: int) -> NDArray[np.bool_]:
        """(repeats,) whether all pairs of a repeat begin in that leaf."""
        return np.asarray((self.clients == leaf).all(axis=1))

    def differences(self) -> FloatArray:
        """(pairs,) by how much each of them takes longer than their mean, a logarithm, the median over the repeats."""
        known = np.isfinite(self.means)
        ratios = self.times[known] / self.means[known, None]
        return np.asarray(np.median(np.log(ratios), axis=0)) if known.any() else np.zeros(0)


def judge_uplinks_alone(
    result: Again, suspected: Suspects, full: PairValues | None, error: float
) -> None:
    """Gives the accused uplinks, in place, the effect that they have alone; takes back who has none.

    `error` bounds the probability that one is accused which only shares a link. Uplinks in doubt are accused if they
    are slow beyond doubt alone: `error` then is that of all nodes and uplinks of the sweep, alone. An uplink that was
    not measured alone stays as it is, and so does one with a slower node behind it, which can't help to fill it.
    """
    judged, fresh = result.judged, result.fresh
    slow = [place for place, accused in enumerate(judged) if is_slow_uplink(accused)]
    doubted = [place for place, doubtful in enumerate(judged) if is_doubted_uplink(doubtful)]
    if fresh is None or full is None or not (slow or doubted):
        return
    doubted_leaves = {judged[place].number for place in (*slow, *doubted)} | set(
        suspected.uplinks.tolist()
    )
    filled = _filled(full, fresh.first.leaves)
    controls = [control for control in filled if not doubted_leaves & control.leaves]
    for place in (*slow, *doubted):
        suspect = judged[place]
        uplink = next((part for part in filled if part.begins_in(suspect.number).any()), None)
        effect = None if uplink is None or not controls else _effect(suspect, uplink, controls)
        if effect is None or effect.slowness < _slowest_node(
            judged, fresh.first.leaves, suspect.number
        ):
            continue
        if place in slow:
            spread, freedom, tests = float(fresh.spread[effect.way]), fresh.freedom, len(slow)
        else:
            spread, freedom = spread_of_controls(
                np.concatenate([part.differences() for part in controls])
            )
            tests = tests_alone(fresh.first)
        sigma = max(LEAST_SPREAD, float(np.hypot(spread * np.sqrt(effect.share), effect.noise)))
        half = upper_quantile(error / tests, min(freedom, effect.freedom)) * sigma
        limit = max(LEAST_HINT, half)
        is_slow = effect.slowness > limit
        if place in slow:
            result.critical["uplink"] = max(result.critical["uplink"], (limit, sigma))
        if place in slow or is_slow or effect.slowness + half < LEAST_HINT:
            reason = None if is_slow or suspect.reason == HINTED else NOT_ALONE
            hidden = effect.hidden / 2
            judged[place] = replace(
                suspect,
                slowness=effect.slowness + hidden,
                half_width=half + hidden,
                is_slow=is_slow,
                reason=reason,
            )


def _slowest_node(judged: list[JudgedSuspect], leaves: IntArray, leaf: int) -> float:
    """The slowness of the slowest accused node of a leaf; minus infinity without one."""
    accused = (suspect for suspect in judged if suspect.kind == "node" and suspect.is_slow)
    return max((node.slowness for node in accused if leaves[node.number] == leaf), default=-np.inf)


def is_slow_uplink(judged: JudgedSuspect) -> bool:
    """Whether it is an uplink that was slow beside others, beyond doubt."""
    return judged.kind == "uplink" and judged.is_slow and judged.slowness > LEAST_EFFECT


def is_doubted_uplink(judged: JudgedSuspect) -> bool:
    """Whether it is an uplink that may be beyond doubt alone."""
    return judged.kind == "uplink" and judged.reason in (DOUBT, UNTOLD, HINTED)


def _filled(full: PairValues, leaves: IntArray) -> list[_Filled]:
    """The uplinks that were filled; a repeat of one has the same pairs, in either direction."""
    logs, nodes = slowness(full), len(full.nodes)
    repeats: dict[tuple[int, ...], list[IntArray]] = {}
    for number in np.unique(full.rounds).tolist():
        places = np.flatnonzero(full.rounds == number)
        keys = pair_keys(full.clients[places], full.servers[places], nodes)
        repeats.setdefault(tuple(np.sort(keys).tolist()), []).append(places[np.argsort(keys)])
    uplinks = []
    for parts in repeats.values():
        places = np.array(parts)
        ends = leaves[full.clients[places]], leaves[full.servers[places]]
        touched = frozenset(np.unique(np.concatenate(ends)).tolist())
        uplinks.append(_Filled(touched, ends[0], np.exp(logs[places])))
    return uplinks


@dataclass(frozen=True, slots=True)
class _Effect:
    """How much slower one uplink is than the healthy ones measured in turn with it; all figures are logarithms."""

    way: int
    slowness: float
    hidden: float
    """By how much the slowness may be larger: healthy pairs also wait for answers, which slow ones wait for anyway."""
    share: float
    """The variance of it in that of a node."""
    noise: float
    """Its standard error by what repeats differ by."""
    freedom: float


def _effect(judged: JudgedSuspect, uplink: _Filled, controls: list[_Filled]) -> _Effect | None:
    """Compares each repeat with the controls' repeats of the same time, so that the machine's drift cancels.

    The result is None if there are too few repeats.
    """
    count = min(len(part.times) for part in (uplink, *controls))
    means = np.array([part.means[:count] for part in controls])
    typical = np.median(means, axis=0)
    quickest = min(0.0, *(float(part.differences().min(initial=0.0)) for part in controls))
    slower, at_most = (
        np.array([-np.log(given(*each)) for each in zip(uplink.times, free, strict=False)])
        for free in (typical, typical * np.exp(quickest))
    )
    is_out, known = uplink.begins_in(judged.number)[:count], np.isfinite(slower)
    ways = [slower[known & is_out], slower[known & ~is_out]]
    more = [at_most[known & is_out], at_most[known & ~is_out]]
    if min(part.size for part in ways) < LEAST_REPEATS:
        return None
    way = WAYS.index(judged.way)
    counted = ways if way == 0 else [ways[way - 1]]
    most = more if way == 0 else [more[way - 1]]
    slow, slow_at_most = (
        float(np.mean([np.median(part) for part in parts])) for parts in (counted, most)
    )
    rest = np.concatenate([_rest(part) for part in ways])
    others = [_rest(np.log(row / typical)[known]) for row in means] if len(means) > 1 else []
    spread, freedom = spread_of_controls(np.concatenate((rest, *others)))
    repeats = sum(part.size for part in counted)
    return _Effect(
        way,
        slow,
        slow_at_most - slow,
        1 / uplink.nodes + np.pi / 2 / sum(part.nodes for part in controls),
        float(np.sqrt(np.pi / 2 / repeats)) * max(spread, scale(rest)),
        freedom,
    )


def _rest(repeats: FloatArray) -> FloatArray:
    """How far each repeat is from their median, widened by what fitting the median takes away."""
    return np.asarray((repeats - np.median(repeats)) * np.sqrt(repeats.size / (repeats.size - 1)))


def given(times: FloatArray, free: float) -> float:
    """What an uplink gives its pairs, as a share of what they would take: 0.9 of one that is 10 % slow.

    `times` (k,) are those of the pairs' messages, which began together and are of one size; `free` is the time of one
    that nothing slows. The uplink is full until fewer pairs are left than can fill it. Those take what they
    can, so sum over j of (t_j - t_(j-1)) min(c k, k - j + 1) = k free, from which c follows. Above 1 where the pairs
    are quicker than `free` on average; NaN of an unknown time.

    >>> round(given(np.array([1.0, 1.0]) / 0.9, 1.0), 6)
    0.9
    """
    if not np.isfinite(times).all() or not np.isfinite(free):
        return float("nan")
    times, mean = np.sort(times), float(times.mean())
    if mean <= free:
        return 1 + (free - mean) / float(times[0])
    count = times.size
    spells = np.diff(times, prepend=0.0)
    left = np.arange(count, 0, -1)
    steps = np.arange(count + 1)
    done = np.minimum.outer(steps, left) @ spells
    return float(np.interp(count * free, done, steps) / count)
