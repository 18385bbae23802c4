"""What a command can't do in bounded time and memory it refuses at once: huge numbers, pipes, devices, long files."""

from __future__ import annotations

import contextlib
import io
import os
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from all_commands import Inputs, options
from command import SIM
from trace_files import ring as ring_trace

from chiplog.cli import main
from chiplog.dataset.importer import IMPORTERS

CPU_SECONDS = 20
"""Of one command. No time of a clock: that depends on what else runs."""
HANG_SECONDS = 120
MEMORY_BYTES = 1 << 30
"""Beyond what this process has already."""
HUGE = ("100000", "99999999", "2147483647", "99999999999", str(10**19), str(10**30), "-1")
GIGABYTE = 1 << 30


@dataclass(frozen=True)
class Ended:
    """How a command ended in a process of its own."""

    signal: int
    code: int
    said: str
    grown_bytes: int


def in_process_of_its_own(words: list[str]) -> Ended:
    """Runs a command in a copy of this process, which spares it loading everything, within limits."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryFile("w+") as said:
        child = os.fork()
        if child == 0:
            _run_and_exit(words, said.fileno())
        until = time.monotonic() + HANG_SECONDS
        while not (ended := os.wait4(child, os.WNOHANG))[0]:
            if time.monotonic() > until:
                os.kill(child, signal.SIGKILL)
            time.sleep(0.005)
        said.seek(0)
        grown = (ended[2].ru_maxrss - before) * 1024
        return Ended(os.WTERMSIG(ended[1]), os.WEXITSTATUS(ended[1]), said.read(), grown)


def _run_and_exit(words: list[str], said: int) -> None:
    code = 99
    with contextlib.suppress(BaseException):
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        os.dup2(said, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        with open(2, "w", closefd=False) as stderr, contextlib.redirect_stderr(stderr):
            with contextlib.redirect_stdout(io.StringIO()):
                code = main(words)
    os._exit(code)


def problem_of(words: list[str], ended: Ended, codes: tuple[int, ...]) -> str | None:
    """What is wrong with how a command ended; None where it is as it should be."""
    shown = " ".join(words)
    if ended.signal:
        return f"{shown}: was ended by signal {ended.signal}, after all its time"
    if ended.code not in codes:
        return f"{shown}: exit code {ended.code}: {ended.said[-600:]}"
    if ended.grown_bytes > MEMORY_BYTES:
        return f"{shown}: took {ended.grown_bytes >> 20} MiB"
    sentences = [line for line in ended.said.splitlines() if line.startswith("chiplog: ")]
    is_said = bool(sentences) or ended.code in (0, 3)  # 3: what is wrong is the result
    if "Traceback" in ended.said or not is_said:
        return f"{shown}: said {ended.said[-600:]}"
    return None


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    return Inputs(tmp_path_factory.mktemp("inputs"))


def with_integers(at: Inputs, room: Path) -> dict[str, list[list[object]]]:
    """For each command with numbers: calls that end quickly without the number under test."""
    collectives = [
        ("alltoall", "linear"), ("alltoall", "pairwise"), ("alltoall", "bruck"), ("allgather", "ring"),
        ("allreduce", "ring"), ("allreduce", "rabenseifner"), ("bcast", "chain"), ("bcast", "logp-optimal"),
        ("bcast", "scatter-allgather"), ("barrier", "n-way-dissemination"), ("barrier", "combining-tree"),
        ("barrier", "central-counter"), ("halo", "direct"), ("gather", "binomial"),
        ("reduce_scatter", "pairwise"), ("reduce_scatter", "recursive-halving"), ("scan", "linear"),
    ]  # fmt: skip
    made = [
        ["schedule", operation, "--algorithm", algorithm, "--ranks", 4, "-o", os.devnull]
        for operation, algorithm in collectives
    ]
    ring = ["simulate", at.goal, "--L", 1, "--o", 1, "--g", 1, "--G", 1]
    predicted = [
        ["predict", at.model, operation, "--ranks", 8, "--anyway"]
        for operation in ("barrier", "alltoall", "bcast", "allreduce", "one-to-many")
    ]
    return {
        "run": [["run", "carrier-pigeon", "--sizes", "8:8", "--budget", 1, "-o", room / "report"]],
        "measure": [
            ["measure", SIM, "--sizes", 8, "--dry-run"],
            ["measure", SIM, "--pattern", "all_pairs", "--sizes", "1:1MiB:64", "--dry-run"],
        ],
        "survey": [["survey", SIM, "--dry-run"]],
        "import": [["import", "csv", at.csv, "-o", room / "imported.jsonl"]],
        "fit": [["fit", at.run, "--model", "hockney"]],
        "compare": [["compare", at.run, "--models", "hockney"]],
        "predict": predicted,
        "schedule": made,
        "simulate": [ring],
        "app": [["app", ring_trace(room / "trace"), "--L", 1, "--o", 1, "--g", 1, "--G", 1]],
        "tune": [
            ["tune", at.model, "--for", "chiplog", "--anyway", "--ranks", 4, "-o", room / "t"]
        ],
        "bench": [["bench", "barrier", "--mpi", "/no/mpicxx"]],
        "ucx": [["ucx", "carrier-pigeon"]],
        "probe build": [["probe", "build", "--mpi", "/no/mpicxx"]],
        "library build": [["library", "build", "--mpi", "/no/mpicxx"]],
    }


def numbers(command: str) -> Iterator[str]:
    """The options of a command that are numbers of something."""
    for name, option in options():
        if name == command and option.type.name in ("integer", "size"):
            yield option.opts[-1]


def commands_with_numbers() -> list[str]:
    return sorted({name for name, option in options() if option.type.name in ("integer", "size")})


@pytest.mark.parametrize("command", commands_with_numbers())
def test_a_huge_number_ends_quickly(inputs: Inputs, tmp_path: Path, command: str) -> None:
    problems = []
    for call in with_integers(inputs, tmp_path)[command]:
        for option in numbers(command):
            for number in HUGE if os.environ.get("CHIPLOG_TEST_LONG") else HUGE[3::3]:
                words = [str(word) for word in call]
                if option in words:
                    words[words.index(option) + 1] = number
                else:
                    words += [option, number]
                ended = in_process_of_its_own(words)
                problems.append(problem_of(words, ended, (0, 1, 2, 4)))
    found = [one for one in problems if one]
    assert not found, "\n".join(found)


def readers(at: Inputs, room: Path) -> Iterator[list[object]]:
    """Each command that reads files, once for each kind; FILE is the file."""
    for command in ("fit", "changes", "compare"):
        yield [command, "FILE"]
    yield ["compare", at.run, "FILE"]
    yield ["predict", "FILE", "barrier", "--ranks", 4]
    yield ["predict", at.model, "barrier", "--ranks", 4, "--anyway", "--errors", "FILE"]
    yield ["calibrate", "FILE"]
    yield ["simulate", "FILE", "--L", 1, "--o", 1, "--g", 1, "--G", 1]
    yield ["app", "FILE"]
    yield ["simulate", at.goal, "--model", "FILE"]
    yield ["simulate", at.goal, "--classes", "FILE"]
    yield ["simulate", at.goal, "--model", at.model, "--anyway", "--anchor", "FILE"]
    yield ["simulate", at.goal, "--L", 1, "--o", 1, "--g", 1, "--G", 1, "--noise-trace", "FILE"]
    yield ["simulate", at.goal, "--L", 1, "--o", 1, "--g", 1, "--G", 1, "--noise", "FILE"]
    yield ["tune", "FILE", "--for", "chiplog", "-o", room / "rules"]
    for program in ("openmpi", "mpich", "ucc"):
        yield ["tune", "lint", "FILE", "--for", program, "--version", "4.1.4"]
    yield ["tune", "--measure", "--for", "openmpi", "-o", room / "rules", "--from", "FILE"]
    yield [
        *("tune", "--from", "FILE", "--for", "openmpi", "--version", "4.1.4"),
        *("--operation", "bcast", "-o", room / "rules"),
    ]
    for program in ("openmpi", "chiplog"):
        yield ["check-tuning", "FILE", "--for", program]
    yield ["bench", "barrier", "--library", "FILE"]
    yield ["export", "FILE", "--to", "csv", "-o", room / "out.csv"]
    yield ["export", "FILE", "--to", "loggopsim", "-o", room / "out"]
    yield ["report", "FILE", "-o", room / "out.html"]
    yield ["share", "FILE", "--name", "one", "-o", room / "shared.json"]
    yield ["report", at.survey, "--topology", "FILE", "-o", room / "out.html"]
    yield ["survey", SIM, "-o", room / "new.jsonl", "--topology", "FILE"]
    yield ["survey", "verdict", "FILE"]
    yield ["survey", SIM, "-o", "FILE", "--resume"]
    yield ["measure", SIM, "-o", "FILE", "--resume"]
    yield ["history", "FILE"]
    yield ["history", "add", room / "history", "FILE"]
    for kind in IMPORTERS.names():
        yield ["import", kind, "FILE", "-o", room / "imported.jsonl"]


def fifo(path: Path) -> Path:
    os.mkfifo(path)
    return path


def device(path: Path) -> Path:
    path.symlink_to("/dev/zero")
    return path


def zeros(path: Path) -> Path:
    with path.open("wb") as stream:
        stream.truncate(GIGABYTE)
    return path


def zeros_behind_a_header(path: Path, run: Path) -> Path:
    """What a machine that went down may leave."""
    path.write_bytes(run.read_bytes().splitlines(keepends=True)[0])
    os.truncate(path, GIGABYTE)
    return path


@pytest.mark.parametrize("make", [fifo, device, zeros])
def test_no_reader_waits_or_takes_memory(
    inputs: Inputs, tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    given = make(tmp_path / "given.jsonl")
    problems = []
    for call in readers(inputs, tmp_path):
        words = [str(given) if word == "FILE" else str(word) for word in call]
        problems.append(problem_of(words, in_process_of_its_own(words), (1, 2, 3, 5)))
    found = [one for one in problems if one]
    assert not found, "\n".join(found)


def test_zeros_behind_what_is_whole_are_damage(inputs: Inputs, tmp_path: Path) -> None:
    given = zeros_behind_a_header(tmp_path / "run.jsonl", inputs.run)
    for command in (["fit"], ["measure", SIM, "--resume", "-o"]):
        words = [*command, str(given)]
        assert problem_of(words, in_process_of_its_own(words), (5,)) is None
