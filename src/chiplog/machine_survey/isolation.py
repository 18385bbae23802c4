"""The third stage, the isolation: pairs one after the other, and uplinks filled while no other one is full.

Links that pairs share are shared unevenly, and the same pairs always meet in a round, so each time in the same way. A
node or a link that is at fault itself is slow in isolation, too. And busy CPUs and the spine hide part of what a slow
uplink costs while all are full; alone it shows its whole effect by when its pairs are done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chiplog.machine_survey.confirmation import pair_keys
from chiplog.machine_survey.robust import (
    degrees_of_freedom,
    group_order_statistics,
    scale,
    spread_of_controls,
)
from chiplog.machine_survey.settings import SETTINGS
from chiplog.machine_survey.slowness_terms import slowness

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chiplog.machine_survey.confirmation import ConfirmationFit
    from chiplog.machine_survey.pair_values import FloatArray, IntArray, PairValues
    from chiplog.machine_survey.sweep import Suspects


@dataclass(frozen=True, slots=True)
class IsolatedPairs:
    """The directed pairs that were measured alone often enough, each relative to the controls of its class."""

    nodes: int
    """How many nodes the survey has."""
    clients: IntArray
    servers: IntArray
    is_control: NDArray[np.bool_]
    typical: FloatArray
    """Median slowness beyond what slow nodes explain."""
    low: FloatArray
    """Its lower quartile."""
    low_beyond: FloatArray
    """The lower quartile beyond what all nodes' effects beside others explain, quick ones' too."""
    plain: FloatArray
    """Median slowness, whatever explains it but slow uplinks."""
    at_most: FloatArray
    """Median slowness, whatever explains it: a slow uplink may cost a pair that has it alone nothing."""
    is_clear: NDArray[np.bool_]
    """Whether it crosses no suspected uplink: what such a one costs a pair that has it alone is not known."""

    @property
    def freedom(self) -> float:
        """Returns the degrees of freedom of the controls' spread."""
        return degrees_of_freedom(int(self.is_control.sum()))

    def keys(self) -> IntArray:
        """Returns a number for each pair, whichever way round."""
        return pair_keys(self.clients, self.servers, self.nodes)

    def reaches_beyond(self, nodes: IntArray) -> NDArray[np.bool_]:
        """Returns (m,) whether a pair has an end that is not among these nodes."""
        return ~np.isin(self.clients, nodes) | ~np.isin(self.servers, nodes)

    def best(self, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Returns those of the kept pairs that cross no suspected uplink, if there are enough, else all."""
        clear = kept & self.is_clear
        pairs = np.unique(self.keys()[clear]).size
        return clear if pairs >= SETTINGS.least_partners else kept


def isolated_pairs(
    fit: ConfirmationFit, suspects: Suspects, doubted: IntArray, values: PairValues
) -> IsolatedPairs | None:
    """Returns the pairs of the isolation; None with too few controls: pairs of nodes that are not `doubted`."""
    repeats = _Repeats.of(fit, suspects, doubted, values)
    if repeats is None:
        return None
    effects = fit.known_effects
    uplinks = np.nan_to_num(np.maximum(0.0, fit.uplinks))
    nothing = np.zeros_like(effects)
    quartile = SETTINGS.bandwidth_quantile
    beyond_slow = repeats.beyond(np.maximum(0.0, effects), uplinks)
    beyond_uplinks = repeats.beyond(nothing, uplinks)
    unexplained = repeats.beyond(nothing, np.zeros_like(uplinks))
    ends = np.stack((repeats.clients, repeats.servers))
    behind = np.isin(fit.sweep.leaves[ends], suspects.uplinks).any(axis=0)
    used = repeats.is_used
    return IsolatedPairs(
        len(values.nodes),
        repeats.clients[used],
        repeats.servers[used],
        repeats.is_control[used],
        repeats.quantile(beyond_slow, 0.5)[used],
        repeats.quantile(beyond_slow, quartile)[used],
        repeats.quantile(repeats.beyond(effects, uplinks), quartile)[used],
        repeats.quantile(beyond_uplinks, 0.5)[used],
        repeats.quantile(unexplained, 0.5)[used],
        ~(behind & repeats.is_crossing)[used],
    )


@dataclass(frozen=True, slots=True)
class _Repeats:
    """The figures of the isolation, and the directed pair that each is a repeat of."""

    fit: ConfirmationFit
    values: PairValues
    number: IntArray
    """(figures,) the number of the directed pair of each figure that is known."""
    clients: IntArray
    """(pairs,) of each directed pair."""
    servers: IntArray
    is_crossing: NDArray[np.bool_]
    is_control: NDArray[np.bool_]
    is_used: NDArray[np.bool_]
    """Whether it was measured often enough, and has controls of its class."""

    @staticmethod
    def of(
        fit: ConfirmationFit, suspects: Suspects, doubted: IntArray, values: PairValues
    ) -> _Repeats | None:
        """Returns the figures of these values; None with too few controls."""
        nodes = len(values.nodes)
        known = np.isfinite(slowness(values))
        keys, number, sizes = np.unique(
            (values.clients * nodes + values.servers)[known],
            return_inverse=True,
            return_counts=True,
        )
        clients, servers = np.divmod(keys, nodes)
        suspected = pair_keys(suspects.pairs[:, 0], suspects.pairs[:, 1], nodes)
        is_control = ~np.isin(pair_keys(clients, servers, nodes), suspected)
        is_control &= ~np.isin(clients, doubted) & ~np.isin(servers, doubted)
        is_used = sizes >= SETTINGS.least_repeats
        crossing = fit.sweep.leaves[clients] != fit.sweep.leaves[servers]
        for of_class in (crossing, ~crossing):  # of a class without controls nothing is known
            controls = (of_class & is_control & is_used).sum()
            is_used &= ~of_class | (controls >= SETTINGS.least_controls)
        if (is_control & is_used).sum() < 2 * SETTINGS.least_controls:
            return None
        number = number.reshape(-1)
        return _Repeats(fit, values, number, clients, servers, crossing, is_control, is_used)

    def beyond(self, effects: FloatArray, uplinks: FloatArray) -> FloatArray:
        """Returns (figures,) the slowness beyond `effects` (3, n), `uplinks` (3, leaves) and the class's controls."""
        values, leaves = self.values, self.fit.sweep.leaves
        out, into = self.fit.ways
        explained = effects[out, values.clients] + effects[into, values.servers]
        client_leaves, server_leaves = leaves[values.clients], leaves[values.servers]
        explained += np.where(
            client_leaves != server_leaves,
            uplinks[out, client_leaves] + uplinks[into, server_leaves],
            0.0,
        )
        logs = slowness(values)
        rest = np.asarray(logs - explained)[np.isfinite(logs)]
        controls = self.is_control & self.is_used
        for of_class in (self.is_crossing, ~self.is_crossing):
            if (of_class & controls).any():
                rest[of_class[self.number]] -= np.median(rest[(of_class & controls)[self.number]])
        return rest

    def quantile(self, rest: FloatArray, share: float) -> FloatArray:
        """Returns (pairs,) that quantile of each pair's repeats, relative to the median control's."""
        of_pairs = group_order_statistics(rest, self.number, self.clients.size, share)
        return np.asarray(of_pairs - np.median(of_pairs[self.is_control & self.is_used]))


@dataclass(frozen=True, slots=True)
class FilledUplink:
    """One uplink, filled again and again."""

    leaves: frozenset[int]
    """Those that its pairs touch."""
    clients: IntArray
    """(repeats, pairs) the leaf of each pair's client."""
    times: FloatArray
    """(repeats, pairs) those of its messages, in any unit; NaN of a pair that failed."""

    @property
    def nodes(self) -> int:
        """Returns how many nodes fill it."""
        return int(self.clients.shape[1])

    @property
    def means(self) -> FloatArray:
        """Returns (repeats,) the mean time of its pairs; NaN where one failed."""
        return np.asarray(self.times.mean(axis=1))

    def begins_in(self, leaf: int) -> NDArray[np.bool_]:
        """Returns (repeats,) whether all pairs of a repeat begin in that leaf."""
        return np.asarray((self.clients == leaf).all(axis=1))

    def differences(self) -> FloatArray:
        """Returns (pairs,) by how much each takes longer than their mean: a logarithm, the median over the repeats."""
        known = np.isfinite(self.means)
        ratios = self.times[known] / self.means[known, None]
        return np.asarray(np.median(np.log(ratios), axis=0)) if known.any() else np.zeros(0)


def filled_uplinks(full: PairValues, leaves: IntArray) -> list[FilledUplink]:
    """Returns the uplinks that were filled; a repeat of one has the same pairs, in either direction."""
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
        uplinks.append(FilledUplink(touched, ends[0], np.exp(logs[places])))
    return uplinks


@dataclass(frozen=True, slots=True)
class UplinkEffect:
    """How much slower one uplink is than the healthy ones measured in turn with it; all figures are logarithms."""

    slowness: float
    hidden: float
    """By how much the slowness may be larger: healthy pairs also wait for answers, which slow ones wait for anyway."""
    share: float
    """The variance of it in that of a node."""
    noise: float
    """Its standard error by what repeats differ by."""
    freedom: float


def uplink_effect(
    leaf: int, way: int, uplink: FilledUplink, controls: list[FilledUplink]
) -> UplinkEffect | None:
    """Returns the effect of a leaf's uplink in a way: 0 both together, 1 out, 2 in; None with too few repeats.

    Each repeat is compared with the controls' repeats of the same time, so that the machine's drift cancels.
    """
    count = min(len(filled.times) for filled in (uplink, *controls))
    means = np.array([control.means[:count] for control in controls])
    typical = np.median(means, axis=0)
    quickest = min(0.0, *(float(control.differences().min(initial=0.0)) for control in controls))
    slower, at_most = (
        np.array([-np.log(share_given(*each)) for each in zip(uplink.times, free, strict=False)])
        for free in (typical, typical * np.exp(quickest))
    )
    is_out, known = uplink.begins_in(leaf)[:count], np.isfinite(slower)
    ways = [slower[known & is_out], slower[known & ~is_out]]
    most = [at_most[known & is_out], at_most[known & ~is_out]]
    if min(repeats.size for repeats in ways) < SETTINGS.least_repeats:
        return None
    counted = slice(None) if way == 0 else slice(way - 1, way)
    slow, slow_at_most = (
        float(np.mean([np.median(repeats) for repeats in by_way[counted]]))
        for by_way in (ways, most)
    )
    rest = np.concatenate([_deviations(repeats) for repeats in ways])
    others = [_deviations(np.log(row / typical)[known]) for row in means] if len(means) > 1 else []
    spread, freedom = spread_of_controls(np.concatenate((rest, *others)))
    size = sum(repeats.size for repeats in ways[counted])
    return UplinkEffect(
        slow,
        slow_at_most - slow,
        1 / uplink.nodes + np.pi / 2 / sum(control.nodes for control in controls),
        float(np.sqrt(np.pi / 2 / size)) * max(spread, scale(rest)),
        freedom,
    )


def _deviations(repeats: FloatArray) -> FloatArray:
    """Returns how far each repeat is from their median, widened by what fitting the median takes away."""
    return np.asarray((repeats - np.median(repeats)) * np.sqrt(repeats.size / (repeats.size - 1)))


def share_given(times: FloatArray, free: float) -> float:
    """Returns what an uplink gives its pairs, as a share of what they would take: 0.9 of one that is 10 % slow.

    `times` (k,) are those of the pairs' messages, which began together and are of one size; `free` is the time of one
    that nothing slows. The uplink is full until fewer pairs are left than can fill it. Those take what they
    can, so sum over j of (t_j - t_(j-1)) min(c k, k - j + 1) = k free, from which c follows. Above 1 where the pairs
    are quicker than `free` on average; NaN of an unknown time.

    >>> round(share_given(np.array([1.0, 1.0]) / 0.9, 1.0), 6)
    0.9
    """
    if not np.isfinite(times).all() or not np.isfinite(free):
        return float("nan")
    times, mean = np.sort(times), float(times.mean())
    if mean <= free:
        return 1 + (free - mean) / float(times[0])
    count = times.size
    durations = np.diff(times, prepend=0.0)
    waiting = np.arange(count, 0, -1)
    steps = np.arange(count + 1)
    done = np.minimum.outer(steps, waiting) @ durations
    return float(np.interp(count * free, done, steps) / count)
