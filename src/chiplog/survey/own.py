"""A node's own CPU and memory, without any network: what is slow there is not taken for a slow link.

In each visit all nodes do the same work at the same time (`chiplog.survey.plan.OWN`). A node's figure is one
that most visits of the second measurement exceed, so what disturbs it in a few of them does not count. It is held
against all other nodes, as suspects of the sweep are (docs/reference/survey-method.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from chiplog.survey.again import FAMILIES
from chiplog.survey.fresh import LEAST_SPREAD
from chiplog.survey.nodes import node_names
from chiplog.survey.plan import COPY, OTHERS, OWN, WORK
from chiplog.survey.robust import spread_of_controls, upper_quantile
from chiplog.survey.suspects import LEAST_CONTROLS, LEAST_EFFECT
from chiplog.survey.verdict import FAMILY_ERROR, POWER_QUANTILE, Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chiplog.dataset.series import Dataset, Series
    from chiplog.survey.pair_values import FloatArray
    from chiplog.survey.verdict import OwnKind, OwnQuantity

LEAST_SHARE = 0.1
"""Other programs that have less than this share of a node's CPUs are never accused."""
MUCH_LOST = 0.1
"""A visit in which the same work takes a node longer than its fastest time by more than this share is disturbed."""
MOST_DISTURBED = 0.25
"""Where more than this share of the nodes are disturbed in two visits or more, nodes share CPUs with each other, and
what one takes says nothing of it."""
OFTEN = 0.25
"""A node is judged by this quantile of its visits, so that most of them must be slow; by others' median share."""
LEAST_VISITS = 3
"""Visits from which a node is judged: one disturbance must not decide."""
KINDS: dict[OwnQuantity, OwnKind] = {WORK: "cpu", OTHERS: "cpu", COPY: "memory"}


@dataclass(frozen=True, slots=True)
class OwnVerdict:
    """Nodes whose CPU or memory is slow by itself."""

    accused: tuple[Finding, ...]
    detectable: dict[OwnKind, float | None]
    """The smallest relative change of the time of the same work that is found with 95 %; None where none is, as on
    nodes that share CPUs."""

    def explains(self, found: Finding) -> str | None:
        """Why nothing is concluded of a slow node, or pair, whose own CPU or memory is slow; None of all others."""
        ends = {found.name, found.peer}
        if found.kind not in ("node", "pair"):
            return None
        for finding in self.accused:
            if finding.name in ends:
                return f"the {finding.kind} of {finding.name} is slow, too, which may be why"
        return None


def own_figures(dataset: Dataset, quantity: OwnQuantity) -> FloatArray:
    """(visits, nodes) of a survey's second measurement: logarithms of times in seconds; of OTHERS, shares of the CPUs.

    Of work it is the mean of a visit, which holds what other programs took in between; of copies and shares the median.
    """
    nodes = len(node_names(dataset.header))
    figures = [
        _of_visit(series, quantity, nodes)
        for series in dataset.series
        if series.pattern == quantity and series.visit > 0 and series.tag.get("purpose") == OWN
    ]
    return np.array(figures).reshape(-1, nodes)


def _of_visit(series: Series, quantity: OwnQuantity, nodes: int) -> FloatArray:
    figures = np.full(nodes, np.nan)
    typical = np.mean if quantity == WORK else np.median
    for rank in series.by_pair:
        if rank.client < nodes and rank.seconds.size:
            figures[rank.client] = typical(rank.seconds)
    if quantity == OTHERS:
        return figures  # nanoseconds of each second, as seconds
    return np.log(np.where(figures > 0.0, figures, np.nan))


def own_verdict(dataset: Dataset) -> OwnVerdict | None:
    """Judges each node by what it did alone; None where too few nodes, or visits, were measured so."""
    names = node_names(dataset.header)
    accused: list[Finding] = []
    detectable: dict[OwnKind, float | None] = {}
    is_shared = _share_cpus(dataset)
    for quantity, kind in KINDS.items():
        if is_shared and quantity != OTHERS:
            detectable[kind] = None
            continue
        judged = _judged(own_figures(dataset, quantity), quantity, names)
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
    return OwnVerdict(tuple(kept), detectable)


def _share_cpus(dataset: Dataset) -> bool:
    disturbed = np.zeros(len(node_names(dataset.header)), dtype=np.int64)
    for series in dataset.series:
        if series.pattern != WORK or series.visit < 1:
            continue
        for rank in series.by_pair:
            if rank.seconds.size and rank.seconds.mean() > (1 + MUCH_LOST) * rank.seconds.min():
                disturbed[rank.client] += 1
    return float(np.mean(disturbed > 1)) > MOST_DISTURBED


def _judged(
    figures: FloatArray, quantity: OwnQuantity, names: Sequence[str]
) -> tuple[list[Finding], float | None] | None:
    """The accused nodes, and the smallest change that is found; None where there is nothing to judge by."""
    if len(figures) < LEAST_VISITS or len(names) <= LEAST_CONTROLS:
        return None
    if quantity != OTHERS:
        figures = figures - np.nanmedian(figures, axis=1, keepdims=True)
    known = np.isfinite(figures).sum(axis=0) >= LEAST_VISITS
    if known.sum() <= LEAST_CONTROLS:
        return None
    of_node = np.full(len(names), np.nan)
    quantile = 0.5 if quantity == OTHERS else OFTEN
    of_node[known] = np.nanquantile(figures[:, known], quantile, axis=0)
    least = LEAST_SHARE if quantity == OTHERS else LEAST_EFFECT
    error = FAMILY_ERROR / FAMILIES / len(KINDS) / len(names)
    accused = []
    healthy = of_node.copy()
    for node in np.flatnonzero(of_node - np.nanmedian(of_node) > least).tolist():
        excess, half = _beside(of_node, node, error)
        if excess > max(least, half):
            wide = max(half, _of_visits(figures[:, node]))
            accused.append(_finding(names[node], quantity, excess, wide))
            healthy[node] = np.nan
    return accused, _detectable(healthy, error)


def _detectable(healthy: FloatArray, error: float) -> float | None:
    """The smallest relative change that is found with 95 %, by the spread of the healthy nodes; None of too few."""
    typical = int(np.nanargmin(np.abs(healthy - np.nanmedian(healthy))))
    controls = _controls(healthy, typical)
    if controls.size < LEAST_CONTROLS:
        return None
    _, half = _beside(healthy, typical, error)
    spread = half / upper_quantile(error, spread_of_controls(controls)[1])
    return float(np.expm1(max(LEAST_EFFECT, half + POWER_QUANTILE * spread)))


def _of_visits(figures: FloatArray) -> float:
    """The half width of a node's figure by how far its visits lie apart."""
    known = figures[np.isfinite(figures)]
    spread = float(known.std(ddof=1)) / known.size**0.5
    return float(upper_quantile(0.025, known.size - 1.0) * spread)


def _controls(of_node: FloatArray, node: int) -> FloatArray:
    others = np.delete(of_node, node)
    return np.asarray(others[np.isfinite(others)])


def _beside(of_node: FloatArray, node: int, error: float) -> tuple[float, float]:
    """How far a node lies above the median of all others, and how far a healthy one lies with this probability."""
    controls = _controls(of_node, node)
    sigma, freedom = spread_of_controls(controls)
    wide = max(LEAST_SPREAD, sigma) * float(np.sqrt(1 + np.pi / 2 / controls.size))
    return float(of_node[node] - np.median(controls)), upper_quantile(error, freedom) * wide


def _finding(name: str, quantity: OwnQuantity, excess: float, half: float) -> Finding:
    ends = np.array([excess, excess - half, excess + half])
    effect, low, high = (ends if quantity == OTHERS else np.expm1(ends)).tolist()
    both: Literal["both"] = "both"
    return Finding(KINDS[quantity], name, None, both, quantity, effect, low, high)


def without_explained(
    found: Sequence[Finding], own: OwnVerdict | None
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """The findings that stand, and those that a slow CPU or memory may explain, with that reason."""
    reasons = [None if own is None else own.explains(finding) for finding in found]
    stand = tuple(finding for finding, reason in zip(found, reasons, strict=True) if reason is None)
    return stand, tuple(
        replace(finding, reason=reason)
        for finding, reason in zip(found, reasons, strict=True)
        if reason is not None
    )


def figure_text(finding: Finding) -> str:
    """A finding's figure with its change; the interval belongs to an accused one only.

    >>> figure_text(Finding("cpu", "n05", None, "both", "other_programs", 0.97, 0.9, 1.04))
    'other programs have 97.0 % of it (90.0 % to 104.0 %)'
    >>> figure_text(Finding("node", "n05", None, "both", "bandwidth", -0.05, -0.06, -0.04))
    'bandwidth -5.0 % (-6.0 % to -4.0 %)'
    """
    signs = "" if finding.quantity == OTHERS else "+"
    value, low, high = (
        f"{100 * end:{signs}.1f} %" for end in (finding.effect, finding.low, finding.high)
    )
    interval = f" ({low} to {high})" if finding.reason is None else ""
    words = {
        WORK: f"the same work takes {value}",
        OTHERS: f"other programs have {value} of it",
        COPY: f"a copy takes {value}",
    }
    return words.get(finding.quantity, f"{finding.quantity} {value}") + interval


def who(finding: Finding) -> str:
    """Whom a finding is about.

    >>> who(Finding("cpu", "n05", None, "both", "other_programs", 0.97, 0.9, 1.0))
    'cpu of n05'
    >>> who(Finding("pair", "n05", "n06", "out", "bandwidth", -0.05, -0.06, -0.04))
    'n05 with n06, out only'
    """
    way = {"both": "", "out": ", out only", "in": ", in only"}[finding.direction]
    if finding.peer:
        return f"{finding.name} with {finding.peer}{way}"
    of = " of" if finding.kind in KINDS.values() else ""
    return f"{finding.kind}{of} {finding.name}{way}"
