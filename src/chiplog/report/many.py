"""What the sections on many processes take out of a target: the run that has the pattern, and its fits' curves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chiplog.dataset.disturbance import oversubscription
from chiplog.fitting.result import Curve, Fit
from chiplog.report.document import Block, Paragraph, Span, Style, bad, line
from chiplog.report.header import number
from chiplog.report.input import TargetReport
from chiplog.report.plot import PlotSeries


def run_of(target: TargetReport, pattern: str) -> TargetReport | None:
    """The target's run that measured `pattern` (`one_to_many` or `pairs`); None where there is none."""
    part = target.one_to_many if pattern == "one_to_many" else target.pairs
    if part is not None:
        return part
    has_any = any(series.pattern == pattern for series in target.dataset.series)
    return target if has_any else None


def opening(run: TargetReport) -> list[Block]:
    """What must be known before any number: a failure, more ranks than CPUs."""
    blocks: list[Block] = []
    if run.failure:
        blocks.append(Paragraph(line(bad(f"This part failed: {run.failure}"))))
    crowded = oversubscription(run.dataset.header)
    if crowded is not None:
        blocks.append(Paragraph(line(Span(crowded.sentence(), Style.BAD, "oversubscribed"))))
    return blocks


def ranks(run: TargetReport) -> str:
    """How many ranks there were, and where: "2 ranks on a machine with 2 CPUs", "8 ranks on 8 hosts"."""
    count, cores = (
        number(run.dataset.header, *path) for path in (("ranks",), ("machine", "cores"))
    )
    words = "this run" if count is None else f"{count:.0f} ranks"
    named = run.dataset.header.get("hosts")
    hosts = set(named) if isinstance(named, list) else set()
    if len(hosts) > 1:
        return f"{words} on {len(hosts)} hosts"
    return words if cores is None else f"{words} on a machine with {cores:.0f} CPUs"


def pairs_curves(fit: Fit) -> dict[int, Curve]:
    """The fit's half round trips over the size, by the number of pairs, ascending."""
    by_pairs = {curve.pairs: curve for curve in fit.curves if curve.pairs is not None}
    return dict(sorted(by_pairs.items()))


def peers_curve(fit: Fit, quantity: str, message_bytes: int) -> Curve | None:
    """The fit's curve of a quantity over the number of peers at one message size."""
    for curve in fit.curves:
        if (
            curve.quantity == quantity
            and curve.peers is not None
            and message_bytes in curve.message_bytes
        ):
            return curve
    return None


def line_trace(name: str, colour: str, x: Sequence[float], y: Sequence[float]) -> PlotSeries | None:
    """A model's line; None where it predicts nothing."""
    if not np.any(np.isfinite(y)):
        return None
    return PlotSeries(name, "line", colour, x, y, dots=True)
