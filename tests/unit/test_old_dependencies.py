"""`make old` lists the dependencies that have had no release for long; a page says what each dependency is for."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
TODAY = datetime(2026, 11, 30, tzinfo=UTC)


def a_file(version: str, day: str, **more: str) -> dict[str, str]:
    return {"filename": f"a-{version}.tar.gz", "upload-time": f"{day}T00:00:00Z", **more}


def test_the_page_of_dependencies_has_each_that_the_package_names() -> None:
    from old_dependencies import requirements

    page = (ROOT / "docs" / "reference" / "dependencies.md").read_text()
    rows = re.findall(r"^\| ([a-z][\w-]*) \| .* \| [\d.]+, \d{4}-\d\d-\d\d \|", page, re.MULTILINE)
    assert sorted(rows) == [requirement.name for requirement in requirements(ROOT)]


def test_the_newest_release_is_neither_withdrawn_nor_on_trial() -> None:
    from old_dependencies import newest

    files = [
        a_file("1.9", "2024-01-01"),
        a_file("1.10", "2025-01-01"),
        a_file("1.11", "2026-01-01", yanked="broken"),
        a_file("2.0rc1", "2026-02-01"),
        {"filename": "a-3.exe", "upload-time": "2026-03-01T00:00:00Z"},
    ]
    assert str(newest({"files": files}).version) == "1.10"


@pytest.mark.parametrize(
    ("asked", "day", "words"),
    [
        ("a>=1", "2026-06-01", ""),
        ("a>=1", "2024-11-30", "no release for 24 months"),
        ("a<2", "2026-06-01", "not allowed: <2"),
    ],
)
def test_old_is_what_has_no_release_or_is_not_allowed(asked: str, day: str, words: str) -> None:
    from old_dependencies import newest, state

    release = newest({"files": [a_file("2.1", day)]})
    assert state(Requirement(asked), release, TODAY) == words
