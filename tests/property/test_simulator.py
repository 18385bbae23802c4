"""The simulator against a slow one, and GOAL text against itself, on random schedules."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loggops_by_hand import BySize, Extras, Op, Slow
from random_schedules import drawn_parameters, random_programs, schedule_of

from chiplog.errors import RunFailed
from chiplog.schedule.goal import read_goal, write_goal
from chiplog.simulation import Conditions, LogGOPS, Noise, PairClasses, simulate
from chiplog.simulation.conditions import DISTRIBUTIONS

MANY = settings(max_examples=3000, deadline=None)


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
