"""Cross-memory attach from the command line: both protocols, its own operations, and where it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import chiplog

from chiplog.dataset.run_file import read_run
from chiplog.measurement.inquiry import transports


@pytest.fixture(autouse=True)
def permitted() -> None:
    (here,) = (one for one in transports() if one.name == "cma")
    if not here.usable:
        pytest.skip(f"{here.why}: {here.remedy}")


def test_messages_on_both_sides_of_the_eager_limit_and_its_own_operations_arrive(
    tmp_path: Path,
) -> None:
    run = tmp_path / "run.jsonl"
    finished = chiplog(
        *("measure", "cma:eager=1KiB", "--sizes", "8,1KiB,1025,64KiB", "--budget", 10, "-o", run),
        *("--operation", "send,rdma-write,rdma-read", "--visits", 1),
    )
    assert finished.code == 0, finished.stderr
    data = read_run(run)
    assert data.header["options"]["eager_bytes"] == 1024
    assert data.header["capabilities"]["synchronises"] is True
    series = data.select(pattern="prtt", train=1).series
    assert {(one.operation, one.message_bytes) for one in series} == {
        (operation, size)
        for operation in ("send", "rdma-write", "rdma-read")
        for size in (8, 1024, 1025, 65536)
    }


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("cma:eager=2GiB",), "option 'eager' of cma accepts 0 to 1GiB"),
        (("cma:ring=1MiB",), "unknown option 'ring' of cma; it accepts eager"),
        (("cma", "--operation", "atomic"), "does not accept atomic on cma"),
    ],
)
def test_what_it_does_not_know_is_refused_in_one_sentence(
    words: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    finished = chiplog("measure", *words, "--sizes", 8, "-o", tmp_path / "run.jsonl")
    assert finished.code == 2
    assert sentence in finished.stderr


def test_doctor_says_that_it_is_usable() -> None:
    finished = chiplog("doctor")
    assert finished.code == 0
    assert any(line.split()[-1] == "cma" for line in finished.stdout.splitlines())
