"""How the barrier library gets into a program's ranks, by kind of MPI."""

from __future__ import annotations

from pathlib import Path

import pytest

from chiplog.errors import RunFailed
from chiplog.measurement.library import BuiltLibrary
from chiplog.measurement.mpis import Mpi


def library(kind: str) -> BuiltLibrary:
    mpi = Mpi(kind, "1.0", Path("/mpi/bin/mpicxx"), Path("/mpi/bin/mpirun"), "12", "g++")
    return BuiltLibrary(Path("/cache/libchiplog_coll.so"), mpi)


def test_open_mpi_exports_it_to_the_ranks_only() -> None:
    assert library("openmpi").preloading(CHIPLOG_BARRIER_N="3") == (
        *("-x", "LD_PRELOAD=/cache/libchiplog_coll.so"),
        *("-x", "CHIPLOG_BARRIER_N=3"),
    )


@pytest.mark.parametrize("kind", ["mpich", "intel"])
def test_hydra_sets_it_for_the_ranks_only(kind: str) -> None:
    assert library(kind).preloading() == ("-genv", "LD_PRELOAD", "/cache/libchiplog_coll.so")


@pytest.mark.parametrize("kind", ["smpi", "unknown"])
def test_an_mpi_that_cant_preload_is_refused(kind: str) -> None:
    with pytest.raises(RunFailed, match="not known"):
        library(kind).preloading()


def test_a_simulation_links_all_of_it() -> None:
    assert library("smpi").link_flags[0] == "-Wl,--whole-archive"
    assert "-Wl,-rpath,/cache" in library("openmpi").link_flags
