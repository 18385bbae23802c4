"""What an importer of traces is, and which there are.

A new one is a module in `chiplog.tracing.importers` and its name in `TRACE_IMPORTERS`, or an entry point of another
package.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from chiplog.errors import CorruptFile, UsageError
from chiplog.file_kind import kind_of
from chiplog.input_file import open_input
from chiplog.plugins import Registry
from chiplog.tracing.trace import Trace


@dataclass(frozen=True)
class TraceOptions:
    """What the caller says about a trace that can't say it of itself."""

    any_source: int | None = None
    """The number that stands for MPI_ANY_SOURCE, -1 or -2, where programs record their MPI's own."""
    progress: Callable[[float], None] | None = None
    """Called now and then with the share that has been read, by importers that read large traces."""


@dataclass(frozen=True, kw_only=True)
class TraceImporter:
    """One kind of traces."""

    name: str
    summary: str
    """What the files are, in a few words, for help and lists."""
    recognises: Callable[[Path], bool]
    """Is the file or the folder, which exists, such a trace? It looks at names and at the beginnings of files."""
    read: Callable[[Path, TraceOptions], Trace]
    """The trace; CorruptFile names file and place of what is wrong, UsageError what the caller must say."""


TRACE_IMPORTERS: Registry[TraceImporter] = Registry(
    "trace importer",
    "chiplog.tracing.importer:TraceImporter",
    folder="chiplog.tracing.importers",
    built_in=("chiplog-trace", "liballprof", "otf2", "simgrid-ti", "dumpi"),
)


def read_trace(path: str | os.PathLike[str], options: TraceOptions | None = None) -> Trace:
    """The trace in a file or a folder.

    UsageError where there is none, or where the caller must say something; CorruptFile where it can't be understood.
    """
    place = Path(path)
    if not place.is_dir():
        with open_input(place):
            pass
    for importer in TRACE_IMPORTERS.all():
        if importer.recognises(place):
            return importer.read(place, options or TraceOptions())
    other = kind_of(place)
    if other is not None:
        raise UsageError(f"{place} is {other[0]}, but a trace is needed here; {other[1]}.")
    known = ", ".join(importer.summary for importer in TRACE_IMPORTERS.all())
    raise CorruptFile(f"{place} is no trace that chiplog reads: these are {known}.")
