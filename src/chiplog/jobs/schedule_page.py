"""A simulation as a page: when each rank is done, and the schedule over time."""

from __future__ import annotations

from chiplog.counts import counted
from chiplog.errors import UsageError
from chiplog.prediction.simulated import PS_PER_SECOND
from chiplog.report import format
from chiplog.report.document import Document, Picture, Section, Table, line, muted, number_columns
from chiplog.report.timeline import Arrow, BusySpan, Timeline
from chiplog.schedule import Schedule
from chiplog.simulation import Simulation
from chiplog.simulation.result import Range
from chiplog.simulation.simulate import COMPUTING, RECEIVING

MOST_RANKS, MOST_SPANS = 128, 20_000
"""Given: beyond these a picture shows nothing any more, and a browser takes long."""
EXACT_DIGITS = 6
"""Given: digits of a time that is looked up in a picture."""
EXACT_DECIMALS = 3
"""Given: decimals of times whose parameters are given, in a unit that all share."""


def schedule_page(schedule: Schedule, time_range: Range, title: str) -> Document:
    """A page on a simulation with its trace; UsageError where it is too large for a picture."""
    simulation = time_range.simulation
    if schedule.ranks > MOST_RANKS or simulation.busy.size > MOST_SPANS:
        raise UsageError(
            f"--report: draws up to {MOST_RANKS} ranks and {MOST_SPANS} spans of CPU time, not {schedule.ranks} and "
            f"{simulation.busy.size}; --trace has no such limit."
        )
    seconds, low, high = (
        time_ps / PS_PER_SECOND
        for time_ps in (simulation.makespan_ps, time_range.low_ps, time_range.high_ps)
    )
    makespan = format.value(seconds, "s", EXACT_DIGITS)
    if low != high:
        makespan = format.with_interval(seconds, low, high, "s")
    subtitle = line(muted(f"{counted(schedule.ranks, 'rank')}, done after {makespan}"))
    caption = line(
        "Each rank's CPU over time: orange sends, green receives, blue computes. A line is a "
        "message, from the start of its send to the start of its receive."
    )
    picture = Picture(caption, timeline(schedule, simulation))
    return Document(
        title,
        subtitle,
        (
            Section("picture", line("The schedule over time"), (picture,)),
            Section("ranks", line("When each rank is done"), (_finish(time_range),)),
        ),
    )


def timeline(schedule: Schedule, simulation: Simulation) -> Timeline:
    """The CPU times and messages of a simulation with its trace."""
    sent: dict[int, float] = {}
    spans: list[BusySpan] = []
    arrows: list[Arrow] = []
    for start_ps, end_ps, operation, work in simulation.busy.tolist():
        start, end = start_ps / PS_PER_SECOND, end_ps / PS_PER_SECOND
        record = schedule.operations[operation]
        rank, peer = int(record["rank"]), int(record["peer"])
        text = schedule.describe(operation)
        if work == RECEIVING:
            spans.append(BusySpan(peer, start, end, "receive", f"rank {peer} receives {text}"))
            if operation in sent:
                arrows.append(Arrow(rank, sent[operation], peer, start))
            continue
        sent[operation] = start
        spans.append(BusySpan(rank, start, end, "calc" if work == COMPUTING else "send", text))
    rows = tuple(f"rank {rank}" for rank in range(schedule.ranks))
    return Timeline(rows, tuple(spans), tuple(arrows))


def _finish(time_range: Range) -> Table:
    """In one unit, to three decimals or to what the interval of the makespan bears."""
    simulation = time_range.simulation
    scale = format.scale_for(simulation.makespan_ps / PS_PER_SECOND, "s")
    ends = simulation.makespan_ps, time_range.low_ps, time_range.high_ps
    decimals = EXACT_DECIMALS
    if time_range.low_ps != time_range.high_ps:
        decimals = format.decimals_of(*(end / PS_PER_SECOND / scale.factor for end in ends))
    rows = tuple(
        (line(str(rank)), line(f"{time_ps / PS_PER_SECOND / scale.factor:,.{decimals}f}"))
        for rank, time_ps in enumerate(simulation.finish_ps.tolist())
    )
    columns = number_columns("Rank", f"Done after ({scale.unit})")
    return Table(line("A rank is done when its last CPU is free for good."), columns, rows)
