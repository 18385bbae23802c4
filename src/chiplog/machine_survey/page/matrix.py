"""The matrix of pairs: how far each is from what its class of link gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chiplog.machine_survey.page.input import QUANTITY_UNIT, SurveyPage, change_of
from chiplog.machine_survey.page.suspects import node_order
from chiplog.machine_survey.slowness_terms import slowness
from chiplog.report import format
from chiplog.report.document import Matrix, Panels, Section, line
from chiplog.report.matrix import LEVELS, MISSING, PairMatrix, RowGroup

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from chiplog.machine_survey.machine_verdict import MachineVerdict
    from chiplog.machine_survey.pair_values import Kind
    from chiplog.machine_survey.slowness_model import PairFit

LEAST_STEP = 0.02
"""Given: the first colour begins at this change, or at twice the pairs' usual spread."""
MOST_STEPS = 8.0
"""Given: the last colour begins at so many times the first one's change, or, where pairs differ much anyway, at
LARGEST."""
LARGEST = float(np.log(5.0))
"""Given: a fifth of the usual bandwidth, or five times the latency."""
FEWEST_STEPS = 2.0
"""Given: the last colour begins at so many times the first one's change, at least."""


def matrix_section(page: SurveyPage) -> Section | None:
    """Returns a matrix of each kind that was measured."""
    verdict = page.result.verdict
    shown = tuple(_matrix(fit, verdict) for fit in verdict.fits.values())
    return Section("survey-matrix", line("Every pair"), (Panels(shown),)) if shown else None


def _matrix(fit: PairFit, verdict: MachineVerdict) -> Matrix:
    kind = fit.values.kind
    order = node_order(fit)
    slow, places = _by_pair(fit)
    step = max(LEAST_STEP, 2.0 * float(np.median(fit.scales)) if fit.scales.size else 0.0)
    last = min(MOST_STEPS, max(FEWEST_STEPS, LARGEST / step))
    limits = np.asarray(step * np.geomspace(1.0, last, LEVELS), dtype=np.float64)
    levels = np.searchsorted(limits, np.abs(slow)).astype(np.int8) * np.sign(
        np.nan_to_num(slow)
    ).astype(np.int8)
    levels[np.isnan(slow)] = MISSING
    shown = PairMatrix(
        f"{kind} of each pair of {order.size} nodes",
        tuple(fit.values.nodes[node] for node in order.tolist()),
        levels[np.ix_(order, order)],
        _text(fit, order, places),
        _groups(fit, order, verdict),
        _legend(limits, kind),
        _suspects(fit, order, verdict),
    )
    both = (
        ""
        if _has_both_ways(fit)
        else " Each pair was measured in one direction: both cells show it."
    )
    caption = line(
        f"Rows send, columns receive; each {kind} is held against the median of its class of link. "
        f"A slow node is a row and a column, a slow uplink a band.{both}"
    )
    return Matrix(kind.capitalize(), caption, shown)


def _by_pair(fit: PairFit) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Returns (n, n) each pair's slowness beside its class, or NaN, and its place in the values, or -1."""
    nodes = len(fit.values.nodes)
    slow = np.full((nodes, nodes), np.nan)
    places = np.full((nodes, nodes), -1, dtype=np.int64)
    rest = slowness(fit.values)[fit.usable]
    for number in np.unique(fit.classes).tolist():
        of_class = fit.classes == number
        rest[of_class] -= np.median(rest[of_class])
    clients, servers = fit.values.clients[fit.usable], fit.values.servers[fit.usable]
    for row, column in ((servers, clients), (clients, servers)):  # the measured direction last
        slow[row, column] = rest
        places[row, column] = fit.usable
    return slow, places


def _has_both_ways(fit: PairFit) -> bool:
    ends = np.stack([fit.values.clients[fit.usable], fit.values.servers[fit.usable]])
    pairs = int(np.unique(np.sort(ends, axis=0), axis=1).shape[1])
    return pairs < int(np.unique(ends, axis=1).shape[1])


def _text(
    fit: PairFit, order: NDArray[np.int64], places: NDArray[np.int64]
) -> Callable[[int, int], str]:
    def text(row: int, column: int) -> str:
        client, server = int(order[row]), int(order[column])
        place = int(places[client, server])
        names = f"{fit.values.nodes[client]} to {fit.values.nodes[server]}"
        if place < 0:
            return fit.values.nodes[client] if client == server else f"{names}: not measured"
        number = float(fit.values.values[place])
        return f"{names}: {format.value(number, QUANTITY_UNIT[fit.values.kind], digits=4)}"

    return text


def _groups(
    fit: PairFit, order: NDArray[np.int64], verdict: MachineVerdict
) -> tuple[RowGroup, ...]:
    numbers, first, counts = np.unique(fit.leaves[order], return_index=True, return_counts=True)
    return tuple(
        RowGroup(
            verdict.leaf_name(number) if verdict.leaves or fit.leaf_count > 1 else "nodes",
            at,
            count,
        )
        for number, at, count in zip(numbers.tolist(), first.tolist(), counts.tolist(), strict=True)
    )


def _suspects(fit: PairFit, order: NDArray[np.int64], verdict: MachineVerdict) -> tuple[int, ...]:
    """Returns the rows of the nodes that are suspected by figures of this kind, alone or as one of a pair."""
    findings = [*verdict.accused, *verdict.inconclusive]
    named = {
        name
        for finding in findings
        if finding.quantity == fit.values.kind
        for name in (finding.name, finding.peer)
    }
    return tuple(row for row, node in enumerate(order.tolist()) if fit.values.nodes[node] in named)


def _legend(limits: NDArray[np.float64], kind: Kind) -> tuple[tuple[int, str], ...]:
    levels = [(0, f"within {_percent(float(limits[0]))}")]
    for level, limit in enumerate(limits, start=1):
        levels.append((level, _beyond(kind, limit)))
        levels.insert(0, (-level, _beyond(kind, -limit)))
    return (*levels, (MISSING, "not measured"))


def _beyond(kind: Kind, slow: np.float64) -> str:
    change = float(change_of(kind, np.asarray(slow)))
    if change > 1.0:
        return f"×{1.0 + change:.1f}"
    return f"{_percent(abs(change))} {'more' if change > 0 else 'less'}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.1f} %"
