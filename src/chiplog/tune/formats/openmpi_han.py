"""Open MPI's coll/han: where ranks span several hosts it comes before coll/tuned, whose rules then count for nothing.

Since 5.0. Its own rules say by number of ranks and size which component does an operation, so that han hands over to
tuned where tuned has a rule, and stays what it is elsewhere. An entry holds up to the next number of ranks, the first
being 1, and up to the next size, the first being 0; sizes are those of a block where there are blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from chiplog.collectives.mpis.openmpi import BY_HAN, FIRST_HAN
from chiplog.tune.choice import Tuning
from chiplog.tune.ranges import rules
from chiplog.tune.version import Version
from chiplog.tune.writer import Companion

FIRST_WITH_ALLTOALL = (6, 0)
"""Given: the release whose han does alltoall, too."""
ENDING = ".han"
TUNED, HAN = "tuned", "han"


def comes_first(operation: str, version: Version) -> bool:
    """Whether han does this operation, where ranks span several hosts with several ranks each."""
    if operation == "alltoall":
        return version >= FIRST_WITH_ALLTOALL
    return version >= FIRST_HAN and operation in BY_HAN


def companions(tuning: Tuning, version: Version) -> Sequence[Companion]:
    """The file of han's rules that goes with one of tuned's; none where han has no part in the operation.

    Nor where the tuning was measured on one host: across hosts all is left to han then.
    """
    is_alone = tuning.is_of_one_host or not tuning.has_rules
    if is_alone or not comes_first(tuning.operation, version):
        return ()
    return (Companion(ENDING, _text(tuning), settings),)


def settings(path: Path) -> Mapping[str, str]:
    """The environment that makes han read the file."""
    return {
        "OMPI_MCA_coll_han_use_dynamic_file_rules": "1",
        "OMPI_MCA_coll_han_dynamic_rules_filename": str(path.absolute()),
    }


def _text(tuning: Tuning) -> str:
    """The reader stops silently at a mistake; it knows comments at the ends of lines."""
    entries = rules(tuning)
    lines = [
        "1 # collectives",
        f"{tuning.operation} 1 # level",
        f"global_communicator {len(entries)} # numbers of ranks",
    ]
    for entry in entries:
        lines.append(f"{max(1, entry.first_ranks)} {len(entry.sizes)} # ranks, sizes")
        lines += [
            f"{size.first_bytes} {HAN if size.key is None else TUNED}" for size in entry.sizes
        ]
    return "\n".join(lines) + "\n"
