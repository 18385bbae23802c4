"""Says why a schedule can't finish: who waits, and for what."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chiplog.counts import counted, listed
from chiplog.schedule.arrays import RECEIVE, Schedule

MOST_NAMED = 8
"""Given: operations that wait for ever."""


def stuck_sentence(
    schedule: Schedule, unfinished: NDArray[np.uint32], unreceived: NDArray[np.uint32]
) -> str:
    """Names up to MOST_NAMED operations, those first that others wait for.

    `unfinished` and `unreceived` are what the simulator found: operations that have not ended, and sends whose message
    nobody received, each of shape (operations,).
    """
    open_requirements = _open_requirements(schedule, unfinished)
    roots = [int(operation) for operation in unfinished if int(operation) not in open_requirements]
    waiting = [f"{schedule.describe(root)} ({_awaited(schedule, root)})" for root in roots]
    waiting += [f"{schedule.describe(int(send))} (nobody receives it)" for send in unreceived]
    waiting += [
        f"{schedule.describe(operation)} (waits for {schedule.describe(on)})"
        for operation, on in open_requirements.items()
    ]
    named = "; ".join(waiting[:MOST_NAMED])
    more = f"; and {len(waiting) - MOST_NAMED} more" if len(waiting) > MOST_NAMED else ""
    ranks = np.unique(schedule.operations["rank"][np.concatenate([unfinished, unreceived])])
    cycle = "" if roots or not unfinished.size else " Their requirements form a cycle."
    wait = "waits" if len(waiting) == 1 else "wait"
    of = f"{counted(len(waiting), 'operation')} of {_ranks_text(ranks)}"
    return f"the schedule can't finish: {of} {wait}: {named}{more}.{cycle}"


def _open_requirements(schedule: Schedule, unfinished: NDArray[np.uint32]) -> dict[int, int]:
    """For each operation that waits for another one which never ends (or starts): that one."""
    is_open = np.zeros(schedule.operations.size, bool)
    is_open[unfinished] = True
    requirements: dict[int, int] = {}
    for dependencies in (schedule.requires_end, schedule.requires_start):
        both = is_open[dependencies["operation"]] & is_open[dependencies["on"]]
        for operation, on in dependencies[both].tolist():
            requirements.setdefault(operation, on)
    return requirements


def _awaited(schedule: Schedule, operation: int) -> str:
    if schedule.operations[operation]["kind"] == RECEIVE:
        return "no message matches it"
    return "its message is larger than S, and no receive matches it"


def _ranks_text(ranks: NDArray[np.uint32]) -> str:
    shown = listed([str(rank) for rank in ranks], MOST_NAMED)
    return f"rank {shown}" if ranks.size == 1 else f"ranks {shown}"
