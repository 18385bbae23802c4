"""The repository's scripts as modules: those of tools and benchmarks are no package."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from needs import REPOSITORY


def load_script(path: str) -> ModuleType:
    """The module of a script, by its path in the repository, such as tools/draw_rooms.py."""
    file = REPOSITORY / path
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
