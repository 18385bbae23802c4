"""Predictions of collective operations: LogGP's, with o for both overheads."""

from __future__ import annotations

from dataclasses import replace

from chiplog.collectives.algorithm import Task
from chiplog.fitting.result import Fit, Segment
from chiplog.prediction.loggp import LogGPSpeaker


class OneOverheadSpeaker(LogGPSpeaker):
    """Speaks about every algorithm."""

    def __init__(self, fit: Fit, task: Task, per_node: int) -> None:
        super().__init__(_with_both_overheads(fit), task, per_node)


def _with_both_overheads(fit: Fit) -> Fit:
    draws = dict(fit.draws)
    for number in range(len(fit.segments)):
        if f"{number}/o" in draws:
            draws[f"{number}/o_s"] = draws[f"{number}/o_r"] = draws[f"{number}/o"]
    return replace(fit, segments=tuple(map(_both, fit.segments)), draws=draws)


def _both(segment: Segment) -> Segment:
    known = segment.parameters
    both = {symbol: replace(known["o"], symbol=symbol) for symbol in ("o_s", "o_r")}
    return replace(segment, parameters={**known, **both})
