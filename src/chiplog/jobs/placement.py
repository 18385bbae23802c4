"""In which placement states of the cores a run was measured: virtual machines move them, and latencies with them."""

from __future__ import annotations

import numpy as np

from chiplog.dataset.series import Dataset
from chiplog.report.input import Placement, PlacementState

APART = 1.35
"""Two records whose bare flag exchanges differ by more than this factor were measured in different states."""
FEWEST_SHARE = 0.02
"""A state with a smaller share of the records is a disturbance, no state."""


def placement_of(dataset: Dataset) -> Placement | None:
    """The states, ascending by their bare flag exchange; None where the ranks did not share a host."""
    records = {
        series.record_id: (series.placement_seconds, series.launch)
        for series in dataset.series
        if series.placement_seconds is not None and series.placement_seconds > 0
    }
    if not records:
        return None
    ordered = sorted(records.values())
    seconds = np.array([flag for flag, _ in ordered])
    borders = np.flatnonzero(seconds[1:] > APART * seconds[:-1]) + 1
    groups = np.split(np.arange(len(ordered)), borders)
    states = tuple(
        PlacementState(
            flag_seconds=float(np.median(seconds[group])),
            records=len(group),
            launches=tuple(sorted({ordered[index][1] for index in group})),
        )
        for group in groups
        if len(group) >= FEWEST_SHARE * len(ordered)
    )
    return Placement(states, _note(states))


def _note(states: tuple[PlacementState, ...]) -> str | None:
    if len(states) < 2:
        return None
    times = ", ".join(f"{state.flag_seconds * 1e9:.0f} ns" for state in states)
    return (
        f"The cores were in {len(states)} placement states (bare flag exchange {times}): medians mix them, and "
        "runs in different states differ for that reason."
    )
