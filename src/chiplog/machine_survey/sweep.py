"""The first stage, the sweep: who is suspected because nodes, uplinks and pairs stand out of the slowness model.

The thresholds are loose: about one healthy node, half an uplink and one pair a node are expected among the suspects.
Nobody is accused here, so that costs time and no confidence. How often the sweep filled the uplinks stands here, too:
only a full one shows that it is a little slow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chiplog.machine_survey.robust import degrees_of_freedom, group_medians, scale, upper_quantile
from chiplog.machine_survey.settings import SETTINGS
from chiplog.machine_survey.slowness_terms import WAYS, three_ways

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chiplog.machine_survey.pair_values import FloatArray, IntArray
    from chiplog.machine_survey.slowness_model import PairFit


@dataclass(frozen=True, slots=True)
class Scores:
    """How far nodes, or uplinks, stand out of a sweep; (3, k) each: both directions, out, in; slow above 0."""

    slowness: FloatArray
    """All rows are the same where the fit is not directed."""
    scores: FloatArray
    """The slowness in standard deviations."""
    spread: FloatArray
    """The standard deviation of a healthy one."""
    freedom: float

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Returns (k,) whether the sweep tells of it."""
        return np.asarray(np.isfinite(self.slowness[0]))


def node_scores(fit: PairFit) -> Scores:
    """Returns the scores of a fit's nodes, against the spread that most nodes of the same fit have."""
    slow = three_ways(fit.node_effects)
    seen = np.isfinite(slow[0])
    spread = np.array([[max(scale(row[seen]), SETTINGS.least_spread)] for row in slow])
    errors = three_ways(fit.node_errors)
    errors[0] = np.sqrt((fit.node_errors**2).sum(axis=0)) / 2 if fit.is_directed else errors[1]
    typical = np.array([[np.median(row[seen]) if seen.any() else 0.0] for row in errors])
    extra = np.maximum(0.0, errors**2 - typical**2)
    freedom = degrees_of_freedom(int(seen.sum()))
    every = np.broadcast_to(spread, slow.shape)
    return Scores(slow, slow / np.sqrt(spread**2 + extra), every, freedom)


def uplink_scores(fit: PairFit, nodes: Scores) -> Scores:
    """Returns the scores of a fit's uplinks: by the nodes behind each, and by the leaves' spread if they are many."""
    slow = three_ways(fit.uplink_effects)
    known = np.isfinite(slow[0])
    members = np.maximum(1, np.bincount(fit.leaves[nodes.is_known], minlength=fit.leaf_count))
    crossing = fit.scales[fit.classes == 1]
    noise = float(np.median(crossing)) if crossing.size else 0.0
    by_nodes = (np.pi / 2) * nodes.spread[:, :1] ** 2 / members[None, :]
    by_pairs = 2 * noise**2 / np.maximum(1, fit.uplink_pairs)[None, :]
    many = known.sum() >= SETTINGS.many_leaves
    of_leaves = np.array([[scale(row[known]) if many else 0.0] for row in slow])
    spread = np.asarray(np.sqrt(np.maximum(by_nodes + by_pairs, of_leaves**2)))
    leaves = max(1, int(known.sum()))
    freedom = degrees_of_freedom(max(2, int(nodes.is_known.sum()) - leaves))
    return Scores(slow, slow / spread, spread, freedom)


@dataclass(frozen=True, slots=True)
class Suspects:
    """Numbers of the nodes, leaves and pairs to be measured again, the worst first."""

    nodes: IntArray
    uplinks: IntArray
    pairs: IntArray
    """(k, 2) client and server."""
    thresholds: dict[str, float]
    """Of nodes, uplinks and pairs the score from which one was taken."""


def suspects(fit: PairFit) -> Suspects:
    """Returns the nodes, uplinks and pairs that are to be measured again."""
    of_nodes = node_scores(fit)
    of_uplinks = uplink_scores(fit, of_nodes)
    ways = len(WAYS) if fit.is_directed else 1
    nodes, leaves = int(of_nodes.is_known.sum()), int(of_uplinks.is_known.sum())
    share = max(SETTINGS.expected_nodes / max(1, nodes), SETTINGS.suspect_share)
    share = min(SETTINGS.most_suspect_share, share)
    node_limit = upper_quantile(share / ways, of_nodes.freedom)
    slow_nodes = _worst(of_nodes.scores, node_limit, max(1, int(SETTINGS.most_nodes * nodes)))
    share = min(SETTINGS.most_uplink_share, SETTINGS.expected_uplinks / max(1, leaves))
    uplink_limit = upper_quantile(share / ways, of_uplinks.freedom)
    is_sure = of_uplinks.scores[0] > upper_quantile(SETTINGS.sure_uplink, of_uplinks.freedom)
    is_sure &= of_uplinks.slowness[0] > SETTINGS.least_effect
    most = max(1, int(SETTINGS.most_nodes * leaves), int(is_sure.sum()))
    slow_uplinks = _worst(of_uplinks.scores, uplink_limit, most)
    pair_limit, pairs = _slow_pairs(fit, slow_nodes, nodes)
    limits = {"node": node_limit, "uplink": uplink_limit, "pair": pair_limit}
    return Suspects(slow_nodes, slow_uplinks, pairs, limits)


def _worst(by_way: FloatArray, threshold: float, most: int) -> IntArray:
    if not by_way.shape[1]:
        return np.zeros(0, dtype=np.int64)
    best = np.nan_to_num(by_way, nan=-np.inf).max(axis=0)
    order = np.argsort(-best, kind="stable")[:most]
    return np.asarray(order[best[order] > threshold])


def pair_scores(fit: PairFit, slow_nodes: IntArray) -> FloatArray:
    """Returns (u,) how far each usable pair stands out, where each slow node has another effect on each class.

    A slow node may cost pairs of its leaf more than others, in logarithms; few pairs of a class don't tell how much, as
    a slow pair may be among them. Pairs between two such nodes score 0.
    """
    clients, servers = fit.values.clients[fit.usable], fit.values.servers[fit.usable]
    rest = fit.residuals.copy()
    is_slow = np.zeros(len(fit.values.nodes), dtype=bool)
    is_slow[slow_nodes] = True
    mixed = np.flatnonzero(is_slow[clients] ^ is_slow[servers])
    ends = np.where(is_slow[clients], clients, servers)[mixed]
    groups = 2 * ends + fit.classes[mixed]
    shifts = group_medians(rest[mixed], groups, 2 * is_slow.size)
    known = np.bincount(groups, minlength=shifts.size) >= SETTINGS.least_of_class
    rest[mixed] -= np.where(known, shifts, 0.0)[groups]
    rest[is_slow[clients] & is_slow[servers]] = 0.0
    return rest / fit.scales


def _slow_pairs(fit: PairFit, slow_nodes: IntArray, nodes: int) -> tuple[float, IntArray]:
    pairs = fit.usable.size
    none = np.zeros((0, 2), dtype=np.int64)
    if pairs < SETTINGS.least_of_pairs * nodes * (nodes - 1) / 2 or pairs <= 2 * nodes:
        return np.inf, none
    threshold = upper_quantile(min(SETTINGS.most_pair_share, nodes / pairs), np.inf)
    far = pair_scores(fit, slow_nodes)
    order = np.argsort(-far, kind="stable")[: SETTINGS.most_pairs * nodes]
    is_slow = (far[order] > threshold) & (far[order] * fit.scales[order] > SETTINGS.worth_measuring)
    taken = fit.usable[order[is_slow]]
    return threshold, np.stack((fit.values.clients[taken], fit.values.servers[taken]), axis=1)


@dataclass(frozen=True, slots=True)
class UplinkFill:
    """In how many rounds the uplink that was filled least often was full, of all rounds; each way counts for itself."""

    rounds: int
    least: int
    least_share: float = 1.0
    """Of the pairs across an uplink those that were measured while it was full, where these are the fewest."""

    @property
    def shows_slow_ones(self) -> bool:
        """Returns whether an uplink that is a little slow would show in most of its pairs."""
        return self.least_share > SETTINGS.least_filled

    def to_json(self) -> dict[str, Any]:
        """Returns the counts for scripts."""
        return {
            "rounds": self.rounds,
            "least_filled": self.least,
            "least_share": self.least_share,
        }


def uplink_fill(fit: PairFit) -> UplinkFill | None:
    """Returns how often a sweep of bandwidths filled each uplink; None with fewer than two leaves of two nodes.

    An uplink is full, one way, in a round in which nine tenths of its leaf's nodes send to other leaves, or receive
    from them.
    """
    sizes = np.bincount(fit.leaves, minlength=1)
    judged = np.flatnonzero(sizes >= 2)
    clients, servers = fit.values.clients[fit.usable], fit.values.servers[fit.usable]
    if judged.size < 2 or not fit.usable.size:
        return None
    _, rounds = np.unique(fit.values.rounds[fit.usable], return_inverse=True)
    count = int(rounds.max()) + 1
    crossing = fit.leaves[clients] != fit.leaves[servers]
    least, least_share = count, 1.0
    for ends in (clients, servers):
        busy = _busy(rounds[crossing], fit.leaves[ends][crossing], count, sizes.size)
        busy, full = busy[:, judged], (busy >= SETTINGS.full_uplink * sizes)[:, judged]
        least = min(least, int(full.sum(axis=0).min()))
        shares = (busy * full).sum(axis=0) / np.maximum(1, busy.sum(axis=0))
        least_share = min(least_share, float(shares.min()))
    return UplinkFill(count, least, least_share)


def _busy(rounds: IntArray, leaves: IntArray, count: int, leaf_count: int) -> IntArray:
    """Returns (rounds, leaves) how many pairs of each round begin, or end, in each leaf."""
    places = rounds * leaf_count + leaves
    return np.bincount(places, minlength=count * leaf_count).reshape(count, leaf_count)
