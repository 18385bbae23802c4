"""`chiplog tune nccl` as a function: runs of nccl-tests in, a file of NCCL's example tuner plug-in out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chiplog.json_values import plain
from chiplog.output_file import write_text
from chiplog.tune.nccl.choose import NcclVerdict, rules, verdicts
from chiplog.tune.nccl.rules import ANY, NcclRule, text
from chiplog.tune.nccl.runs import NcclRuns, read_runs

SCHEMA = "chiplog.nccl-tuning/1"


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
        "ratio": None if ratio is None else plain(ratio.value),
        "ratio_low": None if ratio is None else plain(ratio.low),
        "ratio_high": None if ratio is None else plain(ratio.high),
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
    judged = verdicts(runs)
    tuning = NcclTuning(runs, tuple(judged), tuple(rules(judged, runs)))
    if out is not None:
        write_text(Path(out), tuning.text())
    return tuning
