"""Leaving a lost node out: which words of a launcher can be added to."""

from __future__ import annotations

import pytest

from chiplog.machine_survey.lost import launcher_without


def test_srun_is_told_to_leave_nodes_out() -> None:
    assert launcher_without("/usr/bin/srun -N4 -n 4", ["n3", "n2"], 2) == (
        "/usr/bin/srun -N4 -n 4 --exclude=n3,n2 --nodes=2 --ntasks=2"
    )


@pytest.mark.parametrize(
    ("launcher", "nodes", "ranks"),
    [
        (None, ["n3"], 3),
        ("", ["n3"], 3),
        ("mpirun -np 4", ["n3"], 3),
        ("srun -N 2", ["n3"], 1),
        ("srun -N 4 -w n[1-4]", ["n3"], 3),
        ("srun -N 4 --exclude=n9", ["n3"], 3),
        ("srun -N 2 -n 4", ["n3#1"], 3),
    ],
)
def test_where_no_words_leave_a_node_out_there_is_no_launcher(
    launcher: str | None, nodes: list[str], ranks: int
) -> None:
    assert launcher_without(launcher, nodes, ranks) is None
