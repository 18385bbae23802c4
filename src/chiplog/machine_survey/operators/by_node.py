"""What a survey says of each node, and the commands that take slow ones out of Slurm, which are printed, never run."""

from __future__ import annotations

import math
import re
import shlex
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from chiplog.errors import CorruptFile, UsageError
from chiplog.json_values import members
from chiplog.machine_survey.findings import OF_NODE, figure_text
from chiplog.machine_survey.settings import SETTINGS
from chiplog.outside import parse_time

if TYPE_CHECKING:
    from chiplog.dataset.series import Dataset
    from chiplog.machine_survey.findings import Finding
    from chiplog.machine_survey.machine_verdict import MachineVerdict
    from chiplog.machine_survey.pair_values import Kind
    from chiplog.machine_survey.slowness_model import PairFit

Word = Literal["slow", "unclear", "ok", "not-judged"]
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class Effect:
    """How a node's figures of the sweep differ from those of the median node: a relative change.

    The ends of its interval of 95 % are None where the sweep does not tell them.
    """

    effect: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class NodeVerdict:
    """One node: `slow` is accused, `unclear` is slow but not beyond doubt."""

    name: str
    verdict: Word
    findings: tuple[Finding, ...]
    """The accusations, else the doubts."""
    effects: dict[Kind, Effect]


@dataclass(frozen=True, slots=True)
class SurveyVerdict:
    """A survey's verdict by node."""

    run: str
    target: str
    time: datetime
    complete: bool
    nodes: tuple[NodeVerdict, ...]
    others: tuple[Finding, ...]
    """Accused uplinks and pairs."""
    detectable: dict[Kind, dict[str, float | None]]
    """Of nodes, uplinks and pairs the smallest relative change that the survey finds with 95 %; None: finds none."""

    @property
    def slow(self) -> tuple[NodeVerdict, ...]:
        """Returns the accused nodes."""
        return tuple(node for node in self.nodes if node.verdict == "slow")

    def to_json(self) -> dict[str, Any]:
        """Returns the verdict for scripts (chiplog.verdict/1)."""
        return {
            "schema": "chiplog.verdict/1",
            **members(self, "run", "target"),
            "time": f"{self.time:%Y-%m-%dT%H:%M:%SZ}",
            **members(self, "complete", "nodes", "others", "detectable"),
            "drain": drain_lines(self),
        }


def require_survey(dataset: Dataset) -> None:
    """UsageError where a run file is not that of a survey."""
    plan = dataset.header.get("plan")
    if not isinstance(plan, dict) or plan.get("kind") != "survey":
        raise UsageError(f"{dataset.source} is not a survey: name what `chiplog survey -o` wrote.")


def verdict_by_node(dataset: Dataset, verdict: MachineVerdict) -> SurveyVerdict:
    """Returns what a survey's verdict says of each node; CorruptFile where the survey's time can't be read."""
    created = str(dataset.header.get("created"))
    time = parse_time(created, f"{dataset.source}, line 1, created", CorruptFile)
    fits = list(verdict.fits.values())
    names = fits[0].values.nodes if fits else ()
    return SurveyVerdict(
        str(dataset.source),
        str(dataset.header.get("target", "")),
        time,
        dataset.complete,
        tuple(_node(name, number, verdict) for number, name in enumerate(names)),
        tuple(finding for finding in verdict.accused if finding.kind not in OF_NODE),
        {kind: dict(kind_verdict.detectable) for kind, kind_verdict in verdict.verdicts.items()},
    )


def _node(name: str, number: int, verdict: MachineVerdict) -> NodeVerdict:
    slow = tuple(
        finding for finding in verdict.accused if finding.name == name and finding.kind in OF_NODE
    )
    unclear = tuple(
        finding
        for finding in verdict.inconclusive
        if finding.name == name and finding.kind in OF_NODE
    )
    by_kind = {kind: _effect(fit, kind, number) for kind, fit in verdict.fits.items()}
    effects = {kind: effect for kind, effect in by_kind.items() if effect is not None}
    word: Word = "ok"
    if slow:
        word = "slow"
    elif unclear:
        word = "unclear"
    elif verdict.visits < 2 or not effects:
        word = "not-judged"
    return NodeVerdict(name, word, slow or unclear, effects)


def _effect(fit: PairFit, kind: Kind, number: int) -> Effect | None:
    slow = float(fit.node_effects.mean(axis=0)[number])
    half = SETTINGS.interval_errors * float(fit.node_errors.mean(axis=0)[number])
    if not math.isfinite(slow):
        return None
    sign = 1.0 if kind == "latency" else -1.0
    if not math.isfinite(half):
        return Effect(math.expm1(sign * slow), None, None)
    low, high = np.sort(np.expm1([sign * (slow - half), sign * (slow + half)])).tolist()
    return Effect(math.expm1(sign * slow), low, high)


def host_of(name: str) -> str:
    """Returns the host of a node: several ranks on one host are named HOST#RANK.

    >>> host_of("n05#3")
    'n05'
    """
    return name.split("#", 1)[0]


def reason_of(node: NodeVerdict) -> str:
    """Returns the findings of a node in words.

    >>> from chiplog.machine_survey.findings import Finding
    >>> finding = Finding("node", "n05", None, "out", "bandwidth", -0.052, -0.058, -0.046)
    >>> reason_of(NodeVerdict("n05", "slow", (finding,), {}))
    'bandwidth -5.2 % (-5.8 % to -4.6 %), out only'
    """
    ways = {"both": "", "out": ", out only", "in": ", in only"}
    of = {"cpu": "cpu: ", "memory": "memory: "}
    return "; ".join(
        f"{of.get(finding.kind, '')}{figure_text(finding)}{ways[finding.direction]}"
        for finding in node.findings
    )


def drain_lines(verdict: SurveyVerdict) -> list[str]:
    """Returns a command for each slow host; Slurm's name of a node is its host name up to the first dot.

    A name that no host can have, as of an imported file, gives none.
    """
    lines: dict[str, str] = {}
    for node in verdict.slow:
        host = host_of(node.name)
        if _HOST.fullmatch(host):
            reason = shlex.quote(f"chiplog {verdict.time:%Y-%m-%d}: {reason_of(node)}")
            lines.setdefault(
                host, f"scontrol update NodeName={host.split('.')[0]} State=DRAIN Reason={reason}"
            )
    return list(lines.values())
