"""A run that may open too few files ends in a sentence that says so, and blames no option.

Libraries open files themselves and say of them what they like, so theirs are not the transports of this test.
"""

from __future__ import annotations

import resource
import subprocess

from chiplog.measurement.inquiry import transports
from chiplog.measurement.probes import base_probe

RANKS = 3
MOST_FILES = 128
BOUND_SECONDS = 60
OTHERS = frozenset({"sim", "ofi", "ucx", "verbs"})
"""Transports whose ranks are one process, or a library's."""


def usable() -> list[str]:
    return [one.name for one in transports() if one.usable and one.name not in OTHERS]


def run_with(files: int, target: str) -> subprocess.CompletedProcess[str]:
    """The probe by itself: Python needs more files to begin."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    return subprocess.run(
        [str(base_probe()), "--target", target, "--ranks", str(RANKS), "--time-limit", "5s"],
        input='{"type":"quit"}\n',
        capture_output=True,
        text=True,
        timeout=BOUND_SECONDS,
        preexec_fn=limit,
        check=False,
    )


def test_too_few_files_are_named_and_no_option_is_blamed() -> None:
    targets = usable()
    assert {"shm", "unix", "tcp", "udp"} <= set(targets)
    for target in targets:
        _check(target)


def _check(target: str) -> None:
    for files in (*range(4, 24, 2), 32, 64, MOST_FILES):
        done = run_with(files, target)
        if done.returncode == 0:
            return
        assert done.returncode == 1, (files, done)
        assert "option" not in done.stderr, (files, done.stderr)
        assert "Too many open files" in done.stderr, (files, done)
    raise AssertionError(f"{target} needs more than {MOST_FILES} files")
