"""Random schedules and parameters of the simulator."""

from __future__ import annotations

import random

import numpy as np
from loggops_by_hand import ANY, BySize, Op, Params

from chiplog.schedule import arrays
from chiplog.schedule.arrays import DEPENDENCY, OPERATION, Schedule
from chiplog.simulation import LogGOPS, Protocol

KINDS = {"send": arrays.SEND, "recv": arrays.RECEIVE, "calc": arrays.CALC}
SIZES = (0, 1, 2, 8, 1000, 70000)


def schedule_of(programs: list[list[Op]]) -> Schedule:
    operations, ends, starts = [], [], []
    first = 0
    for rank, program in enumerate(programs):
        for index, op in enumerate(program):
            peer, tag = (arrays.ANY if value == ANY else value for value in (op.peer, op.tag))
            operations.append((op.amount, rank, peer, tag, KINDS[op.kind], op.cpu, op.nic, 0))
            ends += [(first + index, first + on) for on in op.ends]
            starts += [(first + index, first + on) for on in op.starts]
        first += len(program)
    return Schedule(
        len(programs),
        np.array(operations, OPERATION),
        np.array(ends, DEPENDENCY),
        np.array(starts, DEPENDENCY),
    )


def random_programs(
    seed: int, *, ranks: int, messages: int, wildcards: bool, cpus: int
) -> list[list[Op]]:
    """Matching sends and receives on random ranks, calcs between them, and random dependencies, mostly backwards."""
    draw = random.Random(seed)
    programs: list[list[Op]] = [[] for _ in range(ranks)]

    def add(rank: int, op: Op) -> None:
        program = programs[rank]
        op.cpu, op.nic = draw.randrange(cpus), draw.randrange(cpus)
        share = draw.choice((0.0, 0.2, 0.6))
        op.ends = [i for i in range(len(program)) if draw.random() < share / (1 + len(program) - i)]
        op.starts = [i for i in range(len(program)) if draw.random() < 0.1 and i not in op.ends]
        program.append(op)

    pending: list[tuple[int, Op]] = []
    for _ in range(messages):
        source, target = draw.randrange(ranks), draw.randrange(ranks)
        size, tag = draw.choice(SIZES), draw.randrange(3)
        pending.append((source, Op("send", size, target, tag)))
        any_source = ANY if wildcards and draw.random() < 0.3 else source
        any_tag = ANY if wildcards and draw.random() < 0.3 else tag
        pending.append((target, Op("recv", size, any_source, any_tag)))
        if draw.random() < 0.4:
            pending.append((draw.randrange(ranks), Op("calc", draw.choice((0, 1, 700, 5000)))))
    if draw.random() < 0.7:
        draw.shuffle(pending)
    for rank, op in pending:
        add(rank, op)
    return programs


Drawn = tuple[LogGOPS, BySize]


def drawn_parameters(draw: random.Random) -> Drawn:
    """Ones that often coincide, so that much happens at the same time; of two protocols, mostly alike."""

    def protocol() -> dict[str, int]:
        choices = {
            "L": (0, 3, 2500),
            "o": (0, 2, 1500),
            "g": (0, 5, 1000, 4000),
            "G": (0, 1, 6),
            "O": (0, 1, 9),
        }
        return {name: draw.choice(values) for name, values in choices.items()}

    short = protocol()
    long = protocol() if draw.random() < 0.3 else short
    last_short, S = draw.choice((1, 2, 1000)), draw.choice((0, 1, 8, 65535))
    protocols = (Protocol.from_ns(**short), Protocol.from_ns(**long, first_bytes=last_short + 1))
    in_ps = [Params(**{name: 1000 * value for name, value in one.items()}) for one in (short, long)]
    return LogGOPS(protocols, S), BySize(*in_ps, last_short, S)
