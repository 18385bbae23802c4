"""Libraries for programs of a site's own MPI: compiled once, and kept in the cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from chiplog.errors import RunFailed
from chiplog.measurement.compiling import (
    Compilation,
    Progress,
    SharedObjects,
    all_flags,
    build_key,
    digest_of,
    publish,
    scratch_directory,
)
from chiplog.measurement.mpis import Mpi
from chiplog.measurement.probes import cache_directory, native_sources
from chiplog.measurement.trust import check_trusted

FLAGS = ("-std=c++20", "-fPIC", "-fvisibility=hidden")
LINK_FLAGS = ("-shared", "-pthread")


@dataclass(frozen=True)
class LibraryRecipe:
    """What a library is made of."""

    what: str
    """Its name in sentences."""
    folder: str
    """Of its sources, below native/src."""
    file_name: str
    archive_name: str
    """For SMPI, which loads programs so that they meet SimGrid's own functions before those of a shared library."""
    shared_headers: tuple[str, ...]
    """Headers of other folders, below native/src."""
    optimise: Callable[[Path], str]
    """The level of optimisation of a source."""


def build_cached(
    recipe: LibraryRecipe,
    mpi: Mpi,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Path:
    """The library for `mpi`; from the cache if it is there already.

    The cache's key is the compiler, the MPI and the sources. `jobs` compilers run at a time; `progress` is told what is
    being done. Raises RunFailed where the library can't be compiled and where others may have written what the cache
    has.
    """
    native = native_sources()
    flags = library_flags(mpi, native)
    sources = _digest_of(recipe, native)
    directory = cache_directory().with_name("libraries")
    key = build_key(mpi, (*flags, *LINK_FLAGS), sources)
    final = directory / key
    library = final / (recipe.archive_name if mpi.simulated else recipe.file_name)
    check_trusted(library, directory)
    if library.is_file():
        return library
    tell = progress or (lambda _: None)
    with scratch_directory(directory) as scratch:
        log = directory / f"failed-{key}.log"
        shared = SharedObjects(directory, mpi, flags, native, sources)
        compilation = Compilation(mpi, flags, native, scratch, log, shared, tell)
        tell(f"building {recipe.what} with {mpi.mpicxx} ({mpi})")
        objects = compilation.compile(library_sources(recipe, native), jobs, recipe.optimise)
        if mpi.simulated:
            compilation.archive(objects, recipe.archive_name)
        else:
            compilation.link(objects, LINK_FLAGS, recipe.file_name)
        publish(scratch, final, library.is_file)
        log.unlink(missing_ok=True)
    if not library.is_file():
        raise RunFailed(f"the library just built in {final} is not there.")
    return library


def library_flags(mpi: Mpi, native: Path) -> tuple[str, ...]:
    """What `mpi`'s compiler needs for the library's sources, beside a level of optimisation."""
    return all_flags(mpi, native, FLAGS)


def library_sources(recipe: LibraryRecipe, native: Path) -> list[Path]:
    """The files to compile, for those who link them into a program."""
    return sorted((native / "src" / recipe.folder).rglob("*.cpp"))


def _digest_of(recipe: LibraryRecipe, native: Path) -> str:
    files = [path for path in (native / "src" / recipe.folder).rglob("*") if path.is_file()]
    files += [native / "src" / name for name in recipe.shared_headers]
    return digest_of(files, native)
