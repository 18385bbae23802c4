"""Importers of other tools' files: one module each, found through one registry.

A new kind is one module here that has a `read(source, options)` giving the header's convention and the records, and one
line in `KINDS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from chiplog.dataset.importers import (
    csv_table,
    imb,
    netgauge,
    nodecomm,
    osu,
    simgrid_calibration,
)
from chiplog.dataset.importers.base import Importer, Options, write_import
from chiplog.dataset.records import DIRECTIONS, PATTERNS
from chiplog.errors import UsageError

KINDS: Mapping[str, Importer] = MappingProxyType(
    {
        "csv": csv_table.read,
        "netgauge": netgauge.read,
        "nodecomm": nodecomm.read,
        "simgrid-calibration": simgrid_calibration.read,
        "osu": osu.read,
        "imb": imb.read,
    }
)


def import_file(
    kind: str,
    path: str | Path,
    out: str | Path,
    *,
    pattern: str | None = None,
    direction: str | None = None,
    transport: str | None = None,
) -> Path:
    """Writes the measurements of another tool's file as a run file at `out`, replacing it, and returns its path.

    `pattern` and `direction` say what a file can't say of itself; `transport` names what was measured.

    Raises UsageError for an unknown kind, pattern or direction, and where the file needs one that is not given;
    CorruptFile that names file, line and field where the file is not what the kind says.
    """
    if kind not in KINDS:
        raise UsageError(f"there is no importer {kind!r}; known are {', '.join(KINDS)}.")
    _among("--pattern", pattern, PATTERNS)
    _among("--direction", direction, tuple(one for one in DIRECTIONS if one != "call"))
    options = Options(pattern=pattern, direction=direction, transport=transport)
    return write_import(kind, KINDS[kind], Path(path), Path(out), options)


def _among(option: str, value: str | None, known: tuple[str, ...]) -> None:
    if value is not None and value not in known:
        raise UsageError(f"{option} {value!r} is unknown; it accepts {', '.join(known)}.")
