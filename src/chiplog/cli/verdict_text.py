"""The lines of `chiplog survey` that say who is slow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chiplog.counts import counted
from chiplog.machine_survey.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chiplog.machine_survey.findings import Finding, HostKind
    from chiplog.machine_survey.judge.verdict import SweepVerdict
    from chiplog.machine_survey.machine_verdict import MachineVerdict

MOST = 5
_ARTICLE = {"node": "a ", "uplink": "an ", "pair": "a ", "cpu": "a ", "memory": ""}


def verdict_lines(verdict: MachineVerdict) -> list[str]:
    """Who is accused, what is not concluded, what could have been found, and where the topology differs."""
    lines = slow_lines(verdict.accused)
    if not verdict.accused:
        lines.append(f"slow       {_nobody(verdict)}")
    lines += _unclear(verdict)
    lines += [
        f"would find {_detectable(kind_verdict)} ({kind}, with 95 %)"
        for kind, kind_verdict in verdict.verdicts.items()
    ]
    if verdict.hosts is not None:
        lines.append(f"would find {_own(verdict.hosts.detectable)} (alone, with 95 %)")
    lines += [f"topology   {difference.text}" for difference in verdict.differences[:MOST]]
    lines += _more(len(verdict.differences))
    if verdict.unit == "node":
        lines.append("topology   several ranks run on a node, so leaves can't be told")
    if verdict.agrees:
        lines.append(f"topology   {verdict.leaves} leaves, as declared")
    return lines


def slow_lines(accused: Sequence[Finding]) -> list[str]:
    """The accused ones, the first few."""
    lines = [f"slow       {_sentence(finding)}" for finding in accused[:MOST]]
    return lines + _more(len(accused))


def _unclear(verdict: MachineVerdict) -> list[str]:
    """What is not concluded. Pairs that are less slow than this run would find share a line."""
    shared: list[str] = []
    others = list(verdict.inconclusive)
    for kind, judged in verdict.verdicts.items():
        least = judged.detectable["pair"] or 0.0
        small = [
            other
            for other in others
            if (other.kind, other.quantity) == ("pair", kind) and abs(other.effect) < least
        ]
        others = [other for other in others if other not in small]
        if small:
            pairs = counted(len(small), "pair")
            most = 100 * max(abs(finding.effect) for finding in small)
            shared.append(
                f"unclear    {pairs} by {most:.1f} % at most ({kind}), less than this survey finds"
            )
    lines = [f"unclear    {_sentence(other)}: {other.reason}" for other in others[:MOST]]
    return lines + _more(len(others)) + shared


def _own(detectable: Mapping[HostKind, float | None]) -> str:
    parts = [
        f"{_ARTICLE[kind]}{kind} at {100 * least:.1f} %"
        for kind, least in detectable.items()
        if least is not None
    ]
    return ", ".join(parts) or "nothing: nodes share CPUs, or are too few"


def _nobody(verdict: MachineVerdict) -> str:
    if verdict.visits < 2:
        return f"not judged: nothing was measured again (with {SETTINGS.least_ranks} nodes and more, without --once)"
    return "nobody beyond doubt"


def _more(count: int) -> list[str]:
    return [f"           and {count - MOST} more"] if count > MOST else []


def _sentence(finding: Finding) -> str:
    from chiplog.machine_survey.findings import figure_text, who

    return f"{who(finding)}: {figure_text(finding)}"


def _detectable(verdict: SweepVerdict) -> str:
    parts = [
        f"{_ARTICLE[name]}{name} at {_size(least)}"
        for name, least in verdict.detectable.items()
        if least is not None
    ]
    return ", ".join(parts) or "nothing: too few nodes or pairs"


def _size(effect: float) -> str:
    return f"{100 * effect:.1f} %" if effect < 1 else f"{1 + effect:.3g} times"
