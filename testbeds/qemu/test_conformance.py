"""The native conformance suite over soft-RoCE."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

Boot = Callable[..., str]


def test_verbs_does_what_every_transport_must(boot: Boot, tmp_path: Path) -> None:
    tests = os.environ.get("CHIPLOG_RDMA_TESTS")
    if tests is None:
        pytest.skip("CHIPLOG_RDMA_TESTS names no test program (make test-rdma sets it)")
    printed = boot("real", tmp_path, "conformance.sh", Path(tests).resolve())
    passed = re.search(r"PASSED  \] (\d+) tests", printed)
    assert passed is not None and int(passed[1]) > 0, printed
