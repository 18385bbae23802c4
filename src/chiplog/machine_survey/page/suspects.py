"""Who is slow: each suspect with what led to it, and all nodes beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chiplog.counts import counted, listed
from chiplog.machine_survey.findings import who
from chiplog.machine_survey.page.input import SurveyPage, change_of
from chiplog.machine_survey.plan import COPY, OTHERS, WORK
from chiplog.machine_survey.settings import SETTINGS
from chiplog.machine_survey.trust import trust_sentence
from chiplog.report import format
from chiplog.report.document import (
    Block,
    Bullets,
    Column,
    Figure,
    Inline,
    Panels,
    Paragraph,
    Section,
    Table,
    bad,
    detail,
    line,
    muted,
    strong,
)
from chiplog.report.plot import Axis, Plot, PlotSeries

if TYPE_CHECKING:
    from chiplog.machine_survey.findings import Finding
    from chiplog.machine_survey.machine_verdict import MachineVerdict
    from chiplog.machine_survey.pair_values import FloatArray, IntArray
    from chiplog.machine_survey.slowness_model import PairFit

_OUT, _IN = 0, 1
"""Derived: places of both ways in what is drawn."""
FIGURES = {WORK: "time of the same work", COPY: "time of a copy", OTHERS: "other programs' share"}
BESIDE = 0.25
"""Given: how far a node's second direction stands from its first."""


def suspects_section(page: SurveyPage) -> Section:
    """Returns the answer: who is slow beyond doubt, who is not cleared, and what this survey would have found."""
    verdict = page.result.verdict
    trust = Paragraph(line(trust_sentence(page.result)))
    blocks: list[Block] = [trust, Paragraph(_answer(page))]
    findings = (*verdict.accused, *verdict.inconclusive)
    if findings:
        blocks.append(_table(verdict, findings))
    blocks.append(Bullets(tuple(_could_find(verdict))))
    figures = [_nodes(verdict.fits[kind], verdict) for kind in verdict.fits]
    blocks.append(Panels(tuple(figure for figure in figures if figure is not None)))
    return Section("survey-verdict", line("Who is slow"), tuple(blocks))


def _answer(page: SurveyPage) -> Inline:
    result, verdict = page.result, page.result.verdict
    lost = f" {counted(len(result.lost), 'node was', 'nodes were')} lost." if result.lost else ""
    if verdict.accused:
        names = [who(finding) for finding in verdict.accused]
        shown = listed(list(dict.fromkeys(names)), SETTINGS.most_names)
        return line(bad(shown), " slow beyond doubt.", lost)
    if verdict.visits < 2:
        needed = f"nothing was measured again (with {SETTINGS.least_ranks} nodes and more, without --once)"
        return line(strong("Nobody is judged"), f": {needed}.", lost)
    return line(strong("Nobody is slow beyond doubt."), lost)


def _table(verdict: MachineVerdict, findings: tuple[Finding, ...]) -> Table:
    columns = (
        Column(line("Suspect")),
        Column(line("Figure")),
        Column(line("Measured again"), numeric=True),
        Column(line("In the sweep"), numeric=True),
        Column(line("Verdict")),
    )
    rows = []
    for finding in findings:
        interval = detail(f"{_percent(finding.low)} to {_percent(finding.high)}")
        is_accused = finding.reason is None
        rows.append(
            (
                line(who(finding)),
                line(FIGURES.get(finding.quantity, finding.quantity)),
                line(_percent(finding.effect), interval) if is_accused else line(format.NOTHING),
                line(_in_sweep(verdict, finding)),
                line(bad("slow")) if is_accused else line(muted(f"unclear: {finding.reason}")),
            )
        )
    caption = line(
        "Suspects of the sweep were measured again beside healthy nodes, and a bandwidth that was slow there once "
        "more, alone: the last measurement is shown and decides. "
        "Accusations of anybody in a healthy machine: at most 1 survey of 100."
    )
    return Table(caption, columns, tuple(rows))


def _percent(change: float) -> str:
    return f"{100 * change:+.1f} %".replace("-", "−") if np.isfinite(change) else "?"


def _in_sweep(verdict: MachineVerdict, finding: Finding) -> str:
    """Returns the suspect's effect in the first measurement, which chose it."""
    if finding.kind in ("cpu", "memory") or finding.quantity not in verdict.fits:
        return format.NOTHING
    fit = verdict.fits[finding.quantity]
    slow = float("nan")
    nodes = fit.values.nodes
    if finding.kind == "pair":
        is_it = np.array(
            [
                nodes[fit.values.clients[pair]] == finding.name
                and nodes[fit.values.servers[pair]] == finding.peer
                for pair in fit.usable.tolist()
            ],
            dtype=bool,
        )
        slow = float(fit.residuals[is_it].mean()) if is_it.any() else slow
    elif finding.kind == "node":
        slow = _one_way(fit.node_effects[:, nodes.index(finding.name)], finding.direction)
    else:
        numbers = [n for n in range(fit.leaf_count) if verdict.leaf_name(n) == finding.name]
        slow = _one_way(fit.uplink_effects[:, numbers[0]], finding.direction) if numbers else slow
    return (
        _percent(float(change_of(finding.quantity, np.array(slow))))
        if np.isfinite(slow)
        else format.NOTHING
    )


def _one_way(effects: FloatArray, direction: str) -> float:
    if direction == "both":
        return float(np.mean(effects))
    return float(effects[_OUT if direction == "out" else _IN])


def _could_find(verdict: MachineVerdict) -> list[Inline]:
    lines = []
    for kind, kind_verdict in verdict.verdicts.items():
        parts = [
            f"a {name} at {100 * least:.1f} %".replace("a uplink", "an uplink")
            for name, least in kind_verdict.detectable.items()
            if least is not None
        ]
        what = ", ".join(parts) or "nothing: too few nodes or pairs"
        lines.append(line(f"In {kind} this survey finds, with 95 %: {what}."))
    if verdict.hosts is not None:
        alone = ", ".join(
            f"a {kind} that takes {100 * least:.1f} % longer"
            for kind, least in verdict.hosts.detectable.items()
            if least is not None
        )
        lines.append(
            line(
                f"Of what each node does alone it finds, with 95 %: "
                f"{alone or 'nothing: nodes share CPUs, or are too few'}."
            )
        )
    return lines


def _nodes(fit: PairFit, verdict: MachineVerdict) -> Figure | None:
    """Returns each node's effect in the sweep with its interval, in the order of the matrix; the accused ones apart."""
    kind = fit.values.kind
    order = node_order(fit)
    accused = {
        finding.name
        for finding in verdict.accused
        if finding.kind == "node" and finding.quantity == kind
    }
    traces: list[PlotSeries] = []
    ways = (("out", _OUT), ("in", _IN)) if fit.is_directed else (("", _OUT),)
    for word, way in ways:
        for slow in (False, True):
            places = [
                (place, node)
                for place, node in enumerate(order.tolist())
                if (fit.values.nodes[node] in accused) is slow
                and np.isfinite(fit.node_effects[way, node])
            ]
            if places:
                traces.append(_trace(fit, way, word, slow, places))
    if sum(len(trace.x) for trace in traces) < 2:
        return None
    plot = Plot(
        f"survey-nodes-{kind}",
        Axis("node, in the order of the matrix", "", ("linear",), range=(0.0, order.size + 1.0)),
        Axis(f"{kind}, from the median node", "ratio", ("linear",), range=_range(traces)),
        tuple(traces),
        small=True,
    )
    caption = line(
        f"What all of a node's pairs have in common in the sweep, with 95 % intervals; "
        f"{'below' if kind == 'bandwidth' else 'above'} 0 is slow."
    )
    return Figure(f"Nodes: {kind}", caption, plot)


def _range(traces: list[PlotSeries]) -> tuple[float, float]:
    """Returns all intervals, also those that begin or end outside of the points' range."""
    ends = [end for trace in traces for values in (trace.low, trace.high) for end in values or ()]
    return min(ends), max(ends)


def _trace(
    fit: PairFit, way: int, word: str, slow: bool, places: list[tuple[int, int]]
) -> PlotSeries:
    kind = fit.values.kind
    nodes = [node for _, node in places]
    effects, errors = (
        fit.node_effects[way, nodes],
        SETTINGS.interval_errors * fit.node_errors[way, nodes],
    )
    ends = np.sort([change_of(kind, effects - errors), change_of(kind, effects + errors)], axis=0)
    name = " ".join(part for part in ("accused" if slow else "nodes", word) if part)
    colours = {
        (False, _OUT): "measured",
        (False, _IN): "gap",
        (True, _OUT): "o_s",
        (True, _IN): "placement",
    }
    return PlotSeries(
        name,
        "points",
        colours[slow, way],
        [place + 1.0 + BESIDE * way for place, _ in places],
        change_of(kind, effects).tolist(),
        low=ends[0].tolist(),
        high=ends[1].tolist(),
        labels=tuple(fit.values.nodes[node] for node in nodes),
    )


def node_order(fit: PairFit) -> IntArray:
    """Returns (n,) the nodes by leaf, then by number: the order of the matrix."""
    return np.lexsort((np.arange(fit.leaves.size), fit.leaves)).astype(np.int64)
