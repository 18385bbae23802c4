"""Every algorithm does what its operation promises, for every number of ranks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from data_flow import flow_of, popcounts

from chiplog.collectives.algorithm import Task
from chiplog.collectives.registry import MODULES, algorithms, load
from chiplog.errors import UsageError
from chiplog.schedule import Schedule
from chiplog.simulation import LogGOPS, simulate

RANKS = (*range(1, 20), 25, 31, 32, 33, 63, 64, 65, 70)
EAGER = LogGOPS.from_ns(L=2500, o=1500, g=1000, G=6, S_bytes=65535)
SYNCHRONOUS = LogGOPS.from_ns(L=2500, o=1500, g=1000, G=6, S_bytes=0)
EVERY = [(operation, name) for operation in MODULES for name in algorithms(operation)]


def tasks(**options: int) -> Iterator[Task]:
    for ranks in RANKS:
        yield Task(ranks, **options)


def made(operation: str, name: str, task: Task) -> Schedule | None:
    """None where the algorithm is for other numbers of ranks, and says so."""
    algorithm = load(operation, name)
    if (operation, name) == ("allgather", "recursive-doubling") and task.ranks & (task.ranks - 1):
        with pytest.raises(UsageError, match="accepts powers of two"):
            algorithm.schedule(task)
        return None
    return algorithm.schedule(task)


@pytest.mark.parametrize(("operation", "name"), EVERY)
def test_every_rank_hears_from_all_that_its_operation_promises(operation: str, name: str) -> None:
    for task in tasks(message_bytes=1000, segment_bytes=300, peers=3):
        schedule = made(operation, name, task)
        if schedule is None:
            continue
        everyone = (1 << task.ranks) - 1
        known = flow_of(schedule).known
        if operation in ("barrier", "allreduce", "allgather", "alltoall", "reduce_scatter"):
            assert all(heard == everyone for heard in known), task
        elif operation in ("bcast", "scatter"):
            assert all(heard & 1 for heard in known), task
        elif operation in ("reduce", "gather"):
            assert known[0] == everyone, task
        elif operation == "scan":
            assert all(~heard & ((2 << rank) - 1) == 0 for rank, heard in enumerate(known)), task


@pytest.mark.parametrize(("operation", "name"), EVERY)
@pytest.mark.parametrize("parameters", [EAGER, SYNCHRONOUS])
def test_every_schedule_ends_whether_sends_wait_or_not(
    operation: str, name: str, parameters: LogGOPS
) -> None:
    for task in tasks(message_bytes=1000, segment_bytes=300, peers=3):
        schedule = made(operation, name, task)
        if schedule is not None:
            assert simulate(schedule, parameters).finish_ps.size == task.ranks


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("reduce", "linear"),
        ("reduce", "binomial"),
        ("allreduce", "recursive-doubling"),
        ("allreduce", "reduce-broadcast"),
    ],
)
def test_a_reduction_adds_each_contribution_once(operation: str, name: str) -> None:
    for task in tasks():
        for message in flow_of(load(operation, name).schedule(task)).messages:
            is_result = message.carries.bit_count() == task.ranks
            assert is_result or not message.carries & message.known_before, task


@pytest.mark.parametrize("name", ["linear", "binomial"])
def test_a_gather_sends_exactly_the_blocks_that_a_rank_has(name: str) -> None:
    for task in tasks(message_bytes=7):
        for message in flow_of(load("gather", name).schedule(task)).messages:
            assert message.bytes == 7 * message.carries.bit_count()


def test_a_binomial_scatter_carries_each_block_once_a_level() -> None:
    for task in tasks(message_bytes=7):
        flow = flow_of(load("scatter", "binomial").schedule(task))
        assert flow.total_bytes == 7 * popcounts(task.ranks).sum()


@pytest.mark.parametrize("name", list(algorithms("allgather")))
def test_an_allgather_brings_each_rank_every_other_block_once(name: str) -> None:
    for task in tasks(message_bytes=7):
        schedule = made("allgather", name, task)
        if schedule is not None:
            flow = flow_of(schedule)
            assert all(flow.received_bytes(r) == 7 * (task.ranks - 1) for r in range(task.ranks))


@pytest.mark.parametrize("name", ["linear", "pairwise"])
def test_an_alltoall_brings_each_block_straight(name: str) -> None:
    for task in tasks(message_bytes=7):
        flow = flow_of(load("alltoall", name).schedule(task))
        pairs = {(one.source, one.target) for one in flow.messages}
        assert len(pairs) == len(flow.messages) == task.ranks * (task.ranks - 1)
        assert {one.bytes for one in flow.messages} <= {7}


def test_brucks_alltoall_moves_a_block_once_for_each_bit_of_its_way() -> None:
    for task in tasks(message_bytes=7):
        flow = flow_of(load("alltoall", "bruck").schedule(task))
        assert flow.total_bytes == 7 * task.ranks * popcounts(task.ranks).sum()


@pytest.mark.parametrize("name", ["linear", "binomial", "chain", "logp-optimal"])
def test_a_broadcast_brings_each_rank_the_whole_message_once(name: str) -> None:
    for task in tasks(message_bytes=1000, segment_bytes=300):
        flow = flow_of(load("bcast", name).schedule(task))
        assert all(flow.received_bytes(rank) == 1000 for rank in range(1, task.ranks))


def test_ring_allreduce_moves_what_a_reduction_must_at_least() -> None:
    for task in tasks(message_bytes=1000):
        flow = flow_of(load("allreduce", "ring").schedule(task))
        assert flow.total_bytes == 2 * 1000 * (task.ranks - 1)


def test_a_reduce_scatter_moves_what_it_must_at_least() -> None:
    for name in ("pairwise", "ring"):
        for task in tasks(message_bytes=1000):
            flow = flow_of(load("reduce_scatter", name).schedule(task))
            assert flow.total_bytes == 1000 * (task.ranks - 1)
    for ranks in (1, 2, 4, 8, 16, 32, 64):
        halving = load("reduce_scatter", "recursive-halving").schedule(Task(ranks, 1000))
        assert flow_of(halving).total_bytes == 1000 * (ranks - 1)


def test_rabenseifners_allreduce_moves_as_little_on_powers_of_two() -> None:
    for ranks in (1, 2, 4, 8, 16, 32, 64):
        flow = flow_of(load("allreduce", "rabenseifner").schedule(Task(ranks, 1000)))
        assert flow.total_bytes == 2 * 1000 * (ranks - 1)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_a_halo_exchange_is_symmetric_and_has_two_neighbours_a_dimension(dimensions: int) -> None:
    for task in tasks(dimensions=dimensions):
        schedule = load("halo", "direct").schedule(task)
        pairs = [(one.source, one.target) for one in flow_of(schedule).messages]
        assert sorted(pairs) == sorted((target, source) for source, target in pairs)
    cube = flow_of(load("halo", "direct").schedule(Task(27, dimensions=3)))
    assert all(len({m.source for m in cube.messages if m.target == r}) == 6 for r in range(27))


def test_an_unknown_algorithm_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="'magic' does no barrier; there are linear, "):
        load("barrier", "magic")
    with pytest.raises(UsageError, match="no operation 'dance'; there are barrier, "):
        algorithms("dance")
