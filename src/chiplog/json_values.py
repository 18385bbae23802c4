"""Results as JSON holds them: one rule for all documents that chiplog writes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any


def plain(value: Any) -> Any:
    """A value in JSON's own types, whatever it is nested in.

    Results become objects of their fields, unless they have a `to_json`; arrays become lists, paths texts, and what is
    no finite number null.

    >>> plain({"sizes": (1, 2), "seconds": math.nan})
    {'sizes': [1, 2], 'seconds': None}
    """
    if hasattr(value, "to_json"):
        return value.to_json()
    if is_dataclass(value):
        return members(value, *(field.name for field in fields(value)))
    if isinstance(value, Mapping):
        return {str(name): plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [plain(member) for member in value]
    if hasattr(value, "tolist"):  # an array of NumPy's, or a number of it
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value


def members(value: object, *names: str) -> dict[str, Any]:
    """The named attributes of `value`, each as `plain` has it."""
    return {name: plain(getattr(value, name)) for name in names}
