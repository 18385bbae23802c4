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
from chiplog.tune.formats.mpich_json import ALGORITHMS, FLAT
from chiplog.tune.measured.candidate import Candidate, Field

ENVIRONMENT = {"MPIR_CVAR_COLLECTIVE_FALLBACK": "error"}
"""An algorithm that can't serve a call says so, instead of leaving it to another one."""
DEVICE, EACH = "MPIR_CVAR_DEVICE_COLLECTIVES", "percoll"
"""Whether the device decides is asked operation by operation then."""
NOT_ITSELF = ("smp",)
"""It chooses among the others."""
WITH_PARAMETERS = re.compile(r"(^|_)(k|tree|recexch|multiplying|release|ccl|circ)(_|$)")
"""These need numbers of their own in a tree."""

Ask = Callable[[str, Mapping[str, str]], Sequence[Mapping[str, Any]]]


def field_of(
    operation: str, ask: Ask, leaves: Collection[str], *, is_behind_device: bool = False
) -> Field:
    """The operation's algorithms among `leaves`, those that a tree of the release may have.

    Where the device would go node by node before it asks for an algorithm (`is_behind_device`), they race without it,
    and so does what MPICH takes by itself then.
    """
    variable = f"MPIR_CVAR_{operation.upper()}_INTRA_ALGORITHM"
    stem = f"MPIR_{operation.capitalize()}_intra_"
    ours = {leaf: name for name, leaf in ALGORITHMS.get(operation, {}).items()}
    alone = _without_device(operation, ask) if is_behind_device else ()
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
        settings = ((variable, value), *alone)
        candidates.append(Candidate(name, settings, Native(leaf), ours.get(leaf)))
    if alone:
        candidates.append(Candidate(FLAT.name, alone, FLAT))
    return Field(tuple(candidates), dict(ENVIRONMENT), left_out)


def _without_device(operation: str, ask: Ask) -> tuple[tuple[str, int], ...]:
    each = _value_of(DEVICE, EACH, ask)
    if each is None:
        raise RunFailed(f"this MPICH has no {DEVICE}={EACH}, so its device can't be left out.")
    return ((DEVICE, each), (f"MPIR_CVAR_{operation.upper()}_DEVICE_COLLECTIVE", 0))


def _value_of(variable: str, name: str, ask: Ask) -> int | None:
    try:
        # Without ENVIRONMENT: a start-up of the MPI that uses this operation itself may need another algorithm.
        lines = ask(variable, {variable: name})
    except RunFailed:
        return None
    return next((int(line["value"]) for line in lines if line["name"] == variable), None)
