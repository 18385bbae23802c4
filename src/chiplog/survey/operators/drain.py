"""The commands that take slow nodes out of Slurm; they are printed, never run."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from chiplog.survey.own import figure_text

if TYPE_CHECKING:
    from chiplog.survey.operators.by_node import NodeVerdict, SurveyVerdict

_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def host_of(name: str) -> str:
    """The host of a node: several ranks on one host are named HOST#RANK.

    >>> host_of("n05#3")
    'n05'
    """
    return name.split("#", 1)[0]


def reason_of(node: NodeVerdict) -> str:
    """The findings of a node in words.

    >>> from chiplog.survey.verdict import Finding
    >>> from chiplog.survey.operators.by_node import NodeVerdict
    >>> one = Finding("node", "n05", None, "out", "bandwidth", -0.052, -0.058, -0.046)
    >>> reason_of(NodeVerdict("n05", "slow", (one,), {}))
    'bandwidth -5.2 % (-5.8 % to -4.6 %), out only'
    """
    ways = {"both": "", "out": ", out only", "in": ", in only"}
    of = {"cpu": "cpu: ", "memory": "memory: "}
    return "; ".join(
        f"{of.get(finding.kind, '')}{figure_text(finding)}{ways[finding.direction]}"
        for finding in node.findings
    )


def drain_lines(verdict: SurveyVerdict) -> list[str]:
    """One command for each slow host; Slurm's name of a node is its host name up to the first dot.

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
