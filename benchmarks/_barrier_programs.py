"""What the parts of the barrier benchmark share."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))

SOURCE = str(Path(__file__).parent.resolve() / "peers" / "barriers_in_turn.cpp")

Medians = dict[str, float]


def medians(printed: str) -> Medians:
    """Nanoseconds by way, from the program's output."""
    words = (line.split() for line in printed.splitlines())
    return {one[0]: float(one[1]) for one in words if len(one) == 2}


def verdict(ratio: float, goal: float, low: float | None = None, high: float | None = None) -> str:
    """A goal is met or not where the whole interval says so, if there is one."""
    low, high = ratio if low is None else low, ratio if high is None else high
    standing = "met" if high <= goal else "NOT met" if low > goal else "unclear"
    interval = f" [{low:.3f}, {high:.3f}]" if low < high else ""
    return f"{ratio:6.3f}{interval} (goal <= {goal:.2f}: {standing})"
