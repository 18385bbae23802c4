"""Fixtures of the end-to-end tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from outside import install


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that pip installed the example package in, once for all tests."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    return install("chiplog_example", source, folder)
