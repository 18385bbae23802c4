"""UCC's component tl/ucp: the radix of its barrier, and scores of allgather and alltoall by sizes and team sizes.

The barrier is a k-nomial exchange: radix n + 1 sends n messages a round. Where P is no power of the radix, UCC's ranks
beyond it tell a partner first, which n-way dissemination does not.

`UCC_TL_UCP_TUNE=alltoall:0-4096:[8-8]:@bruck#...`: a range of sizes ends before its second number, one of team sizes
with it. Without a score the component's own stays, so the choice among UCC's components does. What no token names, UCC
decides by itself. UCC looks a size up by what all ranks' blocks are together.

Source: user guide of UCC, "TL scores"; `ucc_coll_args_msgsize` and `ucc_coll_score_update_one` of UCC 1.3.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from chiplog.errors import UsageError
from chiplog.prediction.n_way import N_WAY
from chiplog.tune.choice import Tuning
from chiplog.tune.formats.one_radix import lines, radix, settings
from chiplog.tune.ranges import rules
from chiplog.tune.version import Version
from chiplog.tune.writer import TuningFormat, TuningWriter, only_format

RADIX, SCORES = "UCC_TL_UCP_BARRIER_KN_RADIX", "UCC_TL_UCP_TUNE"
ALGORITHMS: Mapping[str, Mapping[str, str]] = {
    "allgather": {"bruck": "bruck", "ring": "ring"},
    "alltoall": {"bruck": "bruck", "pairwise": "pairwise"},
}
"""UCC's name of each algorithm, by operation and our name; of the others UCC has none that a model here predicts."""


def offered(operation: str, _: Version) -> Collection[str]:
    """The radix of a barrier, else the algorithms that scores name."""
    if operation == "barrier":
        return (N_WAY,)
    if operation not in ALGORITHMS:
        raise UsageError(
            f"--operation {operation}: UCC's settings are written for barrier, {', '.join(ALGORITHMS)}."
        )
    return ALGORITHMS[operation]


def text(tuning: Tuning, _: Version) -> str:
    """One variable; comments only where nothing leaves the default."""
    if tuning.operation != "barrier":
        return _scores(tuning)
    ranks = f"{tuning.ranks[0]} to {tuning.ranks[-1]} ranks"
    return lines(
        {RADIX: radix(tuning)},
        f"UCC: barrier of {ranks}, by the fit of {tuning.model}{tuning.caution}",
    )


def _scores(tuning: Tuning) -> str:
    """Each number of ranks has its own tokens: the same blocks are another size with other ranks."""
    tokens = [token for ranks in tuning.ranks for token in _tokens(tuning, ranks)]
    settings = {SCORES: "#".join(tokens)} if tokens else {}
    remark = f"UCC 1.3 and later: {tuning.operation}, by the fit of {tuning.model}{tuning.caution}"
    return lines(settings, remark, "messages of host memory, over tl/ucp")


def _tokens(tuning: Tuning, ranks: int) -> list[str]:
    """Those of one number of ranks."""
    of_ranks = rules(replace(tuning, choices=tuning.at(ranks)))
    sizes = next((entry.sizes for entry in of_ranks if entry.first_ranks == ranks), ())
    tokens = []
    for place, rule in enumerate(sizes):
        if rule.key is None:
            continue
        ends = [size.first_bytes * ranks for size in sizes[place + 1 :]]
        span = f"{rule.first_bytes * ranks}-{ends[0] if ends else 'inf'}"
        algorithm = ALGORITHMS[tuning.operation][rule.key.algorithm]
        tokens.append(f"{tuning.operation}:{span}:[{ranks}-{ranks}]:@{algorithm}")
    return tokens


FORMAT = TuningFormat(offered, text, settings)
UCC = TuningWriter(
    name="ucc",
    summary="UCC's tl/ucp: one radix of the barrier; allgather and alltoall by ranks and sizes",
    format_for=only_format(FORMAT),
)
