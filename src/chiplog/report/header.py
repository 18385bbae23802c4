"""Reading a run's header, which may lack anything: an older file, an import, a failed start."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


def text(header: Mapping[str, object], *path: str) -> str | None:
    """The text at a path of member names; None where it is missing or empty."""
    value = _at(header, path)
    return str(value) if isinstance(value, str | int | float) and str(value) else None


def number(header: Mapping[str, object], *path: str) -> float | None:
    """The finite number at a path of member names; None where it is missing."""
    value = _at(header, path)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def items(header: Mapping[str, object], *path: str) -> tuple[object, ...]:
    """The list at a path of member names; empty where it is missing."""
    value = _at(header, path)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return tuple(value)
    return ()


def members(header: Mapping[str, object], *path: str) -> Mapping[str, object]:
    """The object at a path of member names; empty where it is missing."""
    value = _at(header, path)
    return value if isinstance(value, Mapping) else {}


def _at(header: Mapping[str, object], path: tuple[str, ...]) -> object:
    value: object = header
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value
