"""What of a machine may explain that its figures changed: kernel, drivers, MPI and settings, as one flat table."""

from __future__ import annotations

import json
from collections.abc import Mapping

_PARTS = ("machine", "mpi", "options", "plan")
_SINGLE = ("chiplog", "transport", "ranks", "placement")
_UNLIKE = frozenset(
    {"plan.seed", "plan.kind", "plan.leaf_names", "options.seed", "options.rendezvous"}
)
"""What may differ from run to run and explains nothing."""
_OF_EACH_RANK = "plan.leaves"
"""The declared leaf of each rank: how many leaves there are is enough."""


def fingerprint_of(header: Mapping[str, object]) -> dict[str, str]:
    """The fingerprint in the header of a run file, by dotted names, sorted.

    >>> fingerprint_of({"machine": {"kernel": "6.1"}, "mpi": None, "ranks": 4})
    {'machine.kernel': '6.1', 'ranks': '4'}
    >>> fingerprint_of({"plan": {"leaves": [0, 0, 1, 1], "leaf_names": ["west", "east"]}})
    {'plan.leaves': '2'}
    """
    facts: dict[str, str] = {}
    for name in _PARTS:
        part = header.get(name)
        if isinstance(part, Mapping):
            _flatten(name, part, facts)
    for name in _SINGLE:
        if header.get(name) is not None:
            facts[name] = str(header[name])
    return {name: facts[name] for name in sorted(facts) if name not in _UNLIKE}


def _flatten(name: str, part: Mapping[str, object], facts: dict[str, str]) -> None:
    for key, value in part.items():
        inner = f"{name}.{key}"
        if isinstance(value, Mapping):
            _flatten(inner, value, facts)
        elif inner == _OF_EACH_RANK and isinstance(value, list):
            facts[inner] = str(len(set(map(str, value))))
        elif value is not None:
            facts[inner] = value if isinstance(value, str) else json.dumps(value)


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """What differs between two fingerprints, a sentence's part each.

    >>> differences({"machine.kernel": "6.1"}, {"machine.kernel": "6.2", "mpi.library": "x"})
    ['machine.kernel: 6.1 -> 6.2', 'mpi.library: none -> x']
    """
    names = sorted({*before, *after})
    return [
        f"{name}: {before.get(name, 'none')} -> {after.get(name, 'none')}"
        for name in names
        if before.get(name) != after.get(name)
    ]
