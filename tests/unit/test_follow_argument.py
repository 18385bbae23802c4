"""Whoever follows a dataset through a fit or a verdict opens few files, and seldom comes back to one."""

from __future__ import annotations

from types import ModuleType

import pytest
from scripts import load_script

MOST_FILES = 12
MOST_RETURNS = 8


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return load_script("tools/follow_argument.py")


@pytest.mark.parametrize(
    "what", ["fitting.fit:fit_all", "machine_survey.machine_verdict:verdict_of_run"]
)
def test_a_dataset_is_followed_through_few_files(tool: ModuleType, what: str) -> None:
    walk = tool.walked(f"chiplog.{what}:dataset")
    assert 1 < len(walk.files) <= MOST_FILES
    assert walk.returns <= MOST_RETURNS
