"""Compiled files of the probe in which no MPI has a part: one compiler's serve the probes of all its MPIs."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from chiplog.measurement.mpis import Mpi
from chiplog.measurement.trust import check_trusted, make_private_folder

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
