"""MPICH's candidates: the algorithms that its trees can choose, each forced by a control variable.

The library itself holds the names of its trees' leaves. MPI_T tells no values for names; so each name is put into the
environment once, and MPI_T is asked for the value that came of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from chiplog.errors import RunFailed
from chiplog.tune.choice import Native
from chiplog.tune.formats.mpich_json import ALGORITHMS
from chiplog.tune.measured.candidate import Candidate, Field

ENVIRONMENT = {"MPIR_CVAR_COLLECTIVE_FALLBACK": "error"}
"""An algorithm that can't serve a call says so, instead of leaving it to another one."""
NOT_ITSELF = ("smp",)
"""It chooses among the others."""
WITH_PARAMETERS = re.compile(r"(^|_)(k|tree|recexch|multiplying|release|ccl|circ)(_|$)")
"""These need numbers of their own in a tree."""

Ask = Callable[[str, Mapping[str, str]], Sequence[Mapping[str, Any]]]


def field_of(operation: str, ask: Ask, leaves: Collection[str]) -> Field:
    """The operation's algorithms among `leaves`, those that a tree of the release may have."""
    variable = f"MPIR_CVAR_{operation.upper()}_INTRA_ALGORITHM"
    stem = f"MPIR_{operation.capitalize()}_intra_"
    ours = {leaf: name for name, leaf in ALGORITHMS.get(operation, {}).items()}
    candidates, left_out = [], {}
    for leaf in sorted(leaves):
        name = leaf.removeprefix(stem)
        if name == leaf or name in NOT_ITSELF:
            continue
        if WITH_PARAMETERS.search(name):
            left_out[name] = "it needs parameters, which are not tried"
            continue
        value = _value_of(variable, name, ask)
        if value is None:
            left_out[name] = "no control variable forces it"
            continue
        candidates.append(Candidate(name, ((variable, value),), Native(leaf), ours.get(leaf)))
    return Field(tuple(candidates), dict(ENVIRONMENT), left_out)


def _value_of(variable: str, name: str, ask: Ask) -> int | None:
    try:
        # Without ENVIRONMENT: a start-up of the MPI that uses this operation itself may need another algorithm.
        lines = ask(variable, {variable: name})
    except RunFailed:
        return None
    return next((int(one["value"]) for one in lines if one["name"] == variable), None)
