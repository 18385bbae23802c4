"""The barrier library, libchiplog_coll.so, built with a site's own MPI."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from chiplog.errors import RunFailed, UsageError
from chiplog.measurement.compiling import (
    SKIP_CXX_BINDINGS,
    SMPI_FLAGS,
    Compilation,
    Progress,
    include_flags,
    publish,
    scratch_directory,
)
from chiplog.measurement.mpis import Mpi, identify_mpi
from chiplog.measurement.objects import SharedObjects
from chiplog.measurement.probes import cache_directory, native_sources
from chiplog.measurement.trust import check_trusted

LIBRARY_NAME = "libchiplog_coll.so"
LIBRARY_VARIABLE = "CHIPLOG_COLL_LIBRARY"
"""Names a library that was built elsewhere."""
ARCHIVE_NAME = "libchiplog_coll.a"
"""For SMPI, which loads programs so that they meet SimGrid's own MPI_Barrier before that of a shared library."""
FLAGS = ("-std=c++20", "-fPIC", "-fvisibility=hidden")
LINK_FLAGS = ("-shared", "-pthread")
SHARED_HEADERS = tuple(
    f"core/{name}.hpp"
    for name in ("barrier_algorithms", "cache_lines", "dissemination", "node_memory", "small_file")
)
"""What the library has in common with the probe."""

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
    mpicxx: str,
    *,
    cache_dir: Path | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> BuiltLibrary:
    """The barrier library for the MPI of the C++ compiler wrapper `mpicxx`; from the cache if it is there already.

    The cache's key is the compiler, the MPI and the sources. `jobs` compilers run at a time; `progress` is told what is
    being done. Raises UsageError where there is no such wrapper, RunFailed where it can't compile the library and where
    others may have written what the cache has.
    """
    mpi = identify_mpi(mpicxx)
    native = native_sources()
    flags = library_flags(mpi, native)
    sources = _digest_of(native)
    directory = cache_dir or cache_directory().with_name("libraries")
    key = _key(mpi, flags, sources)
    final = directory / key
    library = final / (ARCHIVE_NAME if mpi.simulated else LIBRARY_NAME)
    check_trusted(library, directory)
    if library.is_file():
        return BuiltLibrary(library, mpi)
    tell = progress or (lambda _: None)
    with scratch_directory(directory) as scratch:
        log = directory / f"failed-{key}.log"
        shared = SharedObjects(directory, mpi, flags, native, sources)
        compilation = Compilation(mpi, flags, native, scratch, log, shared, tell)
        tell(f"building the barrier library with {mpi.mpicxx} ({mpi})")
        objects = compilation.compile(library_sources(native), jobs, lambda _: "-O3")
        if mpi.simulated:
            compilation.archive(objects, ARCHIVE_NAME)
        else:
            compilation.link(objects, LINK_FLAGS, LIBRARY_NAME)
        publish(scratch, final, library.is_file)
        log.unlink(missing_ok=True)
    if not library.is_file():
        raise RunFailed(f"the library just built in {final} is not there.")
    return BuiltLibrary(library, mpi)


def library_flags(mpi: Mpi, native: Path) -> tuple[str, ...]:
    """What `mpi`'s compiler needs for the library's sources, beside a level of optimisation."""
    simulated = SMPI_FLAGS if mpi.simulated else ()
    return (*FLAGS, *SKIP_CXX_BINDINGS, *simulated, *include_flags(native))


def library_sources(native: Path) -> list[Path]:
    """The files to compile, for those who link them into a program."""
    return sorted((native / "src" / "collectives").rglob("*.cpp"))


def _digest_of(native: Path) -> str:
    files = [path for path in (native / "src" / "collectives").rglob("*") if path.is_file()]
    files += [native / "src" / name for name in SHARED_HEADERS]
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"\0{path.relative_to(native)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _key(mpi: Mpi, flags: tuple[str, ...], sources: str) -> str:
    identity = {
        **mpi.to_json(),
        "flags": [*flags, *LINK_FLAGS],
        "sources": sources,
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]
