"""Which nodes share a leaf: as the pairs show, as the header tells, and as was declared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.sparse.csgraph import connected_components

from chiplog.dataset.disturbance import header_list, is_in_virtual_time
from chiplog.machine_survey.nodes import node_names
from chiplog.machine_survey.plan import stored_leaves
from chiplog.machine_survey.settings import SETTINGS
from chiplog.machine_survey.slowness_terms import slowness
from chiplog.machine_survey.topology import UNDECLARED
from chiplog.statistics import MAD_TO_DEVIATION

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chiplog.dataset.series import Dataset
    from chiplog.machine_survey.pair_values import FloatArray, IntArray, Kind, PairValues

    BoolArray = NDArray[np.bool_]

Unit = Literal["leaf", "node", "socket", "group"]
"""What near pairs share: a leaf, if each rank has a node of its own; else a node. On one node a socket, or, if it has
one socket, whatever the figures show."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A node that is not where the file says, as the measurement shows it."""

    node: str
    declared: str | None
    measured: str | None
    """None where it is near to the nodes of no declared leaf."""

    @property
    def text(self) -> str:
        """Returns the difference as a sentence."""
        at = (
            f"under {self.measured}"
            if self.measured
            else "apart from the nodes of every declared leaf"
        )
        if self.declared is None:
            return f"{self.node} is not declared; it is measured {at}."
        return f"{self.node} is declared under {self.declared}, but measured {at}."


def infer_leaves(values: PairValues) -> IntArray | None:
    """Returns (n,) the number of each node's leaf, -1 of one that can't be told; None where the pairs show no leaves.

    Pairs fall into two classes, near and far, where that explains their figures; nodes that are near to the same nodes
    are of one leaf. Each group is divided again as long as its pairs fall into two classes, so the leaves of a deeper
    tree are found, too. Bandwidths show leaves only where these are not as fast between as within.
    """
    nodes = len(values.nodes)
    slow = _matrix(values)
    measured = np.isfinite(slow).sum() / max(1, nodes * (nodes - 1))
    if nodes < SETTINGS.least_leaf_nodes or measured < SETTINGS.least_measured:
        return None
    groups = _divide(slow)
    if groups is None:
        return None
    leaves = np.full(nodes, -1, dtype=np.int64)
    waiting = [np.flatnonzero(groups == group) for group in np.unique(groups[groups >= 0])]
    number = 0
    while waiting:
        members = waiting.pop(0)
        parts = (
            _divide(slow[np.ix_(members, members)])
            if members.size >= SETTINGS.least_to_divide
            else None
        )
        if parts is None or np.unique(parts[parts >= 0]).size < 2:
            leaves[members] = number
            number += 1
        else:
            waiting += [members[parts == part] for part in np.unique(parts[parts >= 0])]
    return leaves


def differences(
    nodes: tuple[str, ...], declared: IntArray, leaf_names: tuple[str, ...], measured: IntArray
) -> tuple[Difference, ...]:
    """Returns the nodes whose measured leaf is not the declared one; nodes whose leaf can't be told are left out.

    A measured leaf has the name of the declared one that it shares most nodes with, each name once.
    """
    name_of: dict[int, int] = {}
    both = (declared >= 0) & (measured >= 0)
    shared = np.zeros((int(measured.max(initial=-1)) + 1, len(leaf_names)), dtype=np.int64)
    np.add.at(shared, (measured[both], declared[both]), 1)
    while shared.size and shared.max() > 0:
        row, column = divmod(int(shared.argmax()), shared.shape[1])
        name_of[row] = column
        shared[row, :] = 0
        shared[:, column] = 0
    differing = []
    for place, node in enumerate(nodes):
        group = int(measured[place])
        leaf = name_of.get(group, -1)
        if group >= 0 and (leaf != declared[place] or leaf < 0):
            was = leaf_names[declared[place]] if declared[place] >= 0 else None
            differing.append(Difference(node, was, leaf_names[leaf] if leaf >= 0 else None))
    return tuple(differing)


def divided(measured: IntArray, declared: IntArray) -> IntArray:
    """Returns the measured leaves, (n,), where one that unites whole declared ones is divided into these.

    Pairs between leaves are near, too, where their figures are not slower; only a leaf that is torn apart contradicts
    what was declared. With two slow uplinks of four, the bandwidths between the other two leaves are like those within.
    """
    leaves = measured.copy()
    for group in np.unique(measured[measured >= 0]).tolist():
        declared_here = np.unique(declared[measured == group])
        elsewhere = np.isin(declared, declared_here) & (measured != group) & (measured >= 0)
        if declared_here.size > 1 and declared_here.min() >= 0 and not elsewhere.any():
            for leaf in declared_here[1:].tolist():
                leaves[(measured == group) & (declared == leaf)] = leaves.max() + 1
    return leaves


def _matrix(values: PairValues) -> FloatArray:
    """Returns (n, n) the slowness of each pair, the mean of both ways; NaN where neither was measured."""
    nodes = len(values.nodes)
    one_way = np.full((nodes, nodes), np.nan)
    one_way[values.clients, values.servers] = slowness(values)
    there, back = np.isfinite(one_way), np.isfinite(one_way.T)
    total = np.nan_to_num(one_way) + np.nan_to_num(one_way.T)
    count = there.astype(np.float64) + back
    result = np.full((nodes, nodes), np.nan)
    np.divide(total, count, out=result, where=count > 0)
    np.fill_diagonal(result, np.nan)
    return result


def _divide(slow: FloatArray) -> IntArray | None:
    """Returns (n,) groups of nodes that are near to each other, -1 of nodes near to none; None where all are alike."""
    near = _near(slow)
    if near is None:
        return None
    measured = np.isfinite(slow)
    groups = _grouped(near)
    for _ in range(SETTINGS.grouping_rounds):
        before = groups
        groups = _assigned(near, measured, groups)
        if np.array_equal(before, groups):
            break
    return groups if _is_consistent(near, measured, groups) else None


def _near(slow: FloatArray) -> BoolArray | None:
    """Returns (n, n) the pairs of the nearer class; None where one class explains all pairs."""
    typical = np.nan_to_num(np.nanquantile(slow, SETTINGS.far_quantile, axis=1))
    even = slow - typical[:, None] - typical[None, :] + np.median(typical)
    upper = np.triu_indices(len(slow), 1)
    logs = even[upper]
    logs = np.sort(logs[np.isfinite(logs)])
    if logs.size < SETTINGS.least_leaf_nodes:
        return None
    middle = float(np.median(logs))
    upper_half = logs[logs >= middle] - middle
    width = MAD_TO_DEVIATION * float(np.median(upper_half))
    logs = np.minimum(logs, middle + SETTINGS.spike_widths * max(width, 1e-9))
    threshold = _threshold(logs)
    return None if threshold is None else np.asarray(np.nan_to_num(even, nan=np.inf) < threshold)


def _threshold(logs: FloatArray) -> float | None:
    """Returns where two normal classes of one width fit the sorted values best; None where one class fits as well."""
    count = logs.size
    centred = logs - logs.mean()
    sums, squares = np.cumsum(centred), np.cumsum(centred**2)
    width = float(logs[-1] - logs[0])
    if width <= 0:
        return None
    # thresholds evenly spaced in value, so that a small class is not skipped
    at = np.unique(
        np.searchsorted(logs, np.linspace(logs[0], logs[-1], SETTINGS.thresholds_tried)[1:-1])
    )
    at = at[(at > 0) & (at < count)]
    if not at.size:
        return None
    below = at.astype(np.float64)
    above = count - below
    low, high = sums[at - 1] / below, (sums[-1] - sums[at - 1]) / above
    within = squares[-1] - below * low**2 - above * high**2
    floor = (1e-4 * width) ** 2 * count
    share = below / count
    entropy = -share * np.log(share) - (1 - share) * np.log(1 - share)
    gain = 0.5 * np.log((squares[-1] + floor) / (within + floor)) - entropy
    best = int(np.argmax(gain))
    gap = high[best] - low[best]
    if gain[best] < max(SETTINGS.least_gain, SETTINGS.least_gain_of_all / count):
        return None
    if gap**2 < SETTINGS.least_gap**2 * within[best] / count:
        return None
    return float((low[best] + high[best]) / 2 + logs.mean())


def _grouped(near: BoolArray) -> IntArray:
    """Returns (n,) first groups: nodes that are linked by sharing most of what is near to them."""
    neighbours = (near | np.eye(len(near), dtype=bool)).astype(np.float32)
    shared = neighbours @ neighbours.T
    sizes = neighbours.sum(axis=1)
    either = sizes[:, None] + sizes[None, :] - shared
    _, groups = connected_components(shared > SETTINGS.alike * either, directed=False)
    groups = groups.astype(np.int64)
    is_single = np.bincount(groups)[groups] == 1
    return np.where(is_single, -1, groups)


def _assigned(near: BoolArray, measured: BoolArray, groups: IntArray) -> IntArray:
    """Returns (n,) each node in the group whose members are most often near to it, if half of them are."""
    names = np.unique(groups[groups >= 0])
    if not names.size:
        return groups
    member = (groups[:, None] == names[None, :]).astype(np.float32)
    hits = near.astype(np.float32) @ member
    tried = measured.astype(np.float32) @ member
    share = np.divide(hits, tried, out=np.zeros_like(hits), where=tried > 0)
    best = share.argmax(axis=1)
    clear = share[np.arange(len(share)), best] >= 0.5
    return np.where(clear, names[best], -1)


def _is_consistent(near: BoolArray, measured: BoolArray, groups: IntArray) -> bool:
    """Returns whether pairs within groups are mostly near and others mostly far, of two groups at least."""
    is_known = groups >= 0
    if np.unique(groups[is_known]).size < 2 or is_known.mean() < SETTINGS.least_grouped:
        return False
    same = (groups[:, None] == groups[None, :]) & is_known[:, None] & measured
    other = (groups[:, None] != groups[None, :]) & is_known[:, None] & is_known[None, :] & measured
    if not same.any() or not other.any():
        return False
    return bool(
        near[same].mean() >= SETTINGS.near_within and near[other].mean() <= SETTINGS.near_between
    )


@dataclass(frozen=True, slots=True)
class SharedNodes:
    """The node of each rank, or on a single node its socket."""

    unit: Unit
    numbers: NDArray[np.int64] | None
    """(ranks,); None where the header does not tell."""
    names: tuple[str, ...]
    """Of each unit, by number."""


def shared_nodes(header: Mapping[str, object]) -> SharedNodes | None:
    """Returns what ranks share; None where each has a node for itself, as simulated ones have, or hosts are unknown."""
    hosts = list(map(str, header_list(header.get("hosts"))))
    if len(hosts) != header.get("ranks") or is_in_virtual_time(header):
        return None
    names = tuple(dict.fromkeys(hosts))
    if len(names) == len(hosts):
        return None
    if len(names) > 1:
        return SharedNodes("node", np.array([names.index(host) for host in hosts]), names)
    sockets = [
        place.get("socket") if isinstance(place, Mapping) else None
        for place in header_list(header.get("places"))
    ]
    known = tuple(dict.fromkeys(sockets))
    if len(sockets) != len(hosts) or None in known or len(known) < 2:
        return SharedNodes("group", None, ())
    numbers = np.array([known.index(socket) for socket in sockets])
    return SharedNodes("socket", numbers, tuple(f"socket {socket}" for socket in known))


def declared_leaves(dataset: Dataset) -> tuple[IntArray | None, tuple[str, ...]]:
    """Returns (n,) each node's leaf as declared when the survey began, or None, and the leaves' names by number."""
    plan = dataset.header.get("plan")
    if not isinstance(plan, Mapping):
        return None, ()
    leaves, names = stored_leaves(plan, len(node_names(dataset.header)), dataset.source)
    return (None, ()) if leaves is None else (np.array(leaves, dtype=np.int64), names or ())


def measured_leaves(
    known: dict[Kind, PairValues], shared: SharedNodes | None, declared: IntArray | None
) -> IntArray | None:
    """Returns (n,) the leaf of each node as the pairs show it; where ranks share nodes, the node of each rank.

    Bandwidths may be as large between leaves as within, so they divide what was declared, and unite nothing.
    """
    if shared is not None and shared.numbers is not None:
        return shared.numbers
    for kind in ("latency", "bandwidth"):
        if kind in known:
            leaves = infer_leaves(known[kind])
            if leaves is not None and declared is not None and kind == "bandwidth":
                return divided(leaves, declared)
            if leaves is not None:
                return leaves
    return None


def named_leaves(measured: IntArray, declared: IntArray, names: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the names of the measured leaves by number: the declared one where most of a leaf's nodes have one."""
    named = []
    for number in range(int(measured.max(initial=-1)) + 1):
        declared_here = declared[(measured == number) & (declared != UNDECLARED)]
        named.append(
            names[np.bincount(declared_here).argmax()] if declared_here.size else f"leaf {number}"
        )
    return tuple(named)


def each_in_a_leaf(leaves: IntArray) -> IntArray:
    """Returns leaves in which each node of unknown leaf has one of its own."""
    unknown = np.flatnonzero(leaves < 0)
    result = leaves.copy()
    result[unknown] = int(leaves.max(initial=-1)) + 1 + np.arange(unknown.size)
    return result
