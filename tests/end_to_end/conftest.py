"""Fixtures of the end-to-end tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright import sync_api


@pytest.fixture(scope="session")
def browser() -> Iterator[sync_api.Browser]:
    """Chromium, one for all pages."""
    from browser import chromium  # skips, or fails in CI, where there is no playwright

    with chromium() as started:
        yield started
