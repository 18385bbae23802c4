"""What a communicator costs with the barrier library: made, used for some barriers, freed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from _barrier_machine import real_mpis
from _barrier_programs import verdict
from barrier_programs import compile_program, run_preloaded

from chiplog.measurement.library import BuiltLibrary, build_library

SOURCE = str(Path(__file__).parent.resolve() / "peers" / "set_ups_in_turn.cpp")
AFTER = 32
"""The default of CHIPLOG_BARRIER_AFTER."""
BARRIERS = (1, AFTER - 1, AFTER)
BEFORE_GOAL = 1.2
"""Barriers of the MPI that a communicator may cost more before its barriers pay."""
AFTER_GOAL = 20.0
"""The same with the set-up."""
LAUNCHES = 12
"""The random factor: each has other pages for its memory."""
BLOCKS, COMMUNICATORS = 2001, 3
"""Short blocks: few of them are interrupted where others use the machine, too."""
RESAMPLINGS = 1000

Block = tuple[float, float, float]
"""Nanoseconds of a communicator with the library, of one without, and of one barrier of the MPI."""


def set_ups(build: Path) -> None:
    """Prints for each MPI what the library adds, in barriers of the MPI's own."""
    for number, mpi in enumerate(real_mpis()):
        library = build_library(str(mpi.mpicxx))
        program = compile_program(mpi, SOURCE, build / f"set_ups-{number}", "-O2")
        launches = [one for _ in range(LAUNCHES) if (one := launched(library, program))]
        for barriers in BARRIERS if launches else ():
            print(line(str(mpi), barriers, [one[barriers] for one in launches]), flush=True)


def launched(library: BuiltLibrary, program: Path) -> dict[int, list[Block]]:
    """A launch's blocks by the number of barriers a communicator; none where it fails."""
    settings = {"CHIPLOG_BARRIER_AFTER": str(AFTER), "CHIPLOG_EVERY_RANK": "0"}
    settings["CHIPLOG_VERBOSE"] = "0"
    done = run_preloaded(library, 2, program, BLOCKS, COMMUNICATORS, *BARRIERS, **settings)
    if done.code == 0:
        return by_barriers(done.stdout)
    print(f"{library.mpi}: failed: {done.stderr.strip()[-300:]}")
    return {}


def by_barriers(printed: str) -> dict[int, list[Block]]:
    found: dict[int, list[Block]] = {}
    for words in map(str.split, printed.splitlines()):
        library, own, one = map(float, words[1:])
        found.setdefault(int(words[0]), []).append((library, own, one))
    return found


def added(blocks: Sequence[Block]) -> float:
    """What the library adds, in barriers: the median over the blocks of what differs within one."""
    return median(library - own for library, own, _ in blocks) / median(one for *_, one in blocks)


def line(mpi: str, barriers: int, launches: Sequence[Sequence[Block]]) -> str:
    generator = random.Random(1)
    each = [added(blocks) for blocks in launches]
    resampled = sorted(median(generator.choices(each, k=len(each))) for _ in range(RESAMPLINGS))
    low, high = resampled[RESAMPLINGS // 40], resampled[-RESAMPLINGS // 40]
    every = [block for blocks in launches for block in blocks]
    library, own, one = (median(column) / 1e3 for column in zip(*every, strict=True))
    goal = BEFORE_GOAL if barriers < AFTER else AFTER_GOAL
    return (
        f"{mpi:<18} communicator with {barriers:>2} barriers: {library:.2f} us, without the library "
        f"{own:.2f} us, one barrier {one:.2f} us ({len(launches)} launches)\n"
        f"    adds, in barriers {verdict(median(each), goal, low, high)}"
    )
