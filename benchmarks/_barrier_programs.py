"""What the parts of the barrier benchmark share."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

SOURCE = str(Path(__file__).parent.resolve() / "peers" / "barriers_in_turn.cpp")

Medians = dict[str, float]


def medians(printed: str) -> Medians:
    """Nanoseconds by way, from the program's output."""
    words = (line.split() for line in printed.splitlines())
    return {one[0]: float(one[1]) for one in words if len(one) == 2}


def verdict(ratio: float, goal: float) -> str:
    return f"{ratio:6.3f} (goal <= {goal:.2f}: {'met' if ratio <= goal else 'NOT met'})"
