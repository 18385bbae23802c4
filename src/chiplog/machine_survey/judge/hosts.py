"""Whose CPU or memory is slow without any network: what is slow there is not taken for a slow link.

In each visit all nodes do the same work at the same time (`chiplog.machine_survey.plan.HOST_CHECK`). A node's figure
is one that most visits of the confirmation exceed, so what disturbs it in a few of them does not count. It is held
against all other nodes, as suspects of the sweep are (docs/reference/survey-method.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from chiplog.machine_survey.findings import HOST_KINDS, Finding
from chiplog.machine_survey.nodes import node_names
from chiplog.machine_survey.plan import HOST_CHECK, OTHERS, WORK
from chiplog.machine_survey.robust import spread_of_controls, upper_quantile
from chiplog.machine_survey.settings import SETTINGS
from chiplog.statistics import TAILS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chiplog.dataset.series import Dataset, Series
    from chiplog.machine_survey.findings import HostKind, HostQuantity
    from chiplog.machine_survey.pair_values import FloatArray


@dataclass(frozen=True, slots=True)
class HostVerdict:
    """Nodes whose CPU or memory is slow by itself."""

    accused: tuple[Finding, ...]
    detectable: dict[HostKind, float | None]
    """The smallest relative change of the time of the same work that is found with 95 %; None where none is, as on
    nodes that share CPUs."""

    def explains(self, finding: Finding) -> str | None:
        """Returns why nothing is concluded of a slow node, or pair, whose CPU or memory is slow; None of all others."""
        if finding.kind not in ("node", "pair"):
            return None
        for host in self.accused:
            if host.name in (finding.name, finding.peer):
                return f"the {host.kind} of {host.name} is slow, too, which may be why"
        return None


def host_figures(dataset: Dataset, quantity: HostQuantity) -> FloatArray:
    """Returns (visits, nodes) after the sweep: logarithms of times in seconds; of OTHERS, shares of the CPUs.

    Of work it is the mean of a visit, which holds what other programs took in between; of copies and shares the median.
    """
    nodes = len(node_names(dataset.header))
    figures = [
        _of_visit(series, quantity, nodes)
        for series in dataset.series
        if series.pattern == quantity
        and series.visit > 0
        and series.tag.get("purpose") == HOST_CHECK
    ]
    return np.array(figures).reshape(-1, nodes)


def _of_visit(series: Series, quantity: HostQuantity, nodes: int) -> FloatArray:
    """Returns (nodes,) each node's figure of one visit."""
    figures = np.full(nodes, np.nan)
    typical = np.mean if quantity == WORK else np.median
    for rank in series.by_pair:
        if rank.client < nodes and rank.seconds.size:
            figures[rank.client] = typical(rank.seconds)
    if quantity == OTHERS:
        return figures  # nanoseconds of each second, as seconds
    return np.log(np.where(figures > 0.0, figures, np.nan))


def judge_hosts(dataset: Dataset) -> HostVerdict | None:
    """Judges each node by what it did alone; None where too few nodes, or visits, were measured so."""
    names = node_names(dataset.header)
    accused: list[Finding] = []
    detectable: dict[HostKind, float | None] = {}
    is_shared = _share_cpus(dataset)
    for quantity, kind in HOST_KINDS.items():
        if is_shared and quantity != OTHERS:
            detectable[kind] = None
            continue
        judged = _judged(host_figures(dataset, quantity), quantity, names)
        if judged is None:
            continue
        findings, least = judged
        accused += findings
        if quantity != OTHERS:
            detectable[kind] = least
    if not detectable:
        return None
    slow_cpus = {finding.name for finding in accused if finding.kind == "cpu"}
    kept = [
        finding for finding in accused if finding.kind == "cpu" or finding.name not in slow_cpus
    ]
    return HostVerdict(tuple(kept), detectable)


def _share_cpus(dataset: Dataset) -> bool:
    """Returns whether so many nodes are disturbed that they must share CPUs with each other."""
    disturbed = np.zeros(len(node_names(dataset.header)), dtype=np.int64)
    for series in dataset.series:
        if series.pattern != WORK or series.visit < 1:
            continue
        for rank in series.by_pair:
            if (
                rank.seconds.size
                and rank.seconds.mean() > (1 + SETTINGS.disturbance) * rank.seconds.min()
            ):
                disturbed[rank.client] += 1
    return float(np.mean(disturbed > 1)) > SETTINGS.most_disturbed


def _judged(
    figures: FloatArray, quantity: HostQuantity, names: Sequence[str]
) -> tuple[list[Finding], float | None] | None:
    """Returns the accused nodes, and the smallest change that is found; None where there is nothing to judge by."""
    if len(figures) < SETTINGS.least_visits or len(names) <= SETTINGS.least_controls:
        return None
    if quantity != OTHERS:
        figures = figures - np.nanmedian(figures, axis=1, keepdims=True)
    known = np.isfinite(figures).sum(axis=0) >= SETTINGS.least_visits
    if known.sum() <= SETTINGS.least_controls:
        return None
    of_node = np.full(len(names), np.nan)
    quantile = 0.5 if quantity == OTHERS else SETTINGS.host_quantile
    of_node[known] = np.nanquantile(figures[:, known], quantile, axis=0)
    least = SETTINGS.least_share_of_others if quantity == OTHERS else SETTINGS.least_effect
    error = SETTINGS.error_of_family / len(HOST_KINDS) / len(names)
    accused = []
    healthy = of_node.copy()
    for node in np.flatnonzero(of_node - np.nanmedian(of_node) > least).tolist():
        excess, half = _excess(of_node, node, error)
        if excess > max(least, half):
            wide = max(half, _of_visits(figures[:, node]))
            accused.append(_finding(names[node], quantity, excess, wide))
            healthy[node] = np.nan
    return accused, _detectable(healthy, error)


def _detectable(healthy: FloatArray, error: float) -> float | None:
    """Returns the smallest relative change that is found with 95 %, by the healthy nodes' spread; None of too few."""
    typical = int(np.nanargmin(np.abs(healthy - np.nanmedian(healthy))))
    controls = _controls(healthy, typical)
    if controls.size < SETTINGS.least_controls:
        return None
    _, half = _excess(healthy, typical, error)
    spread = half / upper_quantile(error, spread_of_controls(controls)[1])
    return float(np.expm1(max(SETTINGS.least_effect, half + SETTINGS.power_quantile * spread)))


def _of_visits(figures: FloatArray) -> float:
    """Returns the half width of a node's figure by how far its visits lie apart."""
    known = figures[np.isfinite(figures)]
    spread = float(known.std(ddof=1)) / known.size**0.5
    return float(upper_quantile(TAILS[0], known.size - 1.0) * spread)


def _controls(of_node: FloatArray, node: int) -> FloatArray:
    """Returns the figures of all other nodes that have one."""
    others = np.delete(of_node, node)
    return np.asarray(others[np.isfinite(others)])


def _excess(of_node: FloatArray, node: int, error: float) -> tuple[float, float]:
    """Returns how far a node lies above the median of others, and what healthy ones exceed with this probability."""
    controls = _controls(of_node, node)
    sigma, freedom = spread_of_controls(controls)
    wide = max(SETTINGS.least_spread, sigma) * float(np.sqrt(1 + np.pi / 2 / controls.size))
    return float(of_node[node] - np.median(controls)), upper_quantile(error, freedom) * wide


def _finding(name: str, quantity: HostQuantity, excess: float, half: float) -> Finding:
    """Returns the accusation of a node whose figure exceeds the others' by `excess`."""
    ends = np.array([excess, excess - half, excess + half])
    effect, low, high = (ends if quantity == OTHERS else np.expm1(ends)).tolist()
    return Finding(HOST_KINDS[quantity], name, None, "both", quantity, effect, low, high)


def without_explained(
    findings: Sequence[Finding], hosts: HostVerdict | None
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Returns the findings that stand, and those that a slow CPU or memory may explain, with that reason."""
    reasons = [None if hosts is None else hosts.explains(finding) for finding in findings]
    stand = tuple(
        finding for finding, reason in zip(findings, reasons, strict=True) if reason is None
    )
    return stand, tuple(
        replace(finding, reason=reason)
        for finding, reason in zip(findings, reasons, strict=True)
        if reason is not None
    )
