"""The simulator against a slow one, and GOAL text against itself, on random schedules."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loggops_by_hand import ANY, BySize, Extras, Op, Params, Slow

from chiplog.errors import RunFailed
from chiplog.schedule import arrays
from chiplog.schedule.arrays import DEPENDENCY, OPERATION, Schedule
from chiplog.schedule.goal import read_goal, write_goal
from chiplog.simulation import Conditions, LogGOPS, Noise, PairClasses, Protocol, simulate
from chiplog.simulation.conditions import DISTRIBUTIONS

KINDS = {"send": arrays.SEND, "recv": arrays.RECEIVE, "calc": arrays.CALC}
MANY = settings(max_examples=3000, deadline=None)
SIZES = (0, 1, 2, 8, 1000, 70000)


def schedule_of(programs: list[list[Op]]) -> Schedule:
    operations, ends, starts = [], [], []
    first = 0
    for rank, program in enumerate(programs):
        for index, op in enumerate(program):
            peer, tag = (arrays.ANY if value == ANY else value for value in (op.peer, op.tag))
            operations.append((op.amount, rank, peer, tag, KINDS[op.kind], op.cpu, op.nic, 0))
            ends += [(first + index, first + on) for on in op.ends]
            starts += [(first + index, first + on) for on in op.starts]
        first += len(program)
    return Schedule(
        len(programs),
        np.array(operations, OPERATION),
        np.array(ends, DEPENDENCY),
        np.array(starts, DEPENDENCY),
    )


def random_programs(
    seed: int, *, ranks: int, messages: int, wildcards: bool, cpus: int
) -> list[list[Op]]:
    """Matching sends and receives on random ranks, calcs between them, and random dependencies, mostly backwards."""
    draw = random.Random(seed)
    programs: list[list[Op]] = [[] for _ in range(ranks)]

    def add(rank: int, op: Op) -> None:
        program = programs[rank]
        op.cpu, op.nic = draw.randrange(cpus), draw.randrange(cpus)
        share = draw.choice((0.0, 0.2, 0.6))
        op.ends = [i for i in range(len(program)) if draw.random() < share / (1 + len(program) - i)]
        op.starts = [i for i in range(len(program)) if draw.random() < 0.1 and i not in op.ends]
        program.append(op)

    pending: list[tuple[int, Op]] = []
    for _ in range(messages):
        source, target = draw.randrange(ranks), draw.randrange(ranks)
        size, tag = draw.choice(SIZES), draw.randrange(3)
        pending.append((source, Op("send", size, target, tag)))
        any_source = ANY if wildcards and draw.random() < 0.3 else source
        any_tag = ANY if wildcards and draw.random() < 0.3 else tag
        pending.append((target, Op("recv", size, any_source, any_tag)))
        if draw.random() < 0.4:
            pending.append((draw.randrange(ranks), Op("calc", draw.choice((0, 1, 700, 5000)))))
    if draw.random() < 0.7:
        draw.shuffle(pending)
    for rank, op in pending:
        add(rank, op)
    return programs


Drawn = tuple[LogGOPS, BySize]


def drawn_parameters(draw: random.Random) -> Drawn:
    """Ones that often coincide, so that much happens at the same time; of two protocols, mostly alike."""

    def protocol() -> dict[str, int]:
        choices = {
            "L": (0, 3, 2500),
            "o": (0, 2, 1500),
            "g": (0, 5, 1000, 4000),
            "G": (0, 1, 6),
            "O": (0, 1, 9),
        }
        return {name: draw.choice(values) for name, values in choices.items()}

    short = protocol()
    long = protocol() if draw.random() < 0.3 else short
    last_short, S = draw.choice((1, 2, 1000)), draw.choice((0, 1, 8, 65535))
    protocols = (Protocol.from_ns(**short), Protocol.from_ns(**long, first_bytes=last_short + 1))
    in_ps = [Params(**{name: 1000 * value for name, value in one.items()}) for one in (short, long)]
    return LogGOPS(protocols, S), BySize(*in_ps, last_short, S)


def drawn_extras(draw: random.Random, ranks: int) -> tuple[Conditions, Extras]:
    """Some of all that may be added to LogGOPS."""
    noise: dict[str, Any] = {}
    if draw.random() < 0.4:
        noise["distribution"] = draw.choice(DISTRIBUTIONS[1:])
        noise["mean_ps"], noise["mean_share"] = draw.choice((0.0, 300.5)), draw.choice((0.0, 0.1))
        noise["probability"] = draw.choice((0.3, 1.0))
    detours = draw.choice(
        ((), ((0, 700_001), (1_500_000, 1)), ((4_000_000, 500_000), (4_500_000, 1), (9_900_000, 7)))
    )
    seed = draw.randrange(2**64)
    pairs: PairClasses | None = None
    between: tuple[tuple[BySize, ...], ...] = ()
    groups = tuple(draw.randrange(2) for _ in range(ranks))
    if draw.random() < 0.3 and max(groups) == 1:
        classes = [drawn_parameters(draw) for _ in range(3)]
        of_groups = ((0, 1), (2, 0))
        pairs = PairClasses(tuple(one.protocols for one, _ in classes), groups, of_groups)
        between = tuple(tuple(classes[number][1] for number in row) for row in of_groups)
    per_node, ps_per_byte = draw.choice(((0, 0), (2, 1000), (3, 50)))
    free = draw.choice((1, 1, 2, 5))
    conditions = Conditions(
        noise=Noise(**noise, detours_ps=detours, seed=seed),
        ranks_per_node=per_node,
        node_bytes_per_second=10**12 / ps_per_byte if ps_per_byte else 0.0,
        free_messages=free,
        pairs=pairs,
    )
    return conditions, Extras(
        free, per_node, ps_per_byte, groups, between, **noise, detours=detours, seed=seed
    )


PLAIN = (Conditions(), Extras())


def assert_same(
    programs: list[list[Op]],
    fast: LogGOPS,
    slow: BySize,
    extras: tuple[Conditions, Extras] = PLAIN,
) -> None:
    conditions, slow_extras = extras
    reference = Slow(programs, slow, slow_extras)
    expected = reference.run()
    if expected is None:
        with pytest.raises(RunFailed, match="can't finish"):
            simulate(schedule_of(programs), fast, conditions=conditions)
        return
    found = simulate(schedule_of(programs), fast, conditions=conditions)
    assert found.finish_ps.tolist() == expected
    assert found.events == reference.events


@MANY
@given(
    seed=st.integers(0, 2**32),
    ranks=st.integers(1, 6),
    messages=st.integers(0, 40),
    wildcards=st.booleans(),
    cpus=st.sampled_from([1, 1, 2, 3]),
)
def test_any_schedule_ends_to_the_picosecond_when_the_slow_simulator_says(
    seed: int, ranks: int, messages: int, wildcards: bool, cpus: int
) -> None:
    programs = random_programs(seed, ranks=ranks, messages=messages, wildcards=wildcards, cpus=cpus)
    assert_same(programs, *drawn_parameters(random.Random(seed)))


@settings(max_examples=400, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    ranks=st.integers(2, 6),
    messages=st.integers(1, 30),
    cpus=st.sampled_from([1, 1, 2]),
)
def test_noise_nodes_free_messages_and_classes_of_pairs_agree_with_the_slow_simulator(
    seed: int, ranks: int, messages: int, cpus: int
) -> None:
    programs = random_programs(seed, ranks=ranks, messages=messages, wildcards=False, cpus=cpus)
    draw = random.Random(seed)
    fast, slow = drawn_parameters(draw)
    assert_same(programs, fast, slow, drawn_extras(draw, ranks))


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32), wildcards=st.booleans(), cpus=st.sampled_from([1, 3]))
def test_a_schedule_written_as_goal_and_read_again_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, seed: int, wildcards: bool, cpus: int
) -> None:
    programs = random_programs(seed, ranks=4, messages=20, wildcards=wildcards, cpus=cpus)
    schedule = schedule_of(programs)
    path: Path = tmp_path_factory.mktemp("goal") / "random.goal"
    write_goal(schedule, path)
    again = read_goal(path)
    assert again.ranks == schedule.ranks
    assert np.array_equal(again.operations, schedule.operations)
    assert np.array_equal(again.requires_end, schedule.requires_end)
    assert np.array_equal(again.requires_start, schedule.requires_start)
