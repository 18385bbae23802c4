"""Schedules as GOAL text, the language of LogGOPSim.

Source: T. Hoefler, C. Siebert, A. Lumsdaine, "Group Operation Assembly Language - a flexible way to express collective
communication", ICPP 2009. Ranks must stand in order, and a label above the lines that refer to it.
"""

from __future__ import annotations

import os
from typing import Any

from chiplog import _native
from chiplog.errors import CorruptFile
from chiplog.file_kind import GOAL, expecting, file_in
from chiplog.input_file import open_input
from chiplog.output_file import replacing
from chiplog.schedule.arrays import DEPENDENCY, OPERATION, Schedule, as_bytes


def _read(descriptor: int, path: str | os.PathLike[str]) -> tuple[Any, ...]:
    try:
        arrays: tuple[Any, ...] = _native.read_goal(descriptor)
    except ValueError as error:
        line, sentence = error.args
        raise CorruptFile(f"{os.fspath(path)}: line {line}: {sentence}.") from error
    return arrays


def read_goal(path: str | os.PathLike[str]) -> Schedule:
    """The schedule in the file `path`; CorruptFile names file, line and word, UsageError that it can't be opened."""
    name = file_in(path, GOAL)
    with open_input(name) as stream, expecting(GOAL, name):
        ranks, operations, ends, starts, lines = _read(stream.fileno(), name)
    return Schedule(
        ranks,
        operations.view(OPERATION),
        ends.view(DEPENDENCY),
        starts.view(DEPENDENCY),
        lines,
    )


def write_goal(schedule: Schedule, path: str | os.PathLike[str]) -> None:
    """Writes `schedule` as GOAL text to a file, or to standard output for `-`; RunFailed where it can't be written."""
    with replacing(path) as stream:
        write_goal_to(stream.fileno(), schedule)


def write_goal_to(descriptor: int, schedule: Schedule) -> None:
    """Writes `schedule` as GOAL text to an open file; OSError where it can't be written."""
    _native.write_goal(
        descriptor,
        schedule.ranks,
        as_bytes(schedule.operations),
        as_bytes(schedule.requires_end),
        as_bytes(schedule.requires_start),
    )
