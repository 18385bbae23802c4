"""A small fit that holds something in every member, to be written, read and damaged by tests."""

from __future__ import annotations

import math

import numpy as np

from chiplog.fitting.result import Cost, Curve, Fit, FitError, Parameter, Segment
from chiplog.protocol_changes.change import Change


def example_fit() -> Fit:
    """Two segments, one parameter not identified, a NaN wherever a fit may have one."""
    parameters = {
        "L": Parameter("L", 4.574e-05, 4.5e-05, 4.6e-05, "s", True),
        "g": Parameter("g", None, None, None, "s", False, "o_s exceeds the gap at every size."),
    }
    sizes = np.array([1, 2, 4])
    seconds = np.array([1e-6, math.pi * 1e-6, np.nan])
    return Fit(
        model="loggp",
        method="prtt",
        transport="tcp",
        operation="send",
        direction="one-way",
        statistic="median",
        segments=(Segment(1, 12288, parameters), Segment(12289, 65536, {})),
        changes=(Change(12288, 12289, "jump", 0.3, ("o_s", "gap"), 6951.25), Change(5, 6, "both")),
        error=FitError(120, 0.012, 0.009, 0.05, 1.012),
        cost=Cost(40000, 123456789, 0.8),
        curves=(Curve("gap", sizes, seconds, seconds / 2, seconds * 2, seconds),),
        warnings=("one warning",),
        draws={"0/L": np.array([4.5740001234e-05, np.nan])},
    )
