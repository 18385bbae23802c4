"""The probes of this machine: the one that came with the package, and those built with a site's own MPI."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from chiplog import __version__
from chiplog.errors import RunFailed, UsageError
from chiplog.measure.mpis import Mpi, first_error, identify_mpi
from chiplog.measure.objects import SharedObjects

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

SKIP_CXX_BINDINGS = ("-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX")
"""The C++ bindings that MPI-3 removed only cost time to compile."""

SMPI_FLAGS = ("-DCHIPLOG_SMPI", "-DSMPI_NO_OVERRIDE_MALLOC", "-fPIC")
"""Simulated time, and no macros called `malloc` and `free` in front of C++ headers."""

Progress = Callable[[str], None]


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
            raise UsageError(f"{PROBE_VARIABLE} names '{named}', which is not a program.")
        return Path(path).absolute()
    for directory in (sysconfig.get_path("scripts"), str(Path(sys.executable).parent), None):
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
    checkout = Path(__file__).resolve().parents[3] / "native"
    installed = Path(sysconfig.get_path("data")) / "share" / "chiplog" / "native"
    for directory in (checkout, installed):
        if (directory / "apps" / PROBE_NAME).is_dir():
            return directory
    raise RunFailed(f"the probe's sources are not at {installed}; install chiplog again.")


def cache_directory() -> Path:
    """Where built probes are kept: chiplog/probes below $XDG_CACHE_HOME, ~/.cache or, without a home, this Python."""
    named, home = os.environ.get("XDG_CACHE_HOME"), os.environ.get("HOME")
    homeless = Path(sys.prefix) / "var" / "cache"
    base = Path(named) if named else Path(home) / ".cache" if home else homeless
    return base / "chiplog" / "probes"


def list_probes(cache_dir: Path | None = None) -> tuple[BuiltProbe, ...]:
    """The built probes in the cache whose program and MPI are still there, the latest first."""
    directory = cache_dir or cache_directory()
    manifests = sorted(directory.glob(f"*/{MANIFEST_NAME}"), key=_modified_ns, reverse=True)
    probes = (_read_manifest(manifest) for manifest in manifests)
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
    the path of the compiler's whole output).
    """
    mpi = identify_mpi(mpicxx)
    sources = native_sources()
    flags = compile_flags(mpi, sources)
    key = _key(mpi, flags, sources)
    directory = cache_dir or cache_directory()
    final = directory / key
    built = _read_manifest(final / MANIFEST_NAME)
    if built is not None:
        return built
    tell = progress or (lambda _: None)
    with _scratch_directory(directory) as scratch:
        log = directory / f"failed-{key}.log"
        shared = SharedObjects(directory, mpi, flags, sources, _digest_of(sources))
        workers = jobs or len(os.sched_getaffinity(0))
        _compile_all(mpi, flags, sources, scratch, workers, log, tell, shared)
        _write_manifest(scratch, key, mpi, flags)
        _publish(scratch, final)
        log.unlink(missing_ok=True)
    published = _read_manifest(final / MANIFEST_NAME)
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


def _json_include() -> Path:
    found = importlib.util.find_spec("nlohmann_json")
    if found is None or found.origin is None:
        raise RunFailed("building a probe needs the package nlohmann-json; install chiplog again.")
    return Path(found.origin).parent / "include"


def compile_flags(mpi: Mpi, native: Path) -> tuple[str, ...]:
    """What `mpi`'s compiler needs for the sources in `native`, beside a level of optimisation."""
    includes = (f"-I{native / 'include'}", f"-I{native / 'src'}", "-isystem", str(_json_include()))
    simulated = SMPI_FLAGS if mpi.simulated else ()
    return (*FLAGS, *SKIP_CXX_BINDINGS, *simulated, f'-DCHIPLOG_VERSION="{__version__}"', *includes)


def _key(mpi: Mpi, flags: tuple[str, ...], native: Path) -> str:
    identity = {**mpi.to_json(), "flags": flags, "sources": _digest_of(native)}
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]


def _digest_of(native: Path) -> str:
    digest = hashlib.sha256()
    for path in _files_of(native):
        digest.update(f"\0{path.relative_to(native)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


@contextmanager
def _scratch_directory(parent: Path) -> Iterator[Path]:
    try:
        parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix="building-", dir=parent))
    except OSError as error:
        raise RunFailed(f"the cache {parent} can't be written: {error.strerror}.") from error
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _compile_all(
    mpi: Mpi,
    flags: tuple[str, ...],
    native: Path,
    scratch: Path,
    jobs: int,
    log: Path,
    tell: Progress,
    shared: SharedObjects,
) -> None:
    sources = _sources_of(native)
    tell(f"building the probe with {mpi.mpicxx} ({mpi}): {len(sources)} files")

    def compile_one(numbered: tuple[int, Path]) -> Path:
        number, source = numbered
        target = scratch / f"{number}.o"
        if shared.find(source, target):
            return target
        optimise = "-O3" if _is_timed(source, native) else "-O1"
        arguments = [*flags, optimise, "-c", str(source), "-o", str(target)]
        _run(mpi, arguments, f"compiling {source.name}", log)
        shared.keep(source, target)
        tell(f"compiled {source.relative_to(native)}")
        return target

    with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
        try:
            objects = list(pool.map(compile_one, enumerate(sources)))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    tell("linking")
    program = scratch / PROBE_NAME
    _run(
        mpi,
        [*(str(path) for path in objects), "-pthread", "-o", str(program)],
        "linking the probe",
        log,
    )
    for path in objects:
        path.unlink()


def _run(mpi: Mpi, arguments: list[str], doing: str, log: Path) -> None:
    command = [str(mpi.mpicxx), *arguments]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            env={**os.environ, **mpi.environment},
        )
    except OSError as error:
        raise RunFailed(f"{mpi.mpicxx} can't be run: {error.strerror}.") from error
    if done.returncode != 0:
        output = done.stdout + done.stderr
        log.write_text(f"{' '.join(command)}\n{output}", encoding="utf-8")
        raise RunFailed(
            f"{doing} with {mpi.mpicxx} failed: {first_error(output)}; all that it said is in {log}."
        )


def _write_manifest(directory: Path, key: str, mpi: Mpi, flags: tuple[str, ...]) -> None:
    manifest = {
        "schema": MANIFEST_SCHEMA,
        "chiplog": __version__,
        "key": key,
        "flags": flags,
        "mpi": mpi.to_json(),
    }
    (directory / MANIFEST_NAME).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _read_manifest(path: Path) -> BuiltProbe | None:
    program = path.with_name(PROBE_NAME)
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        if stored["schema"] != MANIFEST_SCHEMA or not os.access(program, os.X_OK):
            return None
        return BuiltProbe(program, str(stored["key"]), Mpi.from_json(json.dumps(stored["mpi"])))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _publish(scratch: Path, final: Path) -> None:
    """Move a finished build to its place at once; where another process was faster, its build is as good."""
    scratch.chmod(0o755)
    if final.exists() and _read_manifest(final / MANIFEST_NAME) is None:
        shutil.rmtree(final, ignore_errors=True)
    try:
        scratch.rename(final)
    except OSError:
        if _read_manifest(final / MANIFEST_NAME) is None:
            raise
