"""A class name stands for one class in the whole package, so that a search for it ends at its meaning."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import chiplog


def test_each_class_name_stands_for_one_class() -> None:
    files = Path(chiplog.__file__).parent.rglob("*.py")
    classes = Counter(
        node.name
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in classes.items() if count > 1] == []
