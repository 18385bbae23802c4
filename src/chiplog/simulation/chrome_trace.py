"""A simulation as a trace that Perfetto and Chrome show: a process for each rank, a track for each of its CPUs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from chiplog.schedule.arrays import Schedule
from chiplog.simulation.simulate import COMPUTING, RECEIVING, Simulation

PS_PER_US = 1_000_000


def write_chrome_trace(schedule: Schedule, simulation: Simulation, file: BinaryIO) -> None:
    """Writes the busy times of `simulation`, and an arrow for each message, in the Trace Event Format.

    Source: Google, "Trace Event Format" (phases X, s and f; times in microseconds).
    """
    file.write(b'{"displayTimeUnit": "ns", "traceEvents": [\n')
    file.writelines(
        ((",\n" if index else "") + json.dumps(event)).encode()
        for index, event in enumerate(_events(schedule, simulation))
    )
    file.write(b"\n]}\n")


def _events(schedule: Schedule, simulation: Simulation) -> Iterator[dict[str, Any]]:
    for rank in range(schedule.ranks):
        name = {"name": f"rank {rank}"}
        yield {"ph": "M", "name": "process_name", "pid": rank, "tid": 0, "args": name}
    for start_ps, end_ps, operation, work in simulation.busy.tolist():
        amount, rank, peer, tag, _, cpu, nic, _ = schedule.operations[operation].tolist()
        place = {"pid": peer if work == RECEIVING else rank, "tid": cpu, "ts": start_ps / PS_PER_US}
        span = {"ph": "X", "dur": (end_ps - start_ps) / PS_PER_US, **place}
        if work == COMPUTING:
            yield {"name": f"calc {amount}", **span}
            continue
        message = {"source": rank, "target": peer, "bytes": amount, "tag": tag, "nic": nic}
        arrow = {"cat": "message", "name": "message", "id": operation, **place}
        if work == RECEIVING:
            yield {"name": f"from {rank}", "args": message, **span}
            yield {"ph": "f", "bp": "e", **arrow}
        else:
            yield {"name": f"to {peer}", "args": message, **span}
            yield {"ph": "s", **arrow}
