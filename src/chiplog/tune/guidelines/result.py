"""The JSON of the schema chiplog.guidelines/1, and the file with all raw samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chiplog import __version__
from chiplog.dataset.lines import encode_line
from chiplog.json_values import plain
from chiplog.output_file import replacing
from chiplog.tune.guidelines.guideline import TimedCall
from chiplog.tune.guidelines.judge import GuidelineFinding, GuidelineJudgement
from chiplog.tune.measured.candidate import DEFAULT_NAME
from chiplog.tune.measured.launch import RaceEntry, Result
from chiplog.tune.measured.statistics import RISK

SCHEMA = "chiplog.guidelines/1"
SAMPLES_SCHEMA = "chiplog.guidelines-samples/1"
"""Of the file with all raw samples: checksummed JSON lines with header and footer, like a run file."""


def guidelines_to_json(judgement: GuidelineJudgement) -> dict[str, Any]:
    """The object of the schema; what nothing bounds is null."""
    violations = judgement.violations
    others = [finding for finding in judgement.findings if finding.verdict != "violated"]
    return {
        "schema": SCHEMA,
        "source": judgement.source,
        "launches": judgement.launches,
        "false_list_probability": RISK,
        "violated": len(violations),
        "guidelines": [_finding(finding) for finding in (*violations, *others)],
        "refused": [
            {**_call(call), "reason": reason} for call, reason in judgement.refused.items()
        ],
    }


def _finding(finding: GuidelineFinding) -> dict[str, Any]:
    return {
        "kind": finding.guideline.kind,
        "verdict": finding.verdict,
        "call": _call(finding.guideline.call),
        "other": _call(finding.guideline.other),
        "factor": plain(finding.factor),
        "low": finding.factor_low,
        "high": plain(finding.factor_high),
        "launches": finding.ratio.launches,
        "seconds": plain(finding.seconds),
        "other_seconds": plain(finding.other_seconds),
    }


def _call(call: TimedCall) -> dict[str, Any]:
    cell = call.cell
    return {
        "operation": cell.operation,
        "by": None if call.emulation == DEFAULT_NAME else call.emulation,
        "ranks": cell.ranks,
        "bytes": cell.message_bytes,
        "datatype": cell.datatype,
    }


class SamplesLog:
    """Collects what launches measured, and writes it in the end."""

    def __init__(self) -> None:
        self._lines: list[Mapping[str, Any]] = []

    def add(self, stage: str, entries: Sequence[RaceEntry], result: Result) -> None:
        """One launch."""
        for (place, name), samples in result.samples.items():
            self._lines.append(
                {
                    "type": "samples",
                    "stage": stage,
                    "launch": self._launches,
                    **_call(TimedCall(entries[place].cell, name)),
                    "seconds": {mode: part.tolist() for mode, part in samples.by_mode.items()},
                }
            )
        self._lines.append({"type": "launch", "stage": stage, "launch": self._launches})

    @property
    def _launches(self) -> int:
        return sum(line["type"] == "launch" for line in self._lines)

    def write(self, path: Path, source: str) -> None:
        """Header, lines, footer; RunFailed where it can't be written."""
        header = {"type": "header", "schema": SAMPLES_SCHEMA, "chiplog": __version__}
        lines = [encode_line({**header, "source": source}), *map(encode_line, self._lines)]
        lines.append(encode_line({"type": "footer", "lines": len(self._lines)}))
        with replacing(path) as stream:
            stream.writelines(lines)
