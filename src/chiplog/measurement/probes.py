"""The probes of this machine: the one that came with the package, and those built with a site's own MPI."""

from __future__ import annotations

import json
import os
import shutil
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from chiplog import __version__
from chiplog.errors import RunFailed, UsageError
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
from chiplog.measurement.mpis import Mpi, identify_mpi
from chiplog.measurement.trust import check_trusted

PROBE_NAME = "chiplog-probe"
PROBE_VARIABLE = "CHIPLOG_PROBE"
MANIFEST_NAME = "manifest.json"
MANIFEST_SCHEMA = "chiplog.probe/1"
LAYERS = ("core", "patterns", "bootstrap", "transports/mpi")
"""The folders below native/src that a probe with MPI is made of, beside the registry of transports."""

REGISTRY = ("transports/registry.cpp", "transports/registry.hpp", "transports/list.inc")
FLAGS = ("-std=c++20", "-DCHIPLOG_WITH_MPI")
TIMED_LAYER = "transports"
"""Only what is compiled here runs between two reads of a clock: it gets -O3, the rest -O1, which compiles faster."""


SOURCES = Path("share/chiplog/native")
LEVELS = 4
"""Given: pip puts these sources, bin and lib/python3.x/site-packages/chiplog below one folder; --target all beside
chiplog."""


@dataclass(frozen=True)
class BuiltProbe:
    """A probe in the cache, and the MPI that it was built with."""

    path: Path
    key: str
    mpi: Mpi


def base_probe() -> Path:
    """The probe without MPI: $CHIPLOG_PROBE, else the one installed with the package, else the first on PATH.

    Raises UsageError where CHIPLOG_PROBE names no program, and RunFailed where there is none at all.
    """
    named = os.environ.get(PROBE_VARIABLE)
    if named:
        path = shutil.which(named)
        if path is None:
            raise UsageError(
                f"{PROBE_VARIABLE} names '{named}', which is not a program; name a chiplog-probe, or unset it."
            )
        return Path(path).absolute()
    prefix = _prefix()
    beside = [] if prefix is None else [str(prefix / "bin")]
    beside += [sysconfig.get_path("scripts"), str(Path(sys.executable).parent)]
    for directory in (*beside, None):
        path = shutil.which(PROBE_NAME, path=directory)
        if path is not None:
            return Path(path).absolute()
    raise RunFailed(
        f"there is no {PROBE_NAME} beside Python or on PATH; install chiplog again, or set {PROBE_VARIABLE}."
    )


def native_sources() -> Path:
    """The directory with the probe's sources: of a source checkout, else as installed with the package.

    Raises RunFailed where there is neither.
    """
    checkout = _package().parents[1] / "native"
    if (checkout / "apps" / PROBE_NAME).is_dir():
        return checkout
    prefix = _prefix()
    if prefix is None:
        raise RunFailed(
            f"the probe's sources, {SOURCES}, are in no folder above {_package()}; install chiplog again."
        )
    return prefix / SOURCES


def _package() -> Path:
    return Path(__file__).resolve().parents[1]


def _prefix() -> Path | None:
    """What pip installed to, by default or with --user, --prefix or --target; None in a source checkout."""
    above = _package().parents[:LEVELS]
    for prefix in (*above, Path(sysconfig.get_path("data"))):
        if (prefix / SOURCES / "apps" / PROBE_NAME).is_dir():
            return prefix
    return None


def cache_directory() -> Path:
    """Where built probes are kept: chiplog/probes below $XDG_CACHE_HOME, ~/.cache or, without a home, this Python."""
    named, home = os.environ.get("XDG_CACHE_HOME"), os.environ.get("HOME")
    homeless = Path(sys.prefix) / "var" / "cache"
    base = Path(named) if named else Path(home) / ".cache" if home else homeless
    return base / "chiplog" / "probes"


def list_probes(cache_dir: Path | None = None) -> tuple[BuiltProbe, ...]:
    """The built probes in the cache that may be run and whose MPI is still there, the latest first."""
    directory = cache_dir or cache_directory()
    manifests = sorted(directory.glob(f"*/{MANIFEST_NAME}"), key=_modified_ns, reverse=True)
    probes = (_read_if_trusted(manifest, directory) for manifest in manifests)
    return tuple(probe for probe in probes if probe is not None and probe.mpi.mpicxx.exists())


def build_probe(
    mpicxx: str,
    *,
    cache_dir: Path | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> BuiltProbe:
    """The probe built with the MPI of the C++ compiler wrapper `mpicxx`; from the cache if it is there already.

    The cache's key is the compiler, the MPI and the sources. It is safe to build the same probe in several processes
    at once. `jobs` compilers run at a time, as many as this process may use cores by default; `progress` is told what
    is being done. Raises UsageError where there is no such wrapper, RunFailed where it can't compile the probe (with
    the path of the compiler's whole output), and where others may have written what the cache has.
    """
    mpi = identify_mpi(mpicxx)
    sources = native_sources()
    flags = compile_flags(mpi, sources)
    digest = digest_of(_files_of(sources), sources)
    key = build_key(mpi, flags, digest)
    directory = cache_dir or cache_directory()
    final = directory / key
    in_cache = partial(_read_manifest, final / MANIFEST_NAME, directory)
    if built := in_cache():
        return built
    tell = progress or (lambda _: None)
    with scratch_directory(directory) as scratch:
        log = directory / f"failed-{key}.log"
        shared = SharedObjects(directory, mpi, flags, sources, digest)
        compilation = Compilation(mpi, flags, sources, scratch, log, shared, tell)
        files = _sources_of(sources)
        tell(f"building the probe with {mpi.mpicxx} ({mpi}): {len(files)} files")
        objects = compilation.compile(files, jobs, _optimisation(sources))
        compilation.link(objects, ["-pthread"], PROBE_NAME)
        _write_manifest(scratch, key, mpi, flags)
        publish(scratch, final, lambda: in_cache() is not None)
        log.unlink(missing_ok=True)
    published = in_cache()
    if published is None:
        raise RunFailed(f"the probe just built in {final} can't be read back.")
    return published


def _modified_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _files_of(native: Path) -> list[Path]:
    folders = [native / "src" / layer for layer in LAYERS]
    folders += [native / "apps" / PROBE_NAME, native / "include"]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return sorted([*files, *(native / "src" / name for name in REGISTRY)])


def _sources_of(native: Path) -> list[Path]:
    """What to compile, the longest first, so that none of them is left for the end."""
    sources = [path for path in _files_of(native) if path.suffix == ".cpp"]
    return sorted(sources, key=lambda path: (not _is_timed(path, native), -path.stat().st_size))


def _is_timed(source: Path, native: Path) -> bool:
    return source.is_relative_to(native / "src" / TIMED_LAYER)


def _optimisation(native: Path) -> Callable[[Path], str]:
    return lambda source: "-O3" if _is_timed(source, native) else "-O1"


def compile_flags(mpi: Mpi, native: Path) -> tuple[str, ...]:
    """What `mpi`'s compiler needs for the sources in `native`, beside a level of optimisation."""
    return all_flags(mpi, native, FLAGS)


def _write_manifest(directory: Path, key: str, mpi: Mpi, flags: tuple[str, ...]) -> None:
    manifest = {
        "schema": MANIFEST_SCHEMA,
        "chiplog": __version__,
        "key": key,
        "flags": flags,
        "mpi": mpi.to_json(),
    }
    (directory / MANIFEST_NAME).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _read_if_trusted(path: Path, cache: Path) -> BuiltProbe | None:
    try:
        return _read_manifest(path, cache)
    except RunFailed:
        return None


def _read_manifest(path: Path, cache: Path) -> BuiltProbe | None:
    program = path.with_name(PROBE_NAME)
    check_trusted(path, cache)
    check_trusted(program, cache)
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        if stored["schema"] != MANIFEST_SCHEMA or not os.access(program, os.X_OK):
            return None
        return BuiltProbe(program, str(stored["key"]), Mpi.from_json(json.dumps(stored["mpi"])))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
