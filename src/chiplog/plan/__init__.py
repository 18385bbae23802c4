"""Plans: which points to measure, in which order, at which predicted cost. Nothing here touches a network."""

from __future__ import annotations

from chiplog.dataset.patterns import PATTERNS
from chiplog.plan.assessment import parse_patterns
from chiplog.plan.cost import PlanCost
from chiplog.plan.plan import DEFAULT_SIZES, GRID, WARM_UP, Plan, PlanOptions, make_plan
from chiplog.plan.request import Request, SeriesRequest, StopRule
from chiplog.plan.sizes import parse_sizes

__all__ = [
    "DEFAULT_SIZES",
    "GRID",
    "PATTERNS",
    "WARM_UP",
    "Plan",
    "PlanCost",
    "PlanOptions",
    "Request",
    "SeriesRequest",
    "StopRule",
    "make_plan",
    "parse_patterns",
    "parse_sizes",
]
