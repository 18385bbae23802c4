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
    """The lines; ranks that follow each other and read alike share one."""
    finish_ps = simulation.finish_ps.tolist()
    last_ps = max(finish_ps)
    interval = ""
    if time_range is not None and time_range.low_ps != time_range.high_ps:
        _, ends = _with_interval(last_ps, time_range.low_ps, time_range.high_ps)
        interval = f"  {ends}  (95 %, with the model's error)"
    yield f"makespan  {_shown(last_ps, time_range)}{interval}"
    times = [_shown(time_ps, time_range) for time_ps in finish_ps]
    ranges = _alike(times)
    for first, last in ranges[:SCREEN_ROWS]:
        ranks = f"rank {first}" if first == last else f"ranks {first} to {last}"
        yield f"{ranks}  {times[first]}"
    if len(ranges) > SCREEN_ROWS:
        more = len(finish_ps) - ranges[SCREEN_ROWS][0]
        yield f"… and {counted(more, 'more rank')}: --json FILE has all"


def corrected_lines(corrected: CorrectedMakespan) -> Iterator[str]:
    """The lines of a makespan that anchors correct, below that of the simulation."""
    from chiplog.cli.prediction_table import correction_text
    from chiplog.messages import wrapped

    makespan, ends = _with_interval(corrected.makespan_ps, corrected.low_ps, corrected.high_ps)
    yield f"corrected  {makespan}  {ends}  (95 %)"
    yield wrapped(correction_text(corrected.correction), "  ")


def repeated_lines(repeated: RepeatedRuns, time_range: Range | None) -> Iterator[str]:
    """The lines of many runs with noise, below that of the run without it."""
    tail = repeated.quantile_95_ps
    times = [("median", repeated.median_ps)]
    times += [] if tail is None else [("95 % point", tail)]
    times += [("shortest", repeated.makespan_ps.min()), ("longest", repeated.makespan_ps.max())]
    yield f"with noise, {counted(repeated.runs, 'run')} from seed {repeated.seed} on"
    for name, time_ps in times:
        yield f"{name:10}  {_shown(round(time_ps), time_range)}"
    if tail is None:
        yield "95 % point  needs 19 runs or more"
    if repeated.makespan_ps.min() == repeated.makespan_ps.max():
        yield "All runs are alike: this noise makes no rank's work longer."
        return
    named = (f"rank {rank} ({times})" for rank, times in repeated.slowest_ranks)
    yield f"last in most runs: {', '.join(named)}"


def _with_interval(time_ps: float, low_ps: float, high_ps: float) -> tuple[str, str]:
    from chiplog.report import format

    seconds, low, high = (each / PS_PER_UNIT["s"] for each in (time_ps, low_ps, high_ps))
    return format.value_and_interval(seconds, low, high, "s")


def _shown(time_ps: int, time_range: Range | None) -> str:
    """Exact where the parameters are given; with no more digits than the fit's interval bears where they are fitted."""
    if time_range is None or time_range.low_ps == time_range.high_ps:
        return _exact(time_ps)
    from chiplog.report import format

    middle_ps = time_range.simulation.makespan_ps
    whole = (middle_ps, time_range.low_ps, time_range.high_ps)
    return format.in_proportion(time_ps / PS_PER_UNIT["s"], whole, "s")


def _alike(times: Sequence[str]) -> list[tuple[int, int]]:
    """The first and the last of ranks whose times read alike."""
    begins = [rank for rank in range(len(times)) if not rank or times[rank] != times[rank - 1]]
    return list(zip(begins, [*(begin - 1 for begin in begins[1:]), len(times) - 1], strict=True))


def _unit(time_ps: int) -> str:
    return next((unit for unit, ps in PS_PER_UNIT.items() if time_ps >= ps), "ns")


def _exact(time_ps: int) -> str:
    """To the picosecond, in the unit that keeps it short.

    >>> _exact(584_425_800), _exact(2_000_000), _exact(0)
    ('584.4258 us', '2 us', '0 ns')
    """
    unit = _unit(time_ps)
    return f"{Decimal(time_ps) / PS_PER_UNIT[unit]} {unit}"
