"""MPICH's control variables for the barrier, of 4.1 and later: the safe way, and it outranks the JSON file."""

from __future__ import annotations

import re
from collections.abc import Collection

from chiplog.errors import UsageError
from chiplog.prediction.n_way import N_WAY
from chiplog.tune.choice import Tuning
from chiplog.tune.formats.one_radix import lines, radix, settings
from chiplog.tune.version import Version, version_text
from chiplog.tune.writer import TuningFormat

ALGORITHM = "MPIR_CVAR_BARRIER_INTRA_ALGORITHM"
RADIX = "MPIR_CVAR_BARRIER_DISSEM_KVAL"
FIRST_RADIX = (4, 1)
"""Given: the first release with a barrier that has a radix."""


def offered(operation: str, version: Version) -> Collection[str]:
    """Barriers only: what else depends on sizes, of which control variables know nothing."""
    if operation != "barrier":
        raise UsageError(
            f"--operation {operation}: MPICH's variables are written for barrier; name the file *.json for others."
        )
    if version < FIRST_RADIX:
        raise UsageError(
            f"--version {version_text(version)}: MPICH has a barrier with a radix since 4.1."
        )
    return (N_WAY,)


def text(tuning: Tuning, version: Version) -> str:
    """K = n + 1."""
    k = radix(tuning)
    ranks = f"{tuning.ranks[0]} to {tuning.ranks[-1]} ranks"
    remark = f"MPICH {version_text(version)}: barrier of {ranks}, by the fit of {tuning.model}; k = n + 1"
    return lines({ALGORITHM: "k_dissemination", RADIX: k}, remark + tuning.caution)


def marked(text: str) -> str:
    """MPICH's control variables with an algorithm that no flat communicator can use, and the order to say so."""
    if "MPIR_CVAR_BARRIER_INTRA_ALGORITHM=" not in text:
        raise UsageError(
            "the file sets no MPIR_CVAR_BARRIER_INTRA_ALGORITHM, so there is nothing to prove."
        )
    changed = re.sub(r"(?m)^(MPIR_CVAR_BARRIER_INTRA_ALGORITHM)=.*$", r"\1=smp", text)
    return changed + "MPIR_CVAR_COLLECTIVE_FALLBACK=error\n"


FORMAT = TuningFormat(offered, text, settings)
