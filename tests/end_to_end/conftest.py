"""Fixtures of the end-to-end tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from outside import install

if TYPE_CHECKING:
    from playwright import sync_api


@pytest.fixture(scope="session")
def browser() -> Iterator[sync_api.Browser]:
    """Chromium, one for all pages."""
    from browser import chromium  # skips, or fails in CI, where there is no playwright

    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that pip installed the example package in, once for all tests."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    return install("chiplog_example", source, folder)
