"""The history that the survey belongs to, as lines over days."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from chiplog.counts import counted
from chiplog.machine_survey.findings import OF_NODE
from chiplog.machine_survey.page.input import Months, NodeLines, SurveyPage
from chiplog.report.document import Block, Column, Figure, Paragraph, Section, Table, bad, line
from chiplog.report.plot import Axis, Plot, PlotSeries

if TYPE_CHECKING:
    from chiplog.machine_survey.pair_values import Kind

MOST_LINES = 6
"""Given: nodes that are drawn."""
MOST_ROWS = 20
"""Given: rows of the table."""
SECONDS_A_DAY = 86400.0
"""Derived: 24 hours of 3600 s."""


def months_section(page: SurveyPage) -> Section | None:
    """Returns what the history says of the nodes, and the lines of those that matter; None without a history."""
    months = page.months
    if months is None:
        return None
    accused = [finding.name for finding in page.result.verdict.accused if finding.kind in OF_NODE]
    blocks: list[Block] = [_table(months)]
    blocks += [
        _lines(months, node_lines, accused) for node_lines in months.lines if len(months.times) > 1
    ]
    if len(months.times) < 2:
        blocks.append(Paragraph(line("One run has no lines; the next ones will be drawn here.")))
    return Section("survey-history", line("Over time"), tuple(blocks))


def _table(months: Months) -> Table:
    columns = (
        Column(line("Node")),
        Column(line("Figure")),
        Column(line("Verdict")),
        Column(line("What")),
    )
    rows = tuple(
        (
            line(row.node),
            line(row.quantity),
            line(bad(row.verdict) if row.verdict == "changed" else row.verdict),
            line(row.text),
        )
        for row in months.rows[:MOST_ROWS]
    )
    more = len(months.rows) - MOST_ROWS
    notes = (line(f"{more} more: chiplog history {months.folder} --details"),) if more > 0 else ()
    runs = counted(len(months.times), "run")
    return Table(
        line(f"{runs} in {months.folder}; each node against its own past."), columns, rows, notes
    )


def _lines(months: Months, shown: NodeLines, accused: list[str]) -> Figure:
    """Returns the nodes that changed or are accused, the widest others, and the range of all of them."""
    newest = months.times[-1]
    days = [(time - newest).total_seconds() / SECONDS_A_DAY for time in months.times]
    # Given: nine of ten nodes.
    low, middle, high = np.nanquantile(shown.changes, [0.05, 0.5, 0.95], axis=1)
    traces = [
        PlotSeries(
            "middle of all nodes, 5 % to 95 %",
            "line",
            "measured",
            days,
            middle.tolist(),
            low=low.tolist(),
            high=high.tolist(),
            area=True,
        )
    ]
    for number, node in enumerate(_chosen(months, shown, accused), start=1):
        values = shown.changes[:, shown.nodes.index(node)].tolist()
        traces.append(PlotSeries(node, "line", f"target-{number}", days, values, dots=True))
    plot = Plot(
        f"survey-history-{shown.quantity}",
        Axis("days before the newest run", "", ("linear",)),
        Axis(f"{shown.quantity}, from the median node", "ratio", ("linear",)),
        tuple(traces),
        small=True,
    )
    return Figure(f"Over time: {shown.quantity}", line(_what(shown.quantity)), plot)


def _chosen(months: Months, shown: NodeLines, accused: list[str]) -> list[str]:
    changed = [
        row.node
        for row in months.rows
        if row.verdict == "changed" and row.quantity == shown.quantity
    ]
    last = np.nan_to_num(np.abs(shown.changes[-1]))
    furthest = [shown.nodes[place] for place in np.argsort(-last).tolist()]
    short = {
        name: node for node in reversed(shown.nodes) for name in (node, node.split(".")[0].lower())
    }
    named = [
        short.get(node, short.get(node.split(".")[0].lower(), "")) for node in (*changed, *accused)
    ]
    known = [fromkey for fromkey in dict.fromkeys((*named, *furthest)) if fromkey]
    return known[: max(MOST_LINES - 3, min(MOST_LINES, len(set(named))))]


def _what(quantity: Kind) -> str:
    side = "below" if quantity == "bandwidth" else "above"
    return f"Each node's figure beside the median node's of the same run; {side} 0 is slow."
