"""The barrier library, libchiplog_coll.so, built with a site's own MPI."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from chiplog.errors import RunFailed, UsageError
from chiplog.measurement.compiling import Progress
from chiplog.measurement.mpis import Mpi, identify_mpi
from chiplog.measurement.shared_libraries import LibraryRecipe, build_cached

LIBRARY_VARIABLE = "CHIPLOG_COLL_LIBRARY"
"""Names a library that was built elsewhere."""
BARRIERS = LibraryRecipe(
    what="the barrier library",
    folder="collectives",
    file_name="libchiplog_coll.so",
    archive_name="libchiplog_coll.a",
    shared_headers=tuple(
        f"core/{name}.hpp"
        for name in (
            "barrier_algorithms",
            "cache_lines",
            "dissemination",
            "node_memory",
            "small_file",
        )
    ),
    optimise=lambda _: "-O3",
)
"""The shared headers are what the library has in common with the probe."""

AT_ONCE = {"CHIPLOG_EVERY_RANK": "1", "CHIPLOG_BARRIER_AFTER": "1"}
"""For ranks that all have the library and whose first barriers are what matters."""

PRELOADING: dict[str, Callable[[str, str], tuple[str, ...]]] = {
    "openmpi": lambda name, value: ("-x", f"{name}={value}"),
    "mpich": lambda name, value: ("-genv", name, value),
    "intel": lambda name, value: ("-genv", name, value),
}
"""By kind of MPI, how its launcher sets a variable for the ranks."""


@dataclass(frozen=True)
class BuiltLibrary:
    """A barrier library in the cache, and the MPI that it is for."""

    path: Path
    mpi: Mpi

    @property
    def link_flags(self) -> tuple[str, ...]:
        """What puts it into a program whose barriers it shall serve without being preloaded."""
        if self.mpi.simulated:
            return ("-Wl,--whole-archive", str(self.path), "-Wl,--no-whole-archive")
        return (str(self.path), f"-Wl,-rpath,{self.path.parent}")

    def preloading(self, **variables: str) -> tuple[str, ...]:
        """The launcher's options that load it into the ranks, and only there, with further variables.

        Raises RunFailed for an MPI that isn't known, or is simulated.
        """
        if self.mpi.kind not in PRELOADING:
            raise RunFailed(f"how {self.mpi} hands variables to its ranks is not known.")
        given = {"LD_PRELOAD": str(self.path), **variables}
        return tuple(
            part for name, value in given.items() for part in PRELOADING[self.mpi.kind](name, value)
        )


def find_library(named: str | None, mpicxx: Path) -> Path:
    """libchiplog_coll.so: the one named here or by $CHIPLOG_COLL_LIBRARY, else one built with the wrapper `mpicxx`.

    Raises UsageError where the one that is named is no file.
    """
    path = named or os.environ.get(LIBRARY_VARIABLE)
    if not path:
        return build_library(str(mpicxx)).path
    if not Path(path).is_file():
        raise UsageError(f"'{path}' is no file; a path of libchiplog_coll.so is accepted.")
    return Path(path).absolute()


def build_library(
    mpicxx: str, *, jobs: int | None = None, progress: Progress | None = None
) -> BuiltLibrary:
    """The barrier library for the MPI of the C++ compiler wrapper `mpicxx`; from the cache if it is there already.

    `jobs` and `progress` are those of `build_cached`, which raises RunFailed. UsageError where there is no wrapper.
    """
    mpi = identify_mpi(mpicxx)
    return BuiltLibrary(build_cached(BARRIERS, mpi, jobs, progress), mpi)
