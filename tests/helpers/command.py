"""The command as users run it: in a process of its own."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

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
    """`chiplog` with `arguments`, finished; subprocess.TimeoutExpired where it hangs."""
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


def sim_run(out: Path, *arguments: object, target: str = SIM) -> Path:
    """A run file measured on the simulated transport."""
    finished = chiplog("measure", target, "-o", out, *arguments)
    assert finished.code == 0, finished.stderr
    return out
