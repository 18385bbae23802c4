"""Marked copies of tuning files: the same file but for one entry, which makes a barrier of 3 ranks fail.

Where the copy makes it fail, the MPI has read the file and takes its barriers from it.
"""

from __future__ import annotations

import json
import re
from typing import Any

from chiplog.errors import UsageError
from chiplog.tune.exporters.openmpi_classic import COLLECTIVE_IDS

MARKED_RANKS = 3
TWO_PROCESSES = 5
"""Open MPI's barrier of two processes: refuses other numbers of ranks."""

BARRIER_ID = COLLECTIVE_IDS["barrier"]
NOT_A_BARRIER: dict[str, Any] = {"algorithm=MPIR_Bcast_intra_binomial": {}}
"""A leaf that MPICH knows and asserts against in a barrier."""

_NUMBER = re.compile(r"#[^\n]*|\b\d+\b")


class NotRules(ValueError):
    """The text is no such file; the sentence says where."""


def marked_classic(text: str) -> str:
    """Open MPI's classic rules with all barrier algorithms replaced; all else stays as it is, mistakes included.

    Without rules for barriers, some are added. Raises NotRules where the numbers end too early.
    """
    places = [one for one in _NUMBER.finditer(text) if not one[0].startswith("#")]
    numbers = [int(one[0]) for one in places]
    algorithms = list(_barrier_algorithms(numbers))
    if algorithms:
        return _replaced(text, [(places[at].span(), str(TWO_PROCESSES)) for at in algorithms])
    more = _replaced(text, [(places[0].span(), str(numbers[0] + 1))])
    return f"{more}\n{BARRIER_ID} 1 0 1 0 {TWO_PROCESSES} 0 0\n"


def _barrier_algorithms(numbers: list[int]) -> list[int]:
    """Where among the numbers those of the barrier's algorithms stand."""
    found, at = [], 0

    def following() -> int:
        nonlocal at
        if at >= len(numbers):
            raise NotRules(f"the file ends after {len(numbers)} numbers, where more are announced")
        at += 1
        return numbers[at - 1]

    for _ in range(following()):
        collective = following()
        for _ in range(following()):
            following()
            for _ in range(following()):
                following()
                if collective == BARRIER_ID:
                    found.append(at)
                for _ in range(3):
                    following()
    return found


def _replaced(text: str, replacements: list[tuple[tuple[int, int], str]]) -> str:
    for (start, end), new in sorted(replacements, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def marked_openmpi_json(text: str) -> str:
    """Open MPI's JSON rules with one for barriers put before all others."""
    rules = _object(text)
    collectives = rules.setdefault("collectives", {})
    rule = {"comm_rank_distribution": "any", "rules": [{"alg": TWO_PROCESSES}]}
    collectives["barrier"] = [rule, *collectives.get("barrier", [])]
    return json.dumps(rules)


def marked_mpich_json(text: str) -> str:
    """MPICH's tree with a leaf for barriers of 3 ranks that is none."""
    tree = _object(text)
    branch = tree.get("collective=barrier", {})
    own = branch.get("comm_type=intra")
    if own is None:
        raise NotRules("there is no branch for barriers: MPICH needs a whole tree")
    branch["comm_type=intra"] = {
        f"comm_size<{MARKED_RANKS}": own,
        f"comm_size<={MARKED_RANKS}": NOT_A_BARRIER,
        "comm_size=any": own,
    }
    return json.dumps(tree) + "\n"


def marked_cvars(text: str) -> str:
    """MPICH's control variables with an algorithm that no flat communicator can use, and the order to say so."""
    if "MPIR_CVAR_BARRIER_INTRA_ALGORITHM=" not in text:
        raise UsageError(
            "the file sets no MPIR_CVAR_BARRIER_INTRA_ALGORITHM, so there is nothing to prove."
        )
    changed = re.sub(r"(?m)^(MPIR_CVAR_BARRIER_INTRA_ALGORITHM)=.*$", r"\1=smp", text)
    return changed + "MPIR_CVAR_COLLECTIVE_FALLBACK=error\n"


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise NotRules(f"it is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise NotRules("it is no JSON object")
    return found
