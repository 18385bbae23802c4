"""Which format a tuning file is in, and what that format's marked copy and settings are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from chiplog.tune.check import marks
from chiplog.tune.exporters import mpich_cvars, mpich_json, openmpi
from chiplog.tune.version import Version


@dataclass(frozen=True)
class CheckedFormat:
    """How a file of one format is put in force, and marked."""

    name: str
    settings: Callable[[Path, Version], Mapping[str, str]]
    marked: Callable[[str], str]


CLASSIC = CheckedFormat("Open MPI's classic rules", openmpi.settings, marks.marked_classic)
OPENMPI_JSON = CheckedFormat("Open MPI's JSON rules", openmpi.settings, marks.marked_openmpi_json)
MPICH_JSON = CheckedFormat("MPICH's JSON tree", mpich_json.settings, marks.marked_mpich_json)
CVARS = CheckedFormat("MPICH's control variables", mpich_cvars.settings, marks.marked_cvars)


def format_of(target: str, text: str) -> CheckedFormat:
    """By the first character: JSON begins with a brace."""
    is_json = text.lstrip().startswith("{")
    if target == "openmpi":
        return OPENMPI_JSON if is_json else CLASSIC
    return MPICH_JSON if is_json else CVARS
