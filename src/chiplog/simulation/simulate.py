"""Runs the simulator."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chiplog import _native
from chiplog.errors import RunFailed
from chiplog.schedule.arrays import Schedule, as_bytes
from chiplog.simulation.conditions import Conditions
from chiplog.simulation.critical_path import CriticalPath, critical_path
from chiplog.simulation.parameters import LogGOPS
from chiplog.simulation.stuck import stuck_sentence

BUSY = np.dtype([("start_ps", "<i8"), ("end_ps", "<i8"), ("operation", "<u4"), ("work", "<u4")])
"""CPU time on a rank: of the operation, or for RECEIVING on the peer of the send that is named."""
COMPUTING, SENDING, RECEIVING = 0, 1, 2


@dataclass(frozen=True, repr=False)
class Simulation:
    """What came out.

    `finish_ps` says when each rank was done, in picoseconds, shape (ranks,); `events` counts operations executed and
    messages sent, three a message; `busy` has the type BUSY and the shape (busy times,), in the order of execution,
    and is empty unless a trace was asked for. `critical_path` is there if it was asked for. `schedule` is what was
    executed: its operations are those that `busy` and `critical_path` number.
    """

    finish_ps: NDArray[np.int64]
    events: int
    wall_seconds: float
    busy: NDArray[Any]
    schedule: Schedule
    critical_path: CriticalPath | None = None

    @property
    def makespan_ps(self) -> int:
        """When the last rank was done, in picoseconds."""
        return int(self.finish_ps.max())

    def __repr__(self) -> str:
        return (
            f"Simulation of {self.finish_ps.size} ranks: the last is done after {self.makespan_ps * 1e-12:.4g} s,"
            f" the first after {int(self.finish_ps.min()) * 1e-12:.4g} s; {self.events} events"
        )


PLAIN = Conditions()


def simulate(
    schedule: Schedule,
    parameters: LogGOPS,
    *,
    conditions: Conditions = PLAIN,
    trace: bool = False,
    follow: bool = False,
) -> Simulation:
    """Executes `schedule` under LogGOPS.

    Classes of pairs in `conditions` take the place of the protocols of `parameters`. With `follow`, the critical path
    is told; not with noise, a node's shared rate and LogfP's free messages (ValueError).

    Raises RunFailed where the schedule can't finish, naming the ranks and operations that wait, and where a time
    exceeds 2^63 ps (106 days); ValueError where the arrays hold what no schedule may.
    """
    began = time.perf_counter()
    native = parameters.for_native()
    conditions.set_on(native)
    try:
        finish, events, unfinished, unreceived, busy, counts, steps = _native.simulate(
            schedule.ranks,
            as_bytes(schedule.operations),
            as_bytes(schedule.requires_end),
            as_bytes(schedule.requires_start),
            native,
            trace=trace,
            follow=follow,
        )
    except OverflowError as error:
        raise RunFailed(f"the simulation ended early: {error}.") from error
    seconds = time.perf_counter() - began
    if unfinished.size or unreceived.size:
        raise RunFailed(stuck_sentence(schedule, unfinished, unreceived))
    path = critical_path(counts, steps) if follow else None
    return Simulation(finish, events, seconds, busy.view(BUSY), schedule, path)
