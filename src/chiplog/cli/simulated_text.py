"""What `chiplog simulate` prints: the makespan, and when each rank is done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from chiplog.counts import counted
from chiplog.messages import SCREEN_ROWS

if TYPE_CHECKING:
    from chiplog.jobs.simulated_model import CorrectedMakespan
    from chiplog.simulation import Simulation
    from chiplog.simulation.repeated import RepeatedRuns
    from chiplog.simulation.result import Range

PS_PER_UNIT = {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3}
"""Given: picoseconds of each unit."""


def simulated_lines(simulation: Simulation, time_range: Range | None) -> Iterator[str]:
    """The lines; ranks that follow each other and are done at the same time share one."""
    finish_ps = simulation.finish_ps.tolist()
    last_ps = max(finish_ps)
    unit = _unit(last_ps)
    interval = ""
    if time_range is not None:
        low, high = (
            f"{end / PS_PER_UNIT[unit]:.6g}" for end in (time_range.low_ps, time_range.high_ps)
        )
        interval = (
            f"  ({low} to {high} {unit}, 95 %, with the model's error)" if low != high else ""
        )
    yield f"makespan  {_exact(last_ps)}{interval}"
    ranges = _alike(finish_ps)
    for first, last in ranges[:SCREEN_ROWS]:
        ranks = f"rank {first}" if first == last else f"ranks {first} to {last}"
        yield f"{ranks}  {_exact(finish_ps[first])}"
    if len(ranges) > SCREEN_ROWS:
        more = len(finish_ps) - ranges[SCREEN_ROWS][0]
        yield f"… and {counted(more, 'more rank')}: --json FILE has all"


def corrected_lines(corrected: CorrectedMakespan) -> Iterator[str]:
    """The lines of a makespan that anchors correct, below that of the simulation."""
    from chiplog.cli.prediction_table import correction_text
    from chiplog.messages import wrapped

    unit = _unit(corrected.makespan_ps)
    makespan, low, high = (
        f"{time_ps / PS_PER_UNIT[unit]:.6g}"
        for time_ps in (corrected.makespan_ps, corrected.low_ps, corrected.high_ps)
    )
    yield f"corrected  {makespan} {unit}  ({low} to {high} {unit}, 95 %)"
    yield wrapped(correction_text(corrected.correction), "  ")


def repeated_lines(repeated: RepeatedRuns) -> Iterator[str]:
    """The lines of many runs with noise, below that of the run without it."""
    tail = repeated.quantile_95_ps
    times = [("median", repeated.median_ps)]
    times += [] if tail is None else [("95 % point", tail)]
    times += [("shortest", repeated.makespan_ps.min()), ("longest", repeated.makespan_ps.max())]
    yield f"with noise, {counted(repeated.runs, 'run')} from seed {repeated.seed} on"
    for name, time_ps in times:
        yield f"{name:10}  {_exact(round(time_ps))}"
    if tail is None:
        yield "95 % point  needs 19 runs or more"
    if repeated.makespan_ps.min() == repeated.makespan_ps.max():
        yield "All runs are alike: this noise makes no rank's work longer."
        return
    named = (f"rank {rank} ({times})" for rank, times in repeated.slowest_ranks)
    yield f"last in most runs: {', '.join(named)}"


def _alike(finish_ps: Sequence[int]) -> list[tuple[int, int]]:
    """The first and the last of ranks that are done at the same time."""
    begins = [
        rank for rank in range(len(finish_ps)) if not rank or finish_ps[rank] != finish_ps[rank - 1]
    ]
    return list(
        zip(begins, [*(begin - 1 for begin in begins[1:]), len(finish_ps) - 1], strict=True)
    )


def _unit(time_ps: int) -> str:
    return next((unit for unit, ps in PS_PER_UNIT.items() if time_ps >= ps), "ns")


def _exact(time_ps: int) -> str:
    """To the picosecond, in the unit that keeps it short.

    >>> _exact(584_425_800), _exact(2_000_000), _exact(0)
    ('584.4258 us', '2 us', '0 ns')
    """
    unit = _unit(time_ps)
    return f"{Decimal(time_ps) / PS_PER_UNIT[unit]} {unit}"
