"""Faults drawn at random: any process of a measurement is stopped or killed at any time, and so is chiplog itself.

The command must end with one sentence within its time limit and two seconds, and nothing may be left fifteen seconds
later. Python's own process is the one that may leave orphans, so it is killed while another one is stopped.
"""

from __future__ import annotations

import functools
import os
import random
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from command import start_chiplog

from chiplog.measurement.inquiry import transports
from chiplog.measurement.mpis import Mpi, find_mpis
from chiplog.measurement.probes import build_probe

TIME_LIMIT_SECONDS = 2.0
MORE_SECONDS = 2.0
CLEAN_SECONDS = 15.0
LONGEST_WAIT_SECONDS = 60.0
TOKEN = "CHIPLOG_TEST_RUN"
WATCHER = "members.py"
LONG = os.environ.get("CHIPLOG_TEST_LONG") == "1"
FAULTS = int(os.environ.get("CHIPLOG_TEST_FAULTS", "1000" if LONG else "5"))
SEED = int(os.environ.get("CHIPLOG_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 10**9)

pytestmark = [pytest.mark.alone, pytest.mark.timeout(60 + 30 * FAULTS)]


@dataclass(frozen=True)
class Way:
    """How ranks are started: the words of `chiplog measure` after its name."""

    name: str
    words: Sequence[str]
    mpi: Mpi | None = None
    """The MPI that the probe itself is built with."""


@dataclass(frozen=True)
class Fault:
    """What happens to a process `role` of a run by `way`, some time after the run's first process has begun."""

    way: Way
    role: str
    what: str
    delay_seconds: float
    pick: float

    def __str__(self) -> str:
        return f"{self.way.name}: {self.what} {self.role} after {self.delay_seconds:.2f} s"


@functools.cache
def ways() -> list[Way]:
    """Every transport forked, and every real MPI with its launcher, for its own transport and for two others."""
    sockets_and_memory = ("shm", "cma", "unix", "tcp", "udp", "ofi", "ucx")
    usable = {one.name for one in transports() if one.usable}
    forked = [Way(name, (name,)) for name in sockets_and_memory if name in usable]
    forked += [Way(f"{one.name} x 4", (*one.words, "--ranks", "4")) for one in forked]
    mpis = [mpi for mpi in find_mpis() if not mpi.simulated and mpi.launcher is not None]
    return forked + [way for mpi in mpis for way in _ways_of(mpi)]


def _ways_of(mpi: Mpi) -> list[Way]:
    name = f"{mpi.kind} {mpi.version}"
    launched = ("--launcher", f"{mpi.launcher} -n 2")
    return [
        Way(f"mpi of {name}", ("mpi", "--mpi", str(mpi.mpicxx)), mpi),
        *(Way(f"{one} under {name}", (one, *launched)) for one in ("tcp", "shm")),
    ]


def drawn(number: int) -> Fault:
    """The fault of that number; the same for the same seed."""
    draw = random.Random(f"{SEED}.{number}")
    role = draw.choices(("rank", "launcher", "watcher"), (5, 4, 1))[0]
    return Fault(
        draw.choice(ways()),
        role,
        draw.choice(("stop", "kill", "stop, then kill chiplog's own process after stopping")),
        draw.choice((draw.uniform(0.0, 0.5), draw.uniform(0.5, 3.0))),
        draw.random(),
    )


def test_a_stopped_or_killed_process_ends_a_run_in_time_and_leaves_nothing(tmp_path: Path) -> None:
    wrong = []
    for number in range(FAULTS):
        fault = drawn(number)
        problem, told = _outcome(fault, tmp_path / f"{number}.jsonl")
        if problem:
            wrong.append(f"{number} of seed {SEED}, {fault}: {problem}: {told}")
        print(f"{number} {fault}: {problem or 'right'}: {told}", file=sys.stderr)
    assert not wrong, "\n".join(wrong)


def _outcome(fault: Fault, out: Path) -> tuple[str, str]:
    """What is wrong, empty for nothing, and what chiplog said."""
    if fault.way.mpi is not None:
        build_probe(str(fault.way.mpi.mpicxx))
    token = uuid.uuid4().hex
    plan = ("--sizes", "1:64KiB", "--visits", "1000", "--budget", "300", "--pattern", "ping_pong")
    command = ("measure", *fault.way.words, *plan, "--time-limit", TIME_LIMIT_SECONDS, "-o", out)
    environment = {
        TOKEN: token,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    process = start_chiplog(*command, environment=environment)
    try:
        problem, told = _strike(fault, process, token)
        return problem or _left(token), told
    finally:
        for one in _processes(token):
            os.kill(one, signal.SIGKILL)
        process.communicate()


def _strike(fault: Fault, process: subprocess.Popen[str], token: str) -> tuple[str, str]:
    victim = _victim(fault, process, token)
    began = time.monotonic()
    _signal(victim, signal.SIGKILL if fault.what == "kill" else signal.SIGSTOP)
    if fault.what.startswith("stop, then"):
        time.sleep(0.2)
        process.kill()
        process.communicate()
        return "", ""
    if fault.role == "watcher":
        time.sleep(1.0)
        process.terminate()
    try:
        _, stderr = process.communicate(timeout=LONGEST_WAIT_SECONDS)
    except subprocess.TimeoutExpired:
        return "hangs", ""
    seconds = time.monotonic() - began
    if seconds > TIME_LIMIT_SECONDS + MORE_SECONDS:
        return f"took {seconds:.1f} s", stderr
    return _wrong_end(process.returncode, stderr, 130 if fault.role == "watcher" else 1), stderr


def _wrong_end(code: int, stderr: str, expected: int) -> str:
    sentences = [one for one in stderr.splitlines() if not re.search("building|% done", one)]
    if code != expected:
        return f"ended with {code}"
    if len(sentences) != 1 or not sentences[0].startswith("chiplog: "):
        return "did not say one sentence"
    return "blames what prints" if re.search("start-up file|tag-output", stderr) else ""


def _victim(fault: Fault, process: subprocess.Popen[str], token: str) -> int:
    """A process of that role, once there is one and the delay is over; of another role where the run has none."""
    deadline = time.monotonic() + LONGEST_WAIT_SECONDS
    began = 0.0
    while time.monotonic() < deadline and process.poll() is None:
        roles = _roles(process.pid, token)
        began = began or (time.monotonic() if "rank" in roles.values() else 0.0)
        if began and time.monotonic() >= began + fault.delay_seconds:
            wanted = [one for one, role in roles.items() if role == fault.role]
            choice = sorted(wanted or [one for one, role in roles.items() if role == "rank"])
            if choice:
                return choice[int(fault.pick * len(choice))]
        time.sleep(0.01)
    raise AssertionError(f"{fault}: ended before: {process.communicate(timeout=1.0)[1]}")


def _roles(chiplog: int, token: str) -> Mapping[int, str]:
    roles = {}
    for process in _processes(token):
        try:
            words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if process == chiplog:
            continue
        if any(word.endswith(WATCHER.encode()) for word in words):
            roles[process] = "watcher"
        elif b"--target" in words:
            is_rank = Path(os.fsdecode(words[0])).name.startswith("chiplog-probe")
            roles[process] = "rank" if is_rank else "launcher"
        else:
            roles[process] = "launcher"
    return roles


def _processes(token: str) -> list[int]:
    """The living processes that inherited the token."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            if state != "Z" and f"{TOKEN}={token}".encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def _signal(process: int, number: signal.Signals) -> None:
    try:
        os.kill(process, number)
    except ProcessLookupError:
        pytest.fail(f"process {process} has ended before")


def _left(token: str) -> str:
    deadline = time.monotonic() + CLEAN_SECONDS
    while time.monotonic() < deadline:
        left = _processes(token)
        if not left:
            return ""
        time.sleep(0.05)
    names = [Path(f"/proc/{one}/cmdline").read_bytes().replace(b"\0", b" ")[:80] for one in left]
    return f"leaves {names}"
