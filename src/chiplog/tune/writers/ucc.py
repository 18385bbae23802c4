"""UCC's component tl/ucp: the radix of its barrier, and scores of allgather and alltoall by sizes and team sizes.

The barrier is a k-nomial exchange: radix n + 1 sends n messages a round. Where P is no power of the radix, UCC's ranks
beyond it tell a partner first, which n-way dissemination does not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from chiplog.errors import UsageError
from chiplog.prediction.n_way import N_WAY
from chiplog.tune.choice import Tuning
from chiplog.tune.formats import ucc_scores
from chiplog.tune.formats.one_radix import lines, radix, read_lines
from chiplog.tune.version import Version
from chiplog.tune.writer import TuningFormat, TuningWriter, only_format

VARIABLE = "UCC_TL_UCP_BARRIER_KN_RADIX"


def offered(operation: str, _: Version) -> Collection[str]:
    """The radix of a barrier, else the algorithms that scores name."""
    if operation == "barrier":
        return (N_WAY,)
    if operation not in ucc_scores.ALGORITHMS:
        raise UsageError(
            f"--operation {operation}: UCC's settings are written for barrier, {', '.join(ucc_scores.ALGORITHMS)}."
        )
    return ucc_scores.ALGORITHMS[operation]


def text(tuning: Tuning, _: Version) -> str:
    """One line."""
    if tuning.operation != "barrier":
        return ucc_scores.text(tuning)
    ranks = f"{tuning.ranks[0]} to {tuning.ranks[-1]} ranks"
    return lines(
        {VARIABLE: radix(tuning)},
        f"UCC: barrier of {ranks}, by the fit of {tuning.model}{tuning.caution}",
    )


def settings(path: Path, _: Version) -> Mapping[str, str]:
    """What the file says."""
    return read_lines(path)


FORMAT = TuningFormat(offered, text, settings)
UCC = TuningWriter(
    name="ucc",
    summary="UCC's tl/ucp: one radix of the barrier; allgather and alltoall by ranks and sizes",
    format_for=only_format(FORMAT),
)
