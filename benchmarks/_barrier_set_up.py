"""What a communicator costs with the barrier library: made, used for some barriers, freed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from _barrier_machine import real_mpis
from _barrier_programs import verdict
from barrier_programs import compile_program, run_preloaded

from chiplog.measure.library import build_library

SOURCE = str(Path(__file__).parent.resolve() / "peers" / "set_ups_in_turn.cpp")
AFTER = 32
"""The default of CHIPLOG_BARRIER_AFTER."""
BARRIERS = (1, AFTER - 1, AFTER)
BEFORE_GOAL = 1.2
"""Barriers of the MPI that a communicator may cost more before its barriers pay."""
AFTER_GOAL = 20.0
"""The same with the set-up."""
BLOCKS, COMMUNICATORS = 201, 3
"""Short blocks: few of them are interrupted where others use the machine, too."""
RESAMPLINGS = 1000

Block = tuple[float, float, float]
"""Nanoseconds of a communicator with the library, of one without, and of one barrier of the MPI."""


def set_ups(build: Path) -> None:
    """Prints for each MPI what the library adds, in barriers of the MPI's own."""
    for number, mpi in enumerate(real_mpis()):
        library = build_library(str(mpi.mpicxx))
        program = compile_program(mpi, SOURCE, build / f"set_ups-{number}", "-O2")
        settings = {"CHIPLOG_BARRIER_AFTER": str(AFTER), "CHIPLOG_EVERY_RANK": "0"}
        settings["CHIPLOG_VERBOSE"] = "0"
        done = run_preloaded(library, 2, program, BLOCKS, COMMUNICATORS, *BARRIERS, **settings)
        if done.code != 0:
            print(f"{mpi}: failed: {done.stderr.strip()[-300:]}")
            continue
        for barriers, blocks in by_barriers(done.stdout).items():
            print(line(str(mpi), barriers, blocks), flush=True)


def by_barriers(printed: str) -> dict[int, list[Block]]:
    found: dict[int, list[Block]] = {}
    for words in map(str.split, printed.splitlines()):
        library, own, one = map(float, words[1:])
        found.setdefault(int(words[0]), []).append((library, own, one))
    return found


def added(blocks: Sequence[Block]) -> float:
    """What the library adds, in barriers: the median over the blocks of what differs within one."""
    return median(library - own for library, own, _ in blocks) / median(one for *_, one in blocks)


def line(mpi: str, barriers: int, blocks: Sequence[Block]) -> str:
    generator = random.Random(1)
    resampled = sorted(added(generator.choices(blocks, k=len(blocks))) for _ in range(RESAMPLINGS))
    low, high = resampled[RESAMPLINGS // 40], resampled[-RESAMPLINGS // 40]
    library, own, one = (median(column) / 1e3 for column in zip(*blocks, strict=True))
    goal = BEFORE_GOAL if barriers < AFTER else AFTER_GOAL
    return (
        f"{mpi:<18} communicator with {barriers:>2} barriers: {library:.2f} us, without the library "
        f"{own:.2f} us, one barrier {one:.2f} us\n"
        f"    adds, in barriers {verdict(added(blocks), goal)} [{low:.2f}, {high:.2f}]"
    )
