"""Packages that only some of chiplog needs: what to say where one is missing."""

from __future__ import annotations

import importlib
from typing import Any

from chiplog.errors import UsageError

PACKAGES = {
    "matplotlib": "Matplotlib",
    "otf2": "OTF2",
    "pandas": "pandas",
    "pyarrow": "PyArrow",
}
"""Modules by their packages' names; each is installed by `pip install MODULE`."""


def needed(module: str, purpose: str) -> Any:
    """The module, or a module of it, such as "pyarrow.parquet".

    `purpose` begins the sentence of the UsageError that is raised where its package is not installed: "a history".
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError:
        raise UsageError(
            f"{purpose} needs {PACKAGES[package]}, which is not installed: pip install {package}."
        ) from None
