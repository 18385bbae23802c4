"""Fixtures of all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from chiplog.errors import ChiplogError
from chiplog.measure.probes import base_probe


@pytest.fixture(scope="session")
def probe() -> Path:
    """The installed probe."""
    try:
        return base_probe()
    except ChiplogError as error:
        pytest.fail(f"{error} (make setup)", pytrace=False)
