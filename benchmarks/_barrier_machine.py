"""The barrier library on this machine: 2 ranks in several launches, 4 and 8 ranks that share the cores in one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from _alternate import Ratio, ratio
from _barrier_programs import SOURCE, Medians, medians, verdict
from barrier_programs import compile_program, run_preloaded

from chiplog.measurement.library import BuiltLibrary, build_library
from chiplog.measurement.mpis import Mpi, find_mpis, identify_mpi

GOALS = {"openmpi": 0.35, "mpich": 0.25, "intel": 0.25}
FLAGS_GOAL = 1.1
LAUNCHES = 12
"""Each has other pages for its flags, whose place in the cache counts."""
SAME_STATE = 1.2
"""Launches whose ways there and back differ by less met the machine in one state."""


def real_mpis() -> Iterator[Mpi]:
    wrappers = filter(None, os.environ.get("CHIPLOG_TEST_MPIS", "").split(os.pathsep))
    for mpi in (*find_mpis(), *(identify_mpi(wrapper) for wrapper in wrappers)):
        if not mpi.simulated:
            yield mpi


def this_machine(build: Path) -> None:
    for number, mpi in enumerate(real_mpis()):
        library = build_library(str(mpi.mpicxx))
        program = compile_program(mpi, SOURCE, build / f"in_turn-{number}", "-O3")
        launches = [launched(library, 2, program, 61, 1000, "pin") for _ in range(LAUNCHES)]
        for state in by_state([one for one in launches if one is not None]):
            print(two_ranks_line(mpi, state), flush=True)
        for ranks in (4, 8):
            found = launched(library, ranks, program, 11, 10)
            if found is not None:
                print(shared_cores_line(mpi, ranks, found), flush=True)


def launched(
    library: BuiltLibrary, ranks: int, program: Path, *arguments: object
) -> Medians | None:
    done = run_preloaded(library, ranks, program, *arguments)
    found = medians(done.stdout)
    if "own" in found:
        return found
    print(f"{library.mpi}, {ranks} ranks: failed: {done.stderr.strip()[-300:]}")
    return None


def by_state(launches: Sequence[Medians]) -> Iterator[list[Medians]]:
    """A virtual machine's cores lie nearer or farther apart at times: a flag's way there and back tells."""
    state: list[Medians] = []
    for one in sorted(launches, key=lambda one: one["return"]):
        if state and one["return"] > SAME_STATE * state[-1]["return"]:
            yield state
            state = []
        state.append(one)
    if state:
        yield state


def two_ranks_line(mpi: Mpi, state: Sequence[Medians]) -> str:
    library, own, flags, way = (
        [one[name] for one in state] for name in ("library", "own", "flags", "return")
    )
    to_own, to_flags = ratio("", library, own), ratio("", library, flags)
    return (
        f"{mpi!s:<18} 2 ranks, a flag there and back in {median(way):.0f} ns ({len(state)} launches): "
        f"library {median(library):.1f} ns, own {median(own):.1f} ns, two flags {median(flags):.1f} ns\n"
        f"    library / own   {of_goal(to_own, GOALS.get(mpi.kind, 1.0))}\n"
        f"    library / flags {of_goal(to_flags, FLAGS_GOAL)}"
    )


def of_goal(found: Ratio, goal: float) -> str:
    return verdict(found.value, goal, found.low, found.high)


def shared_cores_line(mpi: Mpi, ranks: int, found: Medians) -> str:
    return (
        f"{mpi!s:<18} {ranks} ranks: library {found['library']:.1f} ns, own {found['own']:.1f} ns, "
        f"ratio {verdict(found['library'] / found['own'], 1.0)}"
    )
