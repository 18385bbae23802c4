"""When a process began."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from chiplog.measurement import time_budget

PROGRAM = """
import time
time.sleep(0.3)
from chiplog.measurement.time_budget import process_start
print(process_start())
"""


def test_the_start_lies_before_what_the_process_did_first_and_after_its_parent_asked_for_it() -> (
    None
):
    before = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    after = time.monotonic()
    # The kernel counts in ticks of 10 ms.
    assert before - 0.02 <= float(done.stdout) <= after - 0.28


def test_where_the_kernel_does_not_tell_the_start_it_is_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(time_budget, "STAT", Path("/nonexistent"))
    before = time.monotonic()
    assert before <= time_budget.process_start() <= time.monotonic()
