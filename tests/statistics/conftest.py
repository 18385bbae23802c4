"""Processes for runs that are measured and fitted many times: as many as there are cores for each test at once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import pytest


@pytest.fixture(scope="session")
def pool() -> Iterator[ProcessPoolExecutor]:
    tests_at_once = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    with ProcessPoolExecutor(max(1, (os.cpu_count() or 1) // tests_at_once)) as made:
        yield made
