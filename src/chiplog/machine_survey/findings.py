"""What a survey says of a node, an uplink or a pair, and how it is put into words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from chiplog.machine_survey.plan import COPY, OTHERS, WORK

HostKind = Literal["cpu", "memory"]
FoundKind = Literal["node", "uplink", "pair", "cpu", "memory"]
HostQuantity = Literal["fixed_work", "memory_copy", "other_programs"]
FoundQuantity = Literal["latency", "bandwidth", "fixed_work", "memory_copy", "other_programs"]
Direction = Literal["both", "out", "in"]
HOST_KINDS: dict[HostQuantity, HostKind] = {WORK: "cpu", OTHERS: "cpu", COPY: "memory"}
OF_NODE: tuple[FoundKind, ...] = ("node", "cpu", "memory")
"""The kinds that are about one node."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A node, an uplink or a pair, with its effect on its pairs' figures and an interval for it.

    Of a node's CPU or memory it is the effect on what the node does alone.
    """

    kind: FoundKind
    name: str
    peer: str | None
    """The server of a pair; None of all others."""
    direction: Direction
    quantity: FoundQuantity
    effect: float
    """The relative change: -0.05 of a bandwidth that is 5 % smaller, 0.1 of a latency that is 10 % longer. Of
    other_programs the share of the CPUs that they have."""
    low: float
    high: float
    reason: str | None = None
    """Why nothing is concluded; None of an accused one."""


def figure_text(finding: Finding) -> str:
    """Returns a finding's figure with its change; the interval belongs to an accused one only.

    >>> figure_text(Finding("cpu", "n05", None, "both", "other_programs", 0.97, 0.9, 1.04))
    'other programs have 97.0 % of it (90.0 % to 104.0 %)'
    >>> figure_text(Finding("node", "n05", None, "both", "bandwidth", -0.05, -0.06, -0.04))
    'bandwidth -5.0 % (-6.0 % to -4.0 %)'
    """
    signs = "" if finding.quantity == OTHERS else "+"
    value, low, high = (
        f"{100 * end:{signs}.1f} %" for end in (finding.effect, finding.low, finding.high)
    )
    interval = f" ({low} to {high})" if finding.reason is None else ""
    words = {
        WORK: f"the same work takes {value}",
        OTHERS: f"other programs have {value} of it",
        COPY: f"a copy takes {value}",
    }
    return words.get(finding.quantity, f"{finding.quantity} {value}") + interval


def who(finding: Finding) -> str:
    """Returns the words that name whom a finding is about.

    >>> who(Finding("cpu", "n05", None, "both", "other_programs", 0.97, 0.9, 1.0))
    'cpu of n05'
    >>> who(Finding("pair", "n05", "n06", "out", "bandwidth", -0.05, -0.06, -0.04))
    'n05 with n06, out only'
    """
    way = {"both": "", "out": ", out only", "in": ", in only"}[finding.direction]
    if finding.peer:
        return f"{finding.name} with {finding.peer}{way}"
    of = " of" if finding.kind in HOST_KINDS.values() else ""
    return f"{finding.kind}{of} {finding.name}{way}"
