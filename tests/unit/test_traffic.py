"""Which messages of a schedule cross others: told from what operations wait for."""

from __future__ import annotations

import numpy as np
import pytest

from chiplog.collectives.algorithm import Task
from chiplog.collectives.registry import load
from chiplog.schedule import ScheduleBuilder
from chiplog.schedule.arrays import SEND
from chiplog.schedule.traffic import Traffic, traffic_of


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
        ("gather", "linear"),
        ("reduce", "binomial"),
        ("barrier", "linear"),
        ("scatter", "binomial"),
    ],
)
def test_messages_of_trees_and_rings_of_one_token_are_alone(operation: str, algorithm: str) -> None:
    assert set(kinds(operation, algorithm, Task(8, 64))) == {Traffic.ALONE}


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
