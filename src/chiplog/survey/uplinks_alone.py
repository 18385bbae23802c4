"""Slow uplinks alone: each filled by all nodes of its leaf while no other uplink is full.

In a round of the sweep all uplinks are full at once. Then busy CPUs and the spine hide part of what a slow uplink
costs, and its pairs share it unevenly, so that the median pair tells less than the uplink carries. Alone and by the
mean time of its pairs it shows its whole effect; and one that only shares a slow spine with others is as quick as they
are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

import numpy as np

from chiplog.survey.fresh import LEAST_HINT, LEAST_REPEATS, LEAST_SPREAD, pair_keys
from chiplog.survey.pair_fit import LEAST_OF_LEAF, slowness
from chiplog.survey.plan import CONTROL_LEAVES, MOST_UPLINKS_ALONE
from chiplog.survey.robust import scale, spread_of_controls, upper_quantile
from chiplog.survey.suspects import LEAST_EFFECT, WAYS, suspects
from chiplog.survey.uplinks import FULL

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from chiplog.survey.fresh import Again, Judged
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
    found = suspects(fit)
    members = _members(fit)
    suspected = {*found.uplinks.tolist(), *slow_uplinks}
    apart = set(found.nodes.tolist())
    healthy = {
        leaf: [node for node in nodes if node not in apart]
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
    """One uplink, filled again and again: the mean time of its pairs, a logarithm, in the order of the repeats."""

    leaves: frozenset[int]
    """Those that its pairs touch."""
    clients: IntArray
    """(repeats, pairs) the leaf of each pair's client."""
    times: FloatArray
    """(repeats,) NaN where a pair failed."""

    @property
    def nodes(self) -> int:
        return int(self.clients.shape[1])

    def begins_in(self, leaf: int) -> NDArray[np.bool_]:
        """(repeats,) whether all pairs of a repeat begin in that leaf."""
        return np.asarray((self.clients == leaf).all(axis=1))


def judge_uplinks_alone(
    result: Again, suspected: Suspects, full: PairValues | None, error: float
) -> None:
    """Gives the accused uplinks, in place, the effect that they have alone; takes back who has none.

    `error` bounds the probability that one is accused which only shares a link. An uplink that was not measured alone
    stays as it is.
    """
    slow = [
        place
        for place, one in enumerate(result.judged)
        if one.kind == "uplink" and one.is_slow and one.slowness > LEAST_EFFECT
    ]
    if result.fresh is None or full is None or not slow:
        return
    apart = {result.judged[place].number for place in slow} | set(suspected.uplinks.tolist())
    filled = _filled(full, result.fresh.first.leaves)
    controls = [one for one in filled if not apart & one.leaves]
    for place in slow:
        leaf = result.judged[place].number
        own = next((one for one in filled if one.begins_in(leaf).any()), None)
        if own is not None and controls:
            result.judged[place] = _alone(
                result.judged[place], result, own, controls, error / len(slow)
            )


def _filled(full: PairValues, leaves: IntArray) -> list[_Filled]:
    """The uplinks that were filled; a repeat of one has the same pairs, in either direction."""
    logs, nodes = slowness(full), len(full.nodes)
    repeats: dict[tuple[int, ...], list[IntArray]] = {}
    for number in np.unique(full.rounds).tolist():
        places = np.flatnonzero(full.rounds == number)
        keys = pair_keys(full.clients[places], full.servers[places], nodes)
        repeats.setdefault(tuple(np.sort(keys).tolist()), []).append(places[np.argsort(keys)])
    found = []
    for parts in repeats.values():
        places = np.array(parts)
        ends = leaves[full.clients[places]], leaves[full.servers[places]]
        times = np.log(np.exp(logs[places]).mean(axis=1))
        touched = frozenset(np.unique(np.concatenate(ends)).tolist())
        found.append(_Filled(touched, ends[0], times))
    return found


def _alone(
    one: Judged, result: Again, own: _Filled, controls: list[_Filled], error: float
) -> Judged:
    """Each repeat against those of the controls beside it, so that what the machine does meanwhile cancels."""
    fresh = result.fresh
    assert fresh is not None
    count = min(part.times.size for part in (own, *controls))
    beside = np.array([part.times[:count] for part in controls])
    typical = np.median(beside, axis=0)
    slower = own.times[:count] - typical
    is_out, known = own.begins_in(one.number)[:count], np.isfinite(slower)
    ways = [slower[known & is_out], slower[known & ~is_out]]
    if min(part.size for part in ways) < LEAST_REPEATS:
        return one
    way = WAYS.index(one.way)
    counted = ways if way == 0 else [ways[way - 1]]
    slow = float(np.mean([np.median(part) for part in counted]))
    rest = np.concatenate([_rest(part) for part in ways])
    others = [_rest(row[known]) for row in beside - typical] if len(beside) > 1 else []
    spread, freedom = spread_of_controls(np.concatenate((rest, *others)))
    repeats = sum(part.size for part in counted)
    share = 1 / own.nodes + np.pi / 2 / sum(part.nodes for part in controls)
    noise = np.pi / 2 * max(spread, scale(rest)) ** 2 / repeats
    sigma = max(LEAST_SPREAD, float(np.sqrt(fresh.spread[way] ** 2 * share + noise)))
    half = upper_quantile(error, min(freedom, fresh.freedom)) * sigma
    limit = max(LEAST_HINT, half)
    result.critical["uplink"] = max(result.critical["uplink"], (limit, sigma))
    is_slow = slow > limit
    reason = None if is_slow else NOT_ALONE
    return replace(one, slowness=slow, half_width=half, is_slow=is_slow, reason=reason)


def _rest(repeats: FloatArray) -> FloatArray:
    """What is left of each beyond their median, made as wide as it was without it."""
    return np.asarray((repeats - np.median(repeats)) * np.sqrt(repeats.size / (repeats.size - 1)))
