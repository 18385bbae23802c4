"""Which messages of a schedule cross others: told from what operations wait for."""

from __future__ import annotations

import numpy as np
import pytest

from chiplog.collectives.algorithm import Task
from chiplog.collectives.registry import load
from chiplog.schedule import ScheduleBuilder
from chiplog.schedule.arrays import ANY, SEND
from chiplog.schedule.traffic import Traffic, incasts_of, traffic_of


def kinds(operation: str, algorithm: str, task: Task) -> list[Traffic]:
    schedule = load(operation, algorithm).schedule(task)
    sends = schedule.operations["kind"] == SEND
    return [Traffic(value) for value in traffic_of(schedule)[sends]]


@pytest.mark.parametrize(
    ("operation", "algorithm"),
    [
        ("barrier", "dissemination"),
        ("allgather", "ring"),
        ("allgather", "bruck"),
        ("allreduce", "recursive-doubling"),
        ("allreduce", "rabenseifner"),
        ("alltoall", "pairwise"),
    ],
)
def test_ranks_that_send_one_message_and_receive_one_exchange(
    operation: str, algorithm: str
) -> None:
    assert set(kinds(operation, algorithm, Task(8, 64))) == {Traffic.EXCHANGE}


@pytest.mark.parametrize(
    ("operation", "algorithm"),
    [
        ("barrier", "double-ring"),
        ("bcast", "binomial"),
        ("reduce", "binomial"),
        ("barrier", "linear"),
        ("scatter", "binomial"),
    ],
)
def test_messages_of_trees_and_rings_of_one_token_are_alone(operation: str, algorithm: str) -> None:
    assert set(kinds(operation, algorithm, Task(8, 64))) == {Traffic.ALONE}


def incasts(operation: str, algorithm: str, ranks: int) -> int:
    """How many messages meet others at their receivers only."""
    return int(np.sum(incasts_of(load(operation, algorithm).schedule(Task(ranks, 64)))))


@pytest.mark.parametrize("ranks", [3, 5, 8])
def test_messages_of_many_ranks_to_one_meet_there(ranks: int) -> None:
    assert incasts("gather", "linear", ranks) == incasts("reduce", "linear", ranks) == ranks - 1
    for operation, algorithm in (
        ("gather", "binomial"),
        ("barrier", "tree"),
        ("allreduce", "recursive-doubling"),
        ("alltoall", "linear"),
    ):
        assert incasts(operation, algorithm, ranks) == 0, algorithm
    assert incasts("gather", "linear", 2) == 0


def test_a_train_of_one_sender_and_a_receive_of_any_rank_are_no_incast() -> None:
    train = ScheduleBuilder(2)
    train.receive([0, 0], source=[1, 1], message_bytes=8)
    train.send([1, 1], to=[0, 0], message_bytes=8)
    assert not incasts_of(train.build()).any()
    wild = ScheduleBuilder(3)
    wild.receive([0, 0], source=[ANY, ANY], message_bytes=8)
    wild.send([1, 2], to=[0, 0], message_bytes=8)
    assert not incasts_of(wild.build()).any()


def test_several_messages_at_once_are_a_burst() -> None:
    assert set(kinds("alltoall", "linear", Task(5, 64))) == {Traffic.BURST}
    assert set(kinds("halo", "direct", Task(9, 64, dimensions=2))) == {Traffic.BURST}
    assert set(kinds("barrier", "n-way-dissemination", Task(9, 1, peers=2))) == {Traffic.BURST}
    assert set(kinds("barrier", "n-way-dissemination", Task(8, 1, peers=1))) == {Traffic.EXCHANGE}


def test_folded_ranks_send_alone_and_a_pipeline_exchanges_in_its_middle() -> None:
    folded = kinds("allreduce", "recursive-doubling", Task(5, 64))
    assert folded.count(Traffic.ALONE) == 2
    assert folded.count(Traffic.EXCHANGE) == 8
    chain = kinds("bcast", "chain", Task(4, 4096, segment_bytes=1024))
    assert chain.count(Traffic.EXCHANGE) == 2 * 3  # not of the first rank, nor the last segment


def test_what_waits_for_something_else_does_not_begin_at_once() -> None:
    builder = ScheduleBuilder(2)
    ranks = np.arange(2)
    received = builder.receive(ranks, source=1 - ranks, message_bytes=8)
    builder.send(ranks, to=1 - ranks, message_bytes=8, after=[received])
    assert traffic_of(builder.build()).tolist() == [0, 0, 0, 0]
