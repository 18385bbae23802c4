"""The small MPI programs beside the probe, each built with one MPI and kept in the cache."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from chiplog.errors import RunFailed
from chiplog.measurement.compiling import (
    build_key,
    digest_of,
    run_compiler,
    scratch_directory,
)
from chiplog.measurement.mpis import Mpi, first_error, identify_mpi
from chiplog.measurement.probes import BuiltProbe, cache_directory, compile_flags, native_sources
from chiplog.measurement.trust import OWNER_WRITES, check_trusted

BARRIER_ONCE = "chiplog-barrier-once"
BENCH = "chiplog-bench"
RACE = "chiplog-race"

PARTS: Mapping[str, tuple[str, ...]] = {
    RACE: ("clock", "clock_model", "modes", "operations", "sync_options", "synchronise")
}
"""What a program takes from chiplog-bench: each a header and perhaps a source."""

SHARED_WITH_PROBE = ("core/json_object", "core/long_options", "core/quantity")
"""What the programs have in common with the probe: below native/src, each a header and perhaps a source."""


def build_program(
    name: str, mpicxx: str, *, tell: Callable[[str], None] | None = None
) -> BuiltProbe:
    """The program in native/apps/`name`, built with the MPI of the wrapper `mpicxx`; from the cache if it is there.

    It is one compilation of all files of its folder, of its PARTS and of SHARED_WITH_PROBE. Raises UsageError where
    there is no such wrapper, RunFailed where it can't compile the program and where others may have written what the
    cache has.
    """
    mpi = identify_mpi(mpicxx)
    native = native_sources()
    folder = native / "apps" / name
    flags = compile_flags(mpi, native)
    files = sorted([*folder.iterdir(), *_parts(name, native), *_shared_files(native)])
    key = build_key(mpi, flags, digest_of(files, native))
    target = cache_directory().parent / "programs" / f"{name}-{key}"
    check_trusted(target, target.parent)
    if not os.access(target, os.X_OK):
        if tell is not None:
            tell(f"building {name} with {mpi.mpicxx} ({mpi})")
        sources = [path for path in files if path.suffix == ".cpp"]
        _build(
            mpi, [*flags, f"-I{folder}", f"-I{folder.parent}", "-O1", "-pthread"], sources, target
        )
    return BuiltProbe(target, key, mpi)


def _parts(name: str, native: Path) -> list[Path]:
    folder = native / "apps" / BENCH
    paths = (folder / f"{part}{end}" for part in PARTS.get(name, ()) for end in (".cpp", ".hpp"))
    return [path for path in paths if path.is_file()]


def _shared_files(native: Path) -> list[Path]:
    paths = (
        native / "src" / f"{name}{end}" for name in SHARED_WITH_PROBE for end in (".cpp", ".hpp")
    )
    headers = ((native / "include" / "chiplog" / name) for name in ("error.hpp", "median.hpp"))
    return [path for path in (*paths, *headers) if path.is_file()]


def _build(mpi: Mpi, flags: list[str], sources: list[Path], target: Path) -> None:
    """Compiled beside its place and moved there at once, so that several processes may build it."""
    with scratch_directory(target.parent) as scratch:
        built = scratch / target.name
        command = [str(mpi.mpicxx), *flags, *map(str, sources), "-ldl", "-o", str(built)]
        done = run_compiler(mpi, command)
        if done.returncode != 0:
            raise RunFailed(
                f"{mpi.mpicxx} can't compile {target.name}: {first_error(done.stderr or done.stdout)}."
            )
        built.chmod(OWNER_WRITES)
        built.replace(target)
