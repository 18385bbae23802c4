"""Fixtures of all tests."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from chiplog.errors import ChiplogError
from chiplog.measurement.launchers import OPEN_MPI_SESSION
from chiplog.measurement.probes import base_probe

if TYPE_CHECKING:
    from playwright import sync_api

# As the command does: matrices are small here, and threads that wait for them keep the cores of other tests busy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# No default of whoever runs the tests.
os.environ["CHIPLOG_CONFIG"] = ""
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def browser() -> Iterator[sync_api.Browser]:
    """Chromium, one for all pages."""
    from browser import chromium  # skips, or fails in CI, where there is no playwright

    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def probe() -> Path:
    """The installed probe."""
    try:
        return base_probe()
    except ChiplogError as error:
        pytest.fail(f"{error} (make setup)", pytrace=False)


@pytest.fixture(autouse=True)
def _open_mpi_session(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a killed launcher of Open MPI's leaves behind stops no later test's: its name comes of a process number."""
    directory = tmp_path_factory.getbasetemp() / f"open-mpi-{next(_numbers)}"
    for name in OPEN_MPI_SESSION:
        monkeypatch.setenv(name, str(directory))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Where `--durations` names the slowest tests, as many files whose tests took longest together."""
    most = config.getoption("durations")
    if not most:
        return
    reports = itertools.chain.from_iterable(terminalreporter.stats.values())
    seconds: Counter[str] = Counter()
    for report in reports:
        if isinstance(report, pytest.TestReport):
            seconds[report.nodeid.partition("::")[0]] += report.duration  # type: ignore[assignment]
    terminalreporter.section(f"slowest {most} files")
    for file, took in seconds.most_common(most):
        terminalreporter.write_line(f"{took:.1f} s {file}")
