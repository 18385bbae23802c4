"""What the commands above OSU's tests say of nodes and buffers, and how the file's text is encoded."""

from __future__ import annotations

from pathlib import Path

import pytest
from imported_files import imported, times

LATENCY = """# OSU MPI Latency Test v5.9
# Size          Latency (us)
0                       1.10
8                       1.25
1024                    3.00
4096                    6.00
"""
ALL = [(0, 1.10), (8, 1.25), (1024, 3.0), (4096, 6.0)]
CUDA = LATENCY.replace("MPI Latency Test v5.9", "MPI-CUDA Latency Test v7.5")


@pytest.mark.parametrize(
    ("first", "second", "parts"),
    [
        (
            "$ srun -N 1 -n 2 ./osu_latency",
            "$ srun -N 2 ./osu_latency",
            ["intra-node", "inter-node"],
        ),
        (
            "srun --nodes=2 osu_latency -i 10",
            "srun --nodes=1 osu_latency",
            ["inter-node", "intra-node"],
        ),
        (
            "$ ./osu_latency -d cuda D D",
            "$ ./osu_latency -d cuda H H",
            ["device-buffers", "host-buffers"],
        ),
        (
            "$ mpirun omb/osu_latency H D",
            "$ mpirun omb/osu_latency D D",
            ["host-to-device-buffers", "device-buffers"],
        ),
    ],
)
def test_commands_of_two_paths_are_not_pooled_as_launches(
    tmp_path: Path, first: str, second: str, parts: list[str]
) -> None:
    run, _ = imported(tmp_path, "osu", f"{first}\n{CUDA}{second}\n{CUDA}")
    found = list(dict.fromkeys(one.placement for one in run.series))
    assert [name.removesuffix("+cuda-buffers") for name in found if name] == parts
    assert {one.launch for one in run.series} == {0}
    run, _ = imported(tmp_path, "osu", f"{first}\n{CUDA}{first}\n{CUDA}")
    assert {one.launch for one in run.series} == {0, 1}


def test_a_command_of_another_program_says_nothing_of_the_path(tmp_path: Path) -> None:
    text = f"srun -N 2 osu_latency\n{LATENCY}srun -N 1 hostname\nnode1\n{LATENCY}"
    run, _ = imported(tmp_path, "osu", text)
    assert {one.launch for one in run.series} == {0, 1}


def test_a_byte_that_is_no_utf_8_stands_in_a_line_of_no_table(tmp_path: Path) -> None:
    run, notes = imported(tmp_path, "osu", b"Gr\xfc\xdfe von node1\n" + LATENCY.encode())
    assert times(run) == ALL and ": 1 line;" in notes[0]


def test_utf_16_is_told_by_its_mark(tmp_path: Path) -> None:
    assert times(imported(tmp_path, "osu", LATENCY.encode("utf-16"))[0]) == ALL


def test_a_multi_latency_test_without_its_pairs_does_not_refuse_the_others(tmp_path: Path) -> None:
    run, notes = imported(
        tmp_path, "osu", LATENCY.replace("Latency T", "Multi Latency T") + LATENCY
    )
    assert times(run) == ALL and ": 1 table;" in notes[0]
