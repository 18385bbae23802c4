"""`chiplog tune nccl` as a function: runs of nccl-tests in, a file of NCCL's example tuner plug-in out.

A rule is written for a size only where the candidate's time over the default's is below 1, in every way to call it that
was measured: Welch's interval of the difference of mean logarithms over launches. All intervals hold together with 95 %
confidence (Bonferroni over sizes, ways and candidates).
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtrit

from chiplog.json_values import plain
from chiplog.output_file import write_text
from chiplog.statistics import UNIFORM_DEVIATION
from chiplog.tune.measured.statistics import RISK, CandidateRatio, ratio_to_json
from chiplog.tune.nccl.rules import ANY, NcclCandidate, NcclRule, text
from chiplog.tune.nccl.runs import NcclCell, NcclRuns, read_runs

SCHEMA = "chiplog.nccl-tuning/1"


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


def _verdicts(runs: NcclRuns) -> list[NcclVerdict]:
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
    log = float(np.mean(groups[0]) - np.mean(groups[1]))
    launches = min(len(candidate), len(default))
    if launches < 2:
        return CandidateRatio.of_log(log, launches=launches)
    parts = []
    for logs, seconds in zip(groups, (candidate, default), strict=True):
        step = resolution / float(np.median(seconds)) * UNIFORM_DEVIATION
        parts.append((float(np.var(logs, ddof=1)) + step**2) / len(logs))
    error = sum(parts)
    if error == 0.0:
        return CandidateRatio.of_log(log, log, log, launches=launches)
    freedom = error**2 / sum(
        part**2 / (len(logs) - 1) for part, logs in zip(parts, groups, strict=True)
    )
    reach = -float(stdtrit(freedom, risk / 2)) * math.sqrt(error)
    return CandidateRatio.of_log(log, log - reach, log + reach, launches=launches)


def _rules(judged: Sequence[NcclVerdict], runs: NcclRuns) -> list[NcclRule]:
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


@dataclass(frozen=True)
class NcclTuning:
    """What the runs say about each size, and the rules that follow."""

    runs: NcclRuns
    verdicts: tuple[NcclVerdict, ...]
    rules: tuple[NcclRule, ...]

    @property
    def has_unknown_channels(self) -> bool:
        """Is there a rule that does not say how many channels it was measured with?"""
        return any(rule.candidate.channels == ANY for rule in self.rules)

    def text(self) -> str:
        """The file for NCCL_TUNER_CONFIG_FILE."""
        where = f"{self.runs.ranks} ranks on {self.runs.nodes} nodes"
        comments = [
            f"from runs of nccl-tests, {where}; each rule was surely faster than the default at every size measured",
            *map(verdict_text, self.verdicts),
        ]
        return text(self.rules, comments)

    def to_json(self) -> dict[str, Any]:
        """The object of the schema; what is unknown is null."""
        return {
            "schema": SCHEMA,
            "ranks": self.runs.ranks,
            "nodes": self.runs.nodes,
            "rules": [rule.line for rule in self.rules],
            "sizes": [_size(verdict) for verdict in self.verdicts],
        }


def _size(verdict: NcclVerdict) -> dict[str, Any]:
    ratio = verdict.ratio
    return {
        "operation": verdict.cell.operation,
        "bytes": verdict.cell.message_bytes,
        "candidate": None if verdict.candidate is None else str(verdict.candidate),
        "changed": verdict.is_changed,
        "default_seconds": plain(verdict.default_seconds),
        **ratio_to_json(ratio),
        "launches": 0 if ratio is None else ratio.launches,
    }


def verdict_text(verdict: NcclVerdict) -> str:
    """One size as a sentence."""
    cell, ratio = verdict.cell, verdict.ratio
    name = f"{cell.operation} {cell.message_bytes} B"
    if ratio is None:
        return f"{name}: the default stays, nothing else was measured in the same ways"
    if ratio.launches < 2:
        return f"{name}: the default stays, {verdict.candidate} or the default has one run only"
    answer = str(verdict.candidate) if verdict.is_changed else "the default stays"
    return (
        f"{name}: {answer}; {verdict.candidate} takes {ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}] times "
        f"as long, {ratio.launches} runs"
    )


def tune_nccl(named: Sequence[str], out: str | os.PathLike[str] | None = None) -> NcclTuning:
    """The rules that `NAME=FILE` of runs of nccl-tests are sure of; `out` gets the file.

    NAME is `default`, or what NCCL_ALGO and NCCL_PROTO forced: `ring/simple`, or `ring/simple/8` with as many channels.
    Each file is a launch. UsageError for other names and runs that don't fit together, CorruptFile for broken files.
    """
    runs = read_runs(named)
    judged = _verdicts(runs)
    tuning = NcclTuning(runs, tuple(judged), tuple(_rules(judged, runs)))
    if out is not None:
        write_text(Path(out), tuning.text())
    return tuning
