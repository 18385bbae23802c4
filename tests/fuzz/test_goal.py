"""A damaged schedule is simulated, or refused in one sentence: nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chiplog.collectives.algorithm import Task
from chiplog.collectives.registry import load
from chiplog.errors import CorruptFile, RunFailed
from chiplog.schedule.goal import read_goal, write_goal
from chiplog.simulation import LogGOPS, simulate

PARAMETERS = LogGOPS.from_ns(L=3, o=2, g=1, G=1, S_bytes=10)
WORDS = [
    b"send",
    b"recv",
    b"calc",
    b"requires",
    b"irequires",
    b"l1",
    b"l2",
    b"-1",
    b"tag",
    b"cpu 255",
]
WORDS += [
    b"nic 3",
    b"}",
    b"{",
    b"\n",
    b"rank",
    b"9" * 30,
    b"/*",
    b"//",
    b"\0",
    b"\xff",
    b"99999999999",
]

edits = st.lists(
    st.tuples(
        st.integers(0, 1 << 12), st.integers(0, 12), st.sampled_from(WORDS) | st.binary(max_size=4)
    ),
    min_size=1,
    max_size=5,
)


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("goal") / "intact.goal"
    write_goal(load("allreduce", "recursive-doubling").schedule(Task(6, 12)), path)
    return path


@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(changes=edits)
def test_a_damaged_schedule_is_simulated_or_refused(
    intact: Path, changes: list[tuple[int, int, bytes]]
) -> None:
    content = intact.read_bytes()
    for position, removed, inserted in changes:
        at = position % (len(content) + 1)
        content = content[:at] + inserted + content[at + removed :]
    damaged = intact.with_name("damaged.goal")
    damaged.write_bytes(content)
    sentence = refusal(damaged)
    assert (
        sentence == ""
        or sentence.startswith(f"{damaged}: line ")
        or "can't finish" in sentence
        or "106 days" in sentence
    )


def refusal(path: Path) -> str:
    """The sentence with which the schedule was refused, empty where it was simulated."""
    try:
        schedule = read_goal(path)
        assert simulate(schedule, PARAMETERS).finish_ps.size == schedule.ranks
    except (CorruptFile, RunFailed) as error:
        return str(error)
    return ""
