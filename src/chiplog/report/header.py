"""Reading a run's header, which may lack anything: an older file, an import, a failed start."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


def text(header: Mapping[str, object], *path: str) -> str | None:
    """The text at a path of member names; None where it is missing or empty."""
    found = _at(header, path)
    return str(found) if isinstance(found, str | int | float) and str(found) else None


def number(header: Mapping[str, object], *path: str) -> float | None:
    """The finite number at a path of member names; None where it is missing."""
    found = _at(header, path)
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        return None
    return float(found)


def items(header: Mapping[str, object], *path: str) -> tuple[object, ...]:
    """The list at a path of member names; empty where it is missing."""
    found = _at(header, path)
    if isinstance(found, Sequence) and not isinstance(found, str | bytes):
        return tuple(found)
    return ()


def members(header: Mapping[str, object], *path: str) -> Mapping[str, object]:
    """The object at a path of member names; empty where it is missing."""
    found = _at(header, path)
    return found if isinstance(found, Mapping) else {}


def _at(header: Mapping[str, object], path: tuple[str, ...]) -> object:
    found: object = header
    for name in path:
        if not isinstance(found, Mapping):
            return None
        found = found.get(name)
    return found
