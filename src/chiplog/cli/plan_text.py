"""What `--dry-run` prints."""

from __future__ import annotations

from collections import Counter

from chiplog.cli.output import wrapped
from chiplog.counts import counted
from chiplog.plan import GRID, Plan
from chiplog.plan.units import format_bytes


def plan_text(target: str, plan: Plan) -> str:
    """The plan in words: sizes, order, visits and predicted cost."""
    options, predicted = plan.options, plan.predicted
    sizes = options.sizes
    grid = Counter(
        series.pattern for r in plan.requests if r.tag["purpose"] == GRID for series in r.series
    )
    per_point = options.visits * options.launches * len(sizes)
    patterns = ", ".join(f"{name} ({count // per_point} series)" for name, count in grid.items())
    lines = [
        f"target     {target}",
        f"sizes      {len(sizes)} from {format_bytes(sizes[0])} to {format_bytes(sizes[-1])}",
        f"patterns   {patterns}",
        f"order      shuffled, seed {options.seed}; {counted(options.visits, 'visit')} of each size, "
        f"{counted(options.launches, 'launch', 'launches')}",
        f"records    {len(plan.requests)}, refinement not counted",
        f"predicted  {predicted.seconds:.1f} s, {predicted.messages} messages, {predicted.bytes / 1e9:.2f} GB "
        "on the wire",
    ]
    return "\n".join(wrapped(line, " " * 11) for line in lines)
