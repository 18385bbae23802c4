"""A replay as a picture: what each rank does, and the critical path through it; of a long one a part."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chiplog.jobs.application_tables import time_text
from chiplog.jobs.replay import ReplayBy
from chiplog.jobs.schedule_page import EXACT_DIGITS, MOST_RANKS, timeline
from chiplog.prediction.simulated import PS_PER_SECOND
from chiplog.report import format
from chiplog.report.document import Inline, Picture, Table, line, number_columns
from chiplog.report.timeline import Timeline
from chiplog.schedule.arrays import CALC, Schedule
from chiplog.simulation import Simulation, simulate
from chiplog.simulation.critical_path import CriticalPath

MOST_SPANS = 2000
"""Given: more of them, in the width of a page, can't be told apart."""
MOST_RANK_ROWS = 16
"""Given: what a page has room for."""


@dataclass(frozen=True)
class ReplayPicture:
    """The picture, which is None of more ranks than a page shows, and the critical path by rank."""

    picture: Picture | None
    by_rank: Table


def replay_picture(schedule: Schedule, by: ReplayBy) -> ReplayPicture:
    """Of the replay with the parameters in the middle of what is known; RunFailed as of `simulate`."""
    simulation = simulated_in_the_middle(schedule, by)
    schedule = simulation.schedule
    path = simulation.critical_path
    assert path is not None
    by_rank = _by_rank(schedule, path, simulation.makespan_ps)
    if schedule.ranks > MOST_RANKS or not simulation.busy.size:
        return ReplayPicture(None, by_rank)
    begin_ps, end_ps = _window(simulation)
    busy = simulation.busy
    inside = (busy["end_ps"] > begin_ps) & (busy["start_ps"] < end_ps)
    whole = timeline(schedule, replace(simulation, busy=busy[inside]))
    corners = _corners(schedule, path, simulation.makespan_ps)
    begin, end = begin_ps / PS_PER_SECOND, end_ps / PS_PER_SECOND
    shown = _cut(replace(whole, path=corners), begin, end)
    return ReplayPicture(Picture(_caption(simulation, begin, end), shown), by_rank)


def simulated_in_the_middle(schedule: Schedule, by: ReplayBy) -> Simulation:
    """With all busy times, and the critical path."""
    if by.fitted is not None:
        return by.fitted.times(schedule, by.conditions).in_the_middle(trace=True, follow=True)
    assert by.parameters is not None
    return simulate(schedule, by.parameters, conditions=by.conditions, trace=True, follow=True)


def _window(simulation: Simulation) -> tuple[int, int]:
    """All of the time, or so much from its middle on as has MOST_SPANS spans."""
    busy = simulation.busy
    if busy.size <= MOST_SPANS:
        return 0, simulation.makespan_ps
    starts = np.sort(busy["start_ps"])
    first = (busy.size - MOST_SPANS) // 2
    return int(starts[first]), int(starts[first + MOST_SPANS])


def _caption(simulation: Simulation, begin: float, end: float) -> Inline:
    whole = simulation.makespan_ps / PS_PER_SECOND
    text = (
        "Each rank's CPU over time by the model: orange sends, green receives, blue computes. Thin lines are messages; "
        "the thick line is the critical path, the chain of computing and messages that decides when all are done."
    )
    if begin > 0.0 or end < whole:
        part = format.brief(end - begin, "s")
        text += (
            f" Shown are {part} of {format.value(whole, 's')}, from {format.value(begin, 's', EXACT_DIGITS)} on, which "
            "is 0 here: the picture of all would be too dense to read."
        )
    return line(text)


def _ranks_of(schedule: Schedule, path: CriticalPath) -> NDArray[np.int64]:
    operations = schedule.operations[path.steps["operation"]]
    return np.asarray(
        np.where(path.steps["at_receiver"] > 0, operations["peer"], operations["rank"]), np.int64
    )


def _corners(
    schedule: Schedule, path: CriticalPath, makespan_ps: int
) -> tuple[tuple[float, int], ...]:
    """Where the critical path is, from its start to the makespan."""
    if not path.steps.size:
        return ()
    ranks = _ranks_of(schedule, path).tolist()
    starts = (path.steps["start_ps"] / PS_PER_SECOND).tolist()
    return (*zip(starts, ranks, strict=True), (makespan_ps / PS_PER_SECOND, ranks[-1]))


def _cut(shown: Timeline, begin: float, end: float) -> Timeline:
    """What lies between two times, which the first of them begins at 0."""
    spans = tuple(
        replace(span, start=max(span.start, begin) - begin, end=min(span.end, end) - begin)
        for span in shown.spans
    )
    arrows = tuple(
        replace(arrow, start=arrow.start - begin, end=arrow.end - begin)
        for arrow in shown.arrows
        if begin <= arrow.start and arrow.end <= end
    )
    times = np.array([at for at, _ in shown.path])
    first = max(int(np.searchsorted(times, begin, side="right")) - 1, 0)
    last = int(np.searchsorted(times, end, side="left")) + 1
    path = tuple((min(max(at, begin), end) - begin, row) for at, row in shown.path[first:last])
    return Timeline(shown.rows, spans, arrows, path)


def _by_rank(schedule: Schedule, path: CriticalPath, makespan_ps: int) -> Table:
    """How long the critical path is on each rank, by kind."""
    steps = path.steps
    ranks = _ranks_of(schedule, path)
    lasting = np.diff(steps["start_ps"], append=makespan_ps) / PS_PER_SECOND
    computes = schedule.operations["kind"][steps["operation"]] == CALC
    flies = np.zeros(steps.size, bool)
    flies[:-1] = (ranks[1:] != ranks[:-1]) & (steps["operation"][1:] == steps["operation"][:-1])
    kinds = (computes, ~computes & ~flies, flies)
    sums = np.array(
        [np.bincount(ranks[kind], lasting[kind], minlength=schedule.ranks) for kind in kinds]
    )
    order = np.argsort(-sums.sum(axis=0), kind="stable")
    rows = tuple(
        (line(str(rank)), *(line(time_text(seconds)) for seconds in sums[:, rank]))
        for rank in order[:MOST_RANK_ROWS].tolist()
        if sums[:, rank].any()
    )
    columns = number_columns("Rank", "Computing", "Sending and receiving", "Messages under way")
    caption = line(
        "How long the critical path is on each rank; a message under way counts for its sender."
    )
    return Table(caption, columns, rows)
