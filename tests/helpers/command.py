"""The command as users run it: in a process of its own."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chiplog.cli import run_and_exit

FORKS = multiprocessing.get_context("forkserver")
"""Forks processes of one that has loaded what most commands need, which takes as long as most of them."""
FORKS.set_forkserver_preload(
    ["pytest", "chiplog.cli.app", "chiplog.jobs.measure_to_report", "scipy.optimize"]
)
SIM = "sim:L=5us,o=1us,g=2us,G=0.5ns"


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    code: int
    stdout: str
    stderr: str


def start_chiplog(
    *arguments: object,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    file_size_limit_bytes: int | None = None,
) -> subprocess.Popen[str]:
    """`chiplog` with `arguments`, running."""

    def limit() -> None:
        if file_size_limit_bytes is not None:
            resource.setrlimit(
                resource.RLIMIT_FSIZE, (file_size_limit_bytes, file_size_limit_bytes)
            )

    return subprocess.Popen(
        [sys.executable, "-m", "chiplog", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONFAULTHANDLER": "1", **(environment or {})},
        preexec_fn=limit,
    )


def chiplog(
    *arguments: object,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    file_size_limit_bytes: int | None = None,
    timeout_seconds: float = 120.0,
) -> Finished:
    """`chiplog` with `arguments`, finished; subprocess.TimeoutExpired where it hangs.

    Python starts anew for it only where it gets variables or limits of its own.
    """
    if environment is None and file_size_limit_bytes is None:
        return _forked(list(map(str, arguments)), cwd or Path.cwd(), timeout_seconds)
    process = start_chiplog(
        *arguments,
        cwd=cwd,
        environment=environment,
        file_size_limit_bytes=file_size_limit_bytes,
    )
    try:
        stdout, stderr = process.communicate(timeout=timeout_seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return Finished(process.returncode, stdout, stderr)


def _forked(arguments: Sequence[str], cwd: Path, timeout_seconds: float) -> Finished:
    with tempfile.TemporaryDirectory() as folder:
        said = [Path(folder, name) for name in ("stdout", "stderr")]
        process = FORKS.Process(target=_serve, args=(arguments, cwd, dict(os.environ), said))
        process.start()
        process.join(timeout_seconds)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(list(arguments), timeout_seconds)
        code = process.exitcode
        process.close()
        return Finished(code, *(path.read_text() for path in said))


def _serve(
    arguments: Sequence[str], cwd: Path, environment: Mapping[str, str], said: Sequence[Path]
) -> None:
    """In the forked process: all that a process of its own would be given, then the command."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    for descriptor, path in enumerate([os.devnull, *said]):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), descriptor)
    faulthandler.enable()
    sys.argv = ["chiplog", *arguments]
    run_and_exit()


def sim_run(out: Path, *arguments: object, target: str = SIM) -> Path:
    """A run file measured on the simulated transport."""
    finished = chiplog("measure", target, "-o", out, *arguments)
    assert finished.code == 0, finished.stderr
    return out
