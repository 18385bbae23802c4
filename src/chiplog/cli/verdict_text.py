"""The lines of `chiplog survey` that say who is slow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chiplog.survey.plan import LEAST_RANKS_AGAIN

if TYPE_CHECKING:
    from chiplog.survey.of_run import MachineVerdict
    from chiplog.survey.verdict import Finding, Verdict

MOST = 5
_ARTICLE = {"node": "a", "uplink": "an", "pair": "a"}


def verdict_lines(verdict: MachineVerdict) -> list[str]:
    """Who is accused, what is not concluded, what could have been found, and where the topology differs."""
    lines = [f"slow       {_sentence(one)}" for one in verdict.accused[:MOST]]
    lines += _more(len(verdict.accused))
    if not verdict.accused:
        lines.append(f"slow       {_nobody(verdict)}")
    lines += [f"unclear    {_sentence(one)}: {one.reason}" for one in verdict.inconclusive[:MOST]]
    lines += _more(len(verdict.inconclusive))
    lines += [
        f"would find {_detectable(one)} ({kind}, with 95 %)"
        for kind, one in verdict.verdicts.items()
    ]
    lines += [f"topology   {one.text}" for one in verdict.differences[:MOST]]
    lines += _more(len(verdict.differences))
    if verdict.agrees:
        lines.append(f"topology   {verdict.leaves} leaves, as declared")
    return lines


def _nobody(verdict: MachineVerdict) -> str:
    if verdict.visits < 2:
        return f"not judged: nothing was measured again (with {LEAST_RANKS_AGAIN} nodes and more, without --once)"
    return "nobody beyond doubt"


def _more(count: int) -> list[str]:
    return [f"           and {count - MOST} more"] if count > MOST else []


def _sentence(one: Finding) -> str:
    way = {"both": "", "out": ", out only", "in": ", in only"}[one.direction]
    who = f"{one.name} with {one.peer}" if one.peer else f"{one.kind} {one.name}"
    interval = f" ({100 * one.low:+.1f} % to {100 * one.high:+.1f} %)" if one.reason is None else ""
    return f"{who}{way}: {one.quantity} {100 * one.effect:+.1f} %{interval}"


def _detectable(verdict: Verdict) -> str:
    parts = [
        f"{_ARTICLE[name]} {name} at {100 * least:.1f} %"
        for name, least in verdict.detectable.items()
        if least is not None
    ]
    return ", ".join(parts) or "nothing: too few nodes or pairs"
