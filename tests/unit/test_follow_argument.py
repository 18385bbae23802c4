"""Whoever follows a dataset through a fit or a verdict opens few files, and seldom comes back to one."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "follow_argument.py"
MOST_FILES = 12
MOST_RETURNS = 8


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("follow_argument", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "what", ["fitting.fit:fit_all", "machine_survey.machine_verdict:verdict_of_run"]
)
def test_a_dataset_is_followed_through_few_files(tool: ModuleType, what: str) -> None:
    walk = tool.walked(f"chiplog.{what}:dataset")
    assert 1 < len(walk.files) <= MOST_FILES
    assert walk.returns <= MOST_RETURNS
