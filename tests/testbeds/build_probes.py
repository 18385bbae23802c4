"""Builds the probes that tests of MPIs use, as many at a time as there are cores, each on one.

A test that finds no probe builds it by itself, and waits for the longest file on one core. What can't be built is left
to the tests to tell.
"""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor

from conftest import mpis_here

from chiplog.errors import ChiplogError
from chiplog.measurement.launchers import usable_cores
from chiplog.measurement.mpis import Mpi
from chiplog.measurement.probes import build_probe


def build(mpi: Mpi) -> None:
    with contextlib.suppress(ChiplogError):
        build_probe(str(mpi.mpicxx), jobs=1)


if __name__ == "__main__":
    # A simulated MPI's probe shares no file with the others, so it takes longest.
    longest_first = sorted(mpis_here().values(), key=lambda mpi: not mpi.simulated)
    with ThreadPoolExecutor(usable_cores()) as pool:
        list(pool.map(build, longest_first))
