"""A file that grows has one writer; a second one is told who that is, and the file stays whole."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command import SIM, chiplog, start_chiplog
from model_files import example_fit
from run_files import example_header, example_record, write_example

from chiplog.cli import main
from chiplog.dataset.run_file import RunWriter, read_run
from chiplog.errors import NotLocked, RunFailed
from chiplog.file_lock import open_locked
from chiplog.fitting.result import Fit
from chiplog.output_file import write_text
from chiplog.tune.measured.raced import Raced, RaceOptions
from chiplog.tune.measured.raw_file import About, SamplesFile

HOLD = """
import os, sys
from chiplog.file_lock import open_locked
open_locked(sys.argv[1], os.O_RDWR)
print("locked", flush=True)
sys.stdin.read()
"""


@contextmanager
def held(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process writes the file."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], **pipes) as process:
        assert process.stdout is not None and process.stdout.readline() == "locked\n"
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_example(tmp_path_factory.mktemp("run") / "run.jsonl")


@pytest.mark.parametrize(
    "command",
    [
        ["measure", SIM, "-o", "FILE"],
        ["measure", SIM, "-o", "FILE", "--resume"],
        ["survey", SIM, "-o", "FILE"],
        ["survey", SIM, "-o", "FILE", "--resume"],
        ["export", "RUN", "--to", "csv", "-o", "FILE"],
        ["list", "models", "--json", "FILE"],
        ["schedule", "barrier", "--algorithm", "linear", "--ranks", "3", "-o", "FILE"],
    ],
    ids=lambda one: " ".join(one),
)
def test_no_command_writes_what_another_one_is_writing(
    tmp_path: Path, run: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    from chiplog.cli import main

    file = tmp_path / "file.jsonl"
    RunWriter.create(file, example_header()).close()
    before = file.read_bytes()
    with held(file) as process:
        words = [{"FILE": str(file), "RUN": str(run)}.get(word, word) for word in command]
        assert main(words) == 1
        (line,) = capsys.readouterr().err.splitlines()
    assert f"{file} is being written by process {process.pid} (" in line
    assert f"on {socket.gethostname()}; wait until it ends, or end it." in line
    assert file.read_bytes() == before and os.listdir(tmp_path) == ["file.jsonl"]


@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGINT])
def test_two_measurements_of_one_file_do_not_destroy_it(
    tmp_path: Path, ended_by: signal.Signals
) -> None:
    """The lock ends with the process, however that ends, and a resumed run goes on."""
    file = tmp_path / "run.jsonl"
    command = ("measure", SIM + ",noise=0.05", "--sizes", "1:1KiB:1", "--visits", "300", "-o", file)
    first = start_chiplog(*command)
    try:
        while first.poll() is None and (not file.exists() or file.stat().st_size < 10_000):
            time.sleep(0.01)
        second = chiplog(*command, "--resume")
        assert first.poll() is None, "the first has ended too early for this test"
        assert second.code == 1
        assert f"by process {first.pid} (chiplog measure) on" in second.stderr
    finally:
        first.send_signal(ended_by)
        first.communicate(timeout=60)
    kept = len(read_run(file, salvage=True).series)
    with RunWriter.resume(file) as writer:
        writer.append(example_record(10**6))
    assert len(read_run(file).series) == kept + 1


def about() -> About:
    return About("bcast", "openmpi", "x", "4.1.4", ())


def test_a_race_keeps_the_old_samples_until_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text("old")
    samples = SamplesFile(path, about())
    with pytest.raises(
        RunFailed, match=rf"samples.jsonl.part is being written by process {os.getpid()}"
    ):
        SamplesFile(path, about())
    assert path.read_text() == "old"
    samples.end(Raced(RaceOptions("bcast", (8,), (8,)), {}))
    assert '"type":"footer"' in path.read_text() and os.listdir(tmp_path) == ["samples.jsonl"]


def test_a_race_on_a_full_disk_says_where_its_samples_are() -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    with pytest.raises(RunFailed, match="/dev/full can't be written: No space left on device"):
        SamplesFile(Path("/dev/full"), about())


def test_a_file_system_without_locks_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.warns(NotLocked, match=r"run.jsonl can't be locked .*No locks available"):
        RunWriter.create(tmp_path / "run.jsonl", example_header()).close()
    write_text(tmp_path / "run.jsonl", "new")


def test_who_writes_from_another_host_is_not_guessed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    monkeypatch.setattr("chiplog.file_lock.LOCKS", tmp_path / "none")
    with (
        held(file),
        pytest.raises(RunFailed, match="by a process on another host or in another container"),
    ):
        write_text(file, "new")


def test_a_second_result_does_not_wait_for_the_first(tmp_path: Path) -> None:
    """Results that replace a file need no lock: the last one stays, whole."""
    from chiplog.fitting.model_file import read_model, write_model
    from chiplog.output_file import replacing

    fits: list[Fit] = [example_fit()]
    write_model(tmp_path / "model.json", fits)
    with replacing(tmp_path / "model.json") as stream:
        write_model(tmp_path / "model.json", fits)
        stream.write((tmp_path / "model.json").read_bytes())
    assert len(read_model(tmp_path / "model.json")) == 1


def test_a_folder_that_another_trace_writes_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "trace"
    folder.mkdir()
    lock = open_locked(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        assert main(["trace", "-o", str(folder), "--", sys.executable, "-c", ""]) == 1
    finally:
        os.close(lock)
    assert f"{folder} is being written by process {os.getpid()}" in capsys.readouterr().err
