"""A machine of QEMU's with two soft-RoCE devices, for tests that need RDMA or a known delay."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from needs import REPOSITORY, missing

HERE = Path(__file__).resolve().parent
Boot = Callable[..., str]


@pytest.fixture(scope="session")
def boot() -> Boot:
    """Runs a guest script in the machine ("real" or "virtual" time) and returns what it printed."""
    directory = Path(os.environ.get("CHIPLOG_QEMU", REPOSITORY / "build" / "qemu"))
    if not (directory / "kernel").exists() or shutil.which("qemu-system-x86_64") is None:
        missing("QEMU or the machine's kernel", "make test-rdma installs them")

    def run(mode: str, out: Path, script: str, *arguments: object) -> str:
        command = [HERE / "boot", directory, mode, out, "bash", HERE / "guest" / script, *arguments]
        done = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, timeout=200, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run
