"""The critical path of random schedules: its costs add up to the makespan, and its slopes are differences."""

from __future__ import annotations

import random
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_schedules import drawn_parameters, random_programs, schedule_of

from chiplog.errors import RunFailed
from chiplog.schedule.arrays import Schedule
from chiplog.simulation import Conditions, LogGOPS, Protocol, simulate
from chiplog.simulation.critical_path import CriticalPath, LineCounts
from chiplog.simulation.parameters import MessageTimes

TIMES = ("L_ps", "o_ps", "g_ps", "G_as", "O_as")
ATTOSECONDS = 10**6
"""Of a picosecond."""


def drawn_schedule(seed: int, cpus: int) -> Schedule:
    draw = random.Random(seed)
    programs = random_programs(
        seed,
        ranks=draw.randrange(1, 7),
        messages=draw.randrange(1, 40),
        wildcards=draw.random() < 0.5,
        cpus=cpus,
    )
    return schedule_of(programs)


def seconds_of_path(path: CriticalPath, parameters: LogGOPS) -> int:
    """The costs along the path in picoseconds, of one protocol whose times a byte are whole picoseconds."""
    costs = parameters.protocols[0]
    assert isinstance(costs, MessageTimes)
    total = path.computing_ps
    for name in ("send", "nic", "receive", "one_way"):
        counts: LineCounts = getattr(path, name)
        total += counts.starts * getattr(costs, f"{name}_ps")
        total += counts.further_bytes * getattr(costs, f"{name}_as") // ATTOSECONDS
    return total


@settings(max_examples=1000, deadline=None)
@given(seed=st.integers(0, 2**32), cpus=st.sampled_from([1, 1, 2, 3]))
def test_the_path_begins_at_the_start_and_changes_no_time(seed: int, cpus: int) -> None:
    schedule = drawn_schedule(seed, cpus)
    parameters = drawn_parameters(random.Random(seed))[0]
    try:
        plain = simulate(schedule, parameters)
    except RunFailed:
        return
    followed = simulate(schedule, parameters, follow=True)
    assert followed.finish_ps.tolist() == plain.finish_ps.tolist()
    assert followed.critical_path is not None
    steps = followed.critical_path.steps
    assert steps.size == 0 or steps["start_ps"][0] == 0
    assert steps.size > 0 or plain.makespan_ps == 0
    assert (steps["start_ps"][1:] >= steps["start_ps"][:-1]).all()


@settings(max_examples=1000, deadline=None)
@given(seed=st.integers(0, 2**32), cpus=st.sampled_from([1, 1, 2]), keeps_up=st.booleans())
def test_the_costs_along_the_path_are_the_makespan(seed: int, cpus: int, keeps_up: bool) -> None:
    draw = random.Random(seed)
    starts = (draw.choice((0, 7, 5003, 900_001)) for _ in range(3))
    slopes = (draw.choice((0, 1, 6)) * ATTOSECONDS for _ in range(4))
    send, nic, receive = starts
    send_as, nic_as, receive_as, one_way_as = slopes
    one_way = receive + draw.choice((0, 11, 70_003))
    times = MessageTimes(
        0, send, send_as, nic, nic_as, receive, receive_as, one_way, one_way_as, keeps_up
    )
    parameters = LogGOPS((times,), draw.choice((0, 8, 2**64 - 1)))
    try:
        simulation = simulate(drawn_schedule(seed, cpus), parameters, follow=True)
    except RunFailed:
        return
    assert simulation.critical_path is not None
    assert seconds_of_path(simulation.critical_path, parameters) == simulation.makespan_ps


def changed(parameters: LogGOPS, name: str, by: int) -> LogGOPS:
    protocol = parameters.protocols[0]
    return replace(
        parameters, protocols=(replace(protocol, **{name: getattr(protocol, name) + by}),)
    )


@pytest.mark.parametrize("seed", range(200))
def test_slopes_are_differences(seed: int) -> None:
    """One picosecond more and less; where both differ, the order of events changes there."""
    draw = random.Random(seed)
    protocol = Protocol(0, *(draw.randrange(10**5, 10**7) for _ in range(3)), 0, 0)
    G_as = draw.randrange(100, 5000) * ATTOSECONDS
    O_as = draw.choice((0, draw.randrange(100, 5000) * ATTOSECONDS))
    parameters = LogGOPS((replace(protocol, G_as=G_as, O_as=O_as),), draw.choice((8, 2**64 - 1)))
    schedule = drawn_schedule(seed, draw.choice((1, 2)))
    try:
        middle = simulate(schedule, parameters, follow=True)
    except RunFailed:
        return
    assert middle.critical_path is not None
    slopes = middle.critical_path.slopes(middle.schedule, parameters)
    assert slopes is not None
    assert [field.name for field in fields(Protocol)][1:] == list(TIMES)
    for name, slope in zip(TIMES, slopes, strict=False):
        step = ATTOSECONDS if name.endswith("_as") else 1
        if name == "O_as" and O_as == 0:
            continue
        after, before = (
            simulate(schedule, changed(parameters, name, way * step)).makespan_ps for way in (1, -1)
        )
        more, less = after - middle.makespan_ps, middle.makespan_ps - before
        assert slope in (more, less)


def test_what_the_path_does_not_know_is_refused() -> None:
    schedule = drawn_schedule(1, 1)
    parameters = drawn_parameters(random.Random(1))[0]
    with pytest.raises(ValueError, match="without noise, shared rates"):
        simulate(schedule, parameters, conditions=Conditions(free_messages=2), follow=True)
