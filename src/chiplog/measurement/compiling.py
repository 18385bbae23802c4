"""Compiling our native sources with an MPI's compiler wrapper, into a directory that appears when all is done."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from chiplog.counts import within
from chiplog.errors import RunFailed
from chiplog.measurement.mpis import Mpi, first_error
from chiplog.measurement.trust import OTHERS_WRITE, OWNER_WRITES, check_trusted, make_private_folder

SKIP_CXX_BINDINGS = ("-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX")
"""The C++ bindings that MPI-3 removed only cost time to compile."""

SMPI_FLAGS = ("-DCHIPLOG_SMPI", "-DSMPI_NO_OVERRIDE_MALLOC", "-fPIC")
"""Simulated time, and no macros called `malloc` and `free` in front of C++ headers."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Compilation:
    """How sources below `native` become object files in `scratch`."""

    mpi: Mpi
    flags: tuple[str, ...]
    native: Path
    scratch: Path
    log: Path
    """Where all that a failing compiler said is kept."""
    shared: SharedObjects
    tell: Progress

    def compile(
        self, sources: Sequence[Path], jobs: int | None, optimise: Callable[[Path], str]
    ) -> list[Path]:
        """The object files of `sources`, `jobs` compilers at a time (as many as usable cores by default)."""

        def compile_one(numbered: tuple[int, Path]) -> Path:
            number, source = numbered
            target = self.scratch / f"{number}.o"
            if self.shared.find(source, target):
                return target
            arguments = [*self.flags, optimise(source), "-c", str(source), "-o", str(target)]
            self.run([str(self.mpi.mpicxx), *arguments], f"compiling {source.name}")
            self.shared.keep(source, target)
            self.tell(f"compiled {source.relative_to(self.native)}")
            return target

        within("--jobs", 1 if jobs is None else jobs)
        workers = jobs or len(os.sched_getaffinity(0))
        with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
            try:
                return list(pool.map(compile_one, enumerate(sources)))
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def link(self, objects: Sequence[Path], flags: Sequence[str], name: str) -> None:
        """Links the object files, which then go, to `name` in the scratch directory."""
        self.tell("linking")
        arguments = [*map(str, objects), *flags, "-o", str(self.scratch / name)]
        self.run([str(self.mpi.mpicxx), *arguments], f"linking {name}")
        for path in objects:
            path.unlink()

    def archive(self, objects: Sequence[Path], name: str) -> None:
        """Puts the object files, which then go, into the archive `name` in the scratch directory."""
        self.run(["ar", "rcs", str(self.scratch / name), *map(str, objects)], f"archiving {name}")
        for path in objects:
            path.unlink()

    def run(self, command: Sequence[str], doing: str) -> None:
        """One run of the compiler or archiver; RunFailed with its first complaint."""
        done = run_compiler(self.mpi, command)
        if done.returncode != 0:
            output = done.stdout + done.stderr
            self.log.write_text(f"{' '.join(command)}\n{output}", encoding="utf-8")
            raise RunFailed(
                f"{doing} with {self.mpi.mpicxx} failed: {first_error(output)}; all that it said is in {self.log}."
            )


def run_compiler(mpi: Mpi, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """How a command ended that compiles with an MPI; RunFailed where it can't be run."""
    try:
        return subprocess.run(
            list(command),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            env={**os.environ, **mpi.environment},
        )
    except OSError as error:
        raise RunFailed(f"{command[0]} can't be run: {error.strerror}.") from error


def digest_of(files: Iterable[Path], native: Path) -> str:
    """A digest of the names below `native` and of the contents of files."""
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"\0{path.relative_to(native)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def build_key(mpi: Mpi, flags: Sequence[str], sources: str) -> str:
    """The name in the cache of what the MPI's compiler makes with these flags of sources with this digest."""
    identity = {**mpi.to_json(), "flags": flags, "sources": sources}
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]


def all_flags(mpi: Mpi, native: Path, flags: Sequence[str]) -> tuple[str, ...]:
    """`flags`, what the MPI needs, and where the sources in `native` find headers.

    RunFailed where nlohmann-json is missing.
    """
    package = importlib.util.find_spec("nlohmann_json")
    if package is None or package.origin is None:
        raise RunFailed("building needs the package nlohmann-json; install chiplog again.")
    json_include = Path(package.origin).parent / "include"
    includes = (f"-I{native / 'include'}", f"-I{native / 'src'}", "-isystem", str(json_include))
    return (*flags, *SKIP_CXX_BINDINGS, *(SMPI_FLAGS if mpi.simulated else ()), *includes)


@contextmanager
def scratch_directory(parent: Path) -> Iterator[Path]:
    """A new directory below `parent`, which goes with all that is still in it."""
    try:
        make_private_folder(parent, parent)
        scratch = Path(tempfile.mkdtemp(prefix="building-", dir=parent))
    except OSError as error:
        raise RunFailed(f"the cache {parent} can't be written: {error.strerror}.") from error
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def publish(scratch: Path, final: Path, is_complete: Callable[[], bool]) -> None:
    """Move a finished build to its place at once; where another process was faster, its build is as good."""
    scratch.chmod(OWNER_WRITES)
    for path in scratch.iterdir():
        path.chmod(path.stat().st_mode & ~OTHERS_WRITE)
    if final.exists() and not is_complete():
        shutil.rmtree(final, ignore_errors=True)
    try:
        scratch.rename(final)
    except OSError:
        if not is_complete():
            raise


_OWN_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_OF_AN_MPI = re.compile(r"<mpi\.h>|\bCHIPLOG_SMPI\b")


class SharedObjects:
    """The compiled files of `sources`, a digest of all that they are made of, below `cache`."""

    def __init__(
        self, cache: Path, mpi: Mpi, flags: Sequence[str], native: Path, sources: str
    ) -> None:
        identity = json.dumps([mpi.compiler, list(flags), sources])
        name = hashlib.sha256(identity.encode()).hexdigest()[:16]
        self._cache = cache
        self._directory = cache / "objects" / name
        self._native = native
        self._simulated = mpi.simulated

    def find(self, source: Path, target: Path) -> bool:
        """Whether `source` was compiled before; then it is copied to `target`.

        Raises RunFailed where others may have written what it was compiled to.
        """
        if not self._is_shared(source):
            return False
        check_trusted(self._path(source), self._cache)
        try:
            shutil.copyfile(self._path(source), target)
        except OSError:
            return False
        return True

    def keep(self, source: Path, compiled: Path) -> None:
        """Keeps what `source` was compiled to, for other MPIs; a cache that can't take it is no failure."""
        if not self._is_shared(source):
            return
        try:
            make_private_folder(self._directory, self._cache)
            handle, name = tempfile.mkstemp(dir=self._directory)
            os.close(handle)
            shutil.copyfile(compiled, name)
            Path(name).replace(self._path(source))
        except OSError:
            return

    def _path(self, source: Path) -> Path:
        name = hashlib.sha256(str(source.relative_to(self._native)).encode()).hexdigest()[:16]
        return self._directory / f"{name}.o"

    def _is_shared(self, source: Path) -> bool:
        return not self._simulated and not names_an_mpi(source, self._native)


def names_an_mpi(source: Path, native: Path) -> bool:
    """Whether a source or a header of ours that it includes, directly or not, includes MPI's."""
    seen: set[Path] = set()
    todo = [source]
    while todo:
        path = todo.pop()
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        text = path.read_text(encoding="utf-8", errors="replace")
        if _OF_AN_MPI.search(text):
            return True
        folders = (path.parent, native / "src", native / "include")
        todo += [folder / name for name in _OWN_INCLUDE.findall(text) for folder in folders]
    return False
