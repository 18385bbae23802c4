"""Every example in a docstring prints what it says."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import chiplog

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def modules() -> list[str]:
    """All modules but those that start a program when they are imported."""
    found = pkgutil.walk_packages(chiplog.__path__, "chiplog.")
    return ["chiplog", *(one.name for one in found if not one.name.endswith("__main__"))]


def test_all_examples_in_docstrings_are_right(capsys: pytest.CaptureFixture[str]) -> None:
    tried = failed = 0
    for name in modules():
        result = doctest.testmod(import_module(name), optionflags=OPTIONS)
        tried, failed = tried + result.attempted, failed + result.failed
    assert failed == 0, capsys.readouterr().out
    assert tried >= 51
