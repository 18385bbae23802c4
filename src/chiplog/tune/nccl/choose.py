"""Which of NCCL's algorithms and protocols surely beats its default, by independent launches of each.

A rule is written for a size only where the candidate's time over the default's is below 1, in every way to call it that
was measured: Welch's interval of the difference of mean logarithms over launches. All intervals hold together with 95 %
confidence (Bonferroni over sizes, ways and candidates).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from chiplog.statistics import UNIFORM_DEVIATION
from chiplog.tune.measured.statistics import RISK, CandidateRatio, ratio_of
from chiplog.tune.nccl.rules import NcclCandidate, NcclRule
from chiplog.tune.nccl.runs import NcclCell, NcclRuns


@dataclass(frozen=True)
class NcclVerdict:
    """One collective at one size."""

    cell: NcclCell
    default_seconds: float
    candidate: NcclCandidate | None
    """Who comes nearest to being surely faster; None where nobody was measured there."""
    ratio: CandidateRatio | None
    """Its time over the default's, in the way to call it that is worst for it; `launches` is the smaller number."""

    @property
    def is_changed(self) -> bool:
        """Does a rule leave the default?"""
        return self.ratio is not None and self.ratio.high < 1.0


def verdicts(runs: NcclRuns) -> list[NcclVerdict]:
    """One a size, by collective, ascending by size."""
    statements = sum(
        len(by_candidate) - (None in by_candidate)
        for ways in runs.seconds.values()
        for by_candidate in ways.values()
    )
    risk = RISK / max(1, statements)
    return [_verdict(cell, runs.seconds[cell], runs, risk) for cell in sorted(runs.seconds)]


def _verdict(
    cell: NcclCell,
    ways: Mapping[str, Mapping[NcclCandidate | None, Sequence[float]]],
    runs: NcclRuns,
    risk: float,
) -> NcclVerdict:
    defaults = [seconds for by in ways.values() for seconds in by.get(None, ())]
    default = float(np.median(defaults)) if defaults else math.nan
    # A way that was not measured of both says nothing, so the candidate may be slower there.
    common = set.intersection(*(set(by) for by in ways.values()))
    candidates = sorted(each for each in common if each is not None) if None in common else []
    ratios = {
        candidate: max(
            (
                welch_ratio(by[candidate], by[None], runs.resolution_seconds, risk)
                for by in ways.values()
            ),
            key=lambda ratio: ratio.high,
        )
        for candidate in candidates
    }
    best = min(ratios, key=lambda each: (ratios[each].high, ratios[each].value), default=None)
    return NcclVerdict(cell, default, best, ratios[best] if best is not None else None)


def welch_ratio(
    candidate: Sequence[float], default: Sequence[float], resolution: float, risk: float
) -> CandidateRatio:
    """The ratio of two independent groups of launches' times in seconds, with its interval at `risk`.

    Times are printed in steps of `resolution` seconds, which is an error of its own. Without two launches of each
    nothing bounds the ratio.
    """
    groups = [np.log(candidate), np.log(default)]
    value = math.exp(float(np.mean(groups[0]) - np.mean(groups[1])))
    launches = min(len(candidate), len(default))
    if launches < 2:
        return CandidateRatio(value, 0.0, math.inf, launches)
    parts = []
    for logs, seconds in zip(groups, (candidate, default), strict=True):
        step = resolution / float(np.median(seconds)) * UNIFORM_DEVIATION
        parts.append((float(np.var(logs, ddof=1)) + step**2) / len(logs))
    error = sum(parts)
    if error == 0.0:
        return CandidateRatio(value, value, value, launches)
    freedom = error**2 / sum(
        part**2 / (len(logs) - 1) for part, logs in zip(parts, groups, strict=True)
    )
    reach = -float(stdtrit(freedom, risk / 2)) * math.sqrt(error)
    center = math.log(value)
    return CandidateRatio(value, ratio_of(center - reach), ratio_of(center + reach), launches)


def rules(judged: Sequence[NcclVerdict], runs: NcclRuns) -> list[NcclRule]:
    """Neighbouring sizes with the same winner are one range; between two with different ones NCCL decides."""
    ranges: list[NcclRule] = []
    before: NcclVerdict | None = None
    for verdict in judged:
        if verdict.is_changed and verdict.candidate is not None:
            cell, first = verdict.cell, verdict.cell.message_bytes
            if (
                before is not None
                and before.is_changed
                and (before.candidate, before.cell.operation) == (verdict.candidate, cell.operation)
            ):
                first = ranges.pop().first_bytes
            ranges.append(
                NcclRule(
                    cell.operation,
                    first,
                    cell.message_bytes,
                    verdict.candidate,
                    runs.nodes,
                    runs.ranks,
                )
            )
        before = verdict
    return ranges
