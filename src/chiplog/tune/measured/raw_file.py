"""The file with all raw samples of a race, written launch by launch; choices can be made from it again."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from chiplog import __version__
from chiplog.dataset.lines import Where, decode_line, encode_line
from chiplog.errors import CorruptFile, RunFailed
from chiplog.file_lock import open_locked
from chiplog.input_file import MOST_DATA_BYTES, open_input, read_bounded
from chiplog.measurement.datatypes import BYTE, DATATYPE_BYTES
from chiplog.output_file import failed, synchronise
from chiplog.tune.choice import Native
from chiplog.tune.measured.candidate import DEFAULT, Candidate
from chiplog.tune.measured.cells import CellState
from chiplog.tune.measured.launch import (
    BESIDE_FILE,
    BY_FILE,
    CandidateSamples,
    Cell,
    Key,
    RaceEntry,
    Result,
)
from chiplog.tune.measured.raced import Raced, RaceOptions, SizeToConfirm

SAMPLES = "chiplog.race-samples/"
SCHEMA = f"{SAMPLES}3"
OLDER_SCHEMAS = ("chiplog.race-samples/1", "chiplog.race-samples/2")
"""Their cells are of bytes, and name no datatype."""


@dataclass(frozen=True)
class About:
    """What was raced, and with which MPI."""

    operation: str
    program: str
    mpi: str
    version: str
    candidates: tuple[Candidate, ...]
    hosts: int | None = None
    """On which the ranks were; None in files that don't say it."""


class SamplesFile:
    """Grows launch by launch in FILE.part, which a race that is interrupted leaves; FILE is replaced in the end."""

    def __init__(self, path: Path, about: About) -> None:
        self._path = path
        is_replaced = path.is_file() or not path.exists()
        self._part = path.with_name(f"{path.name}.part") if is_replaced else path
        self._stream = self._open()
        self._has_launches = False
        header = {
            "type": "header",
            "schema": SCHEMA,
            "chiplog": __version__,
            **{name: value for name, value in asdict(about).items() if name != "candidates"},
            "candidates": [asdict(candidate) for candidate in about.candidates],
        }
        self._write(header)

    def add(self, stage: str, entries: Sequence[RaceEntry], result: Result) -> None:
        """One launch."""
        cells = [
            {
                **asdict(entry.cell),
                "samples": {
                    name: {
                        mode: seconds.tolist()
                        for mode, seconds in result.samples[place, name].by_mode.items()
                    }
                    for name in (*(each.name for each in entry.candidates), BY_FILE, BESIDE_FILE)
                    if (place, name) in result.samples
                },
                "slow": _of(result.slow, place),
                "refused": _of(result.refused, place),
                "candidates": [candidate.name for candidate in entry.candidates],
            }
            for place, entry in enumerate(entries)
        ]
        failure = None if result.failure is None else asdict(result.failure)
        times = {"seconds": result.wall_seconds, "overhead_seconds": result.overhead_seconds}
        line = {"type": "launch", "stage": stage, **times, "failure": failure, "cells": cells}
        self._write(line)
        self._has_launches = True

    def end(self, raced: Raced) -> None:
        """The last line: what was to be confirmed, and who was left out."""
        points = [
            {**asdict(point.cell), "candidate": point.candidate.name, "held_out": point.is_held_out}
            for point in raced.confirmed
        ]
        line = {"type": "footer", "points": points, "dropped": raced.dropped}
        times = {"seconds": raced.seconds, "ran_out": raced.ran_out}
        self._write({**line, **times, "in_force": raced.is_in_force})
        try:
            synchronise(self._stream.fileno())
            if self._part != self._path:
                os.replace(self._part, os.path.realpath(self._path))
        except OSError as error:
            raise self._failed(error) from error
        self._stream.close()

    def _open(self) -> BinaryIO:
        """The file that grows; RunFailed where another process writes it."""
        try:
            stream = os.fdopen(open_locked(self._part, os.O_WRONLY | os.O_CREAT), "wb")
            if self._part != self._path:
                stream.truncate()
        except OSError as error:
            raise failed(str(self._path), error) from error
        return stream

    def _write(self, members: Mapping[str, object]) -> None:
        try:
            self._stream.write(encode_line(members))
            self._stream.flush()
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> RunFailed:
        with contextlib.suppress(OSError):
            self._stream.close()
        if self._has_launches:
            return failed(str(self._path), error, f"; the launches before are in {self._part}")
        if self._part != self._path:
            self._part.unlink(missing_ok=True)
        return failed(str(self._path), error)


def _of(by_key: Mapping[tuple[int, str], Any], place: int) -> dict[str, Any]:
    return {name: value for (at, name), value in by_key.items() if at == place}


def read_samples(path: Path) -> tuple[About, Raced]:
    """What was raced, as the race itself knew it; CorruptFile where the file is not complete."""
    lines = _lines(path)
    with _expecting_fields(path):
        return _about(lines[0]), _raced(lines)


def read_launches(path: Path) -> tuple[About, list[tuple[str, list[RaceEntry], Result]]]:
    """Each launch with its stage; CorruptFile as of `read_samples`."""
    lines = _lines(path)
    with _expecting_fields(path):
        about = _about(lines[0])
        by_name = {candidate.name: candidate for candidate in (DEFAULT, *about.candidates)}
        return about, [
            (str(line["stage"]), *_launch(line, about.operation, by_name))
            for line in lines
            if line["type"] == "launch"
        ]


def _lines(path: Path) -> list[Mapping[str, Any]]:
    with open_input(path, MOST_DATA_BYTES) as stream:
        raw = read_bounded(stream, str(path), MOST_DATA_BYTES).splitlines()
    lines: list[Mapping[str, Any]] = [
        decode_line(line, Where(str(path), number)) for number, line in enumerate(raw, 1)
    ]
    if not lines or lines[0].get("schema") not in (*OLDER_SCHEMAS, SCHEMA):
        raise CorruptFile(f"{path}, line 1: it is no file of samples that `tune --measure` wrote.")
    if lines[-1].get("type") != "footer":
        raise CorruptFile(f"{path}: it ends before the race did; measure again.")
    return lines


@contextlib.contextmanager
def _expecting_fields(path: Path) -> Iterator[None]:
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CorruptFile(f"{path}: a line lacks a field or has a wrong one: {error}.") from error


def _about(header: Mapping[str, Any]) -> About:
    candidates = tuple(
        Candidate(
            str(entry["name"]),
            tuple((str(name), int(value)) for name, value in entry["settings"]),
            None if entry["native"] is None else Native(**entry["native"]),
            entry["our_name"],
            int(entry["least_bytes"]),
        )
        for entry in header["candidates"]
    )
    return About(
        operation=str(header["operation"]),
        program=str(header["program"]),
        mpi=str(header["mpi"]),
        version=str(header["version"]),
        candidates=candidates,
        hosts=None if header.get("hosts") is None else int(header["hosts"]),
    )


def _raced(lines: Sequence[Mapping[str, Any]]) -> Raced:
    about = _about(lines[0])
    launches = [line for line in lines if line["type"] == "launch"]
    screened = [cell for line in launches if line["stage"] == "screen" for cell in line["cells"]]
    ranks = tuple(sorted({int(cell["ranks"]) for cell in screened}))
    sizes = tuple(sorted({int(cell["message_bytes"]) for cell in screened}))
    confirmed = {_cell(about.operation, point).datatype for point in lines[-1]["points"]}
    screened_types = {_cell(about.operation, cell).datatype for cell in screened}
    datatypes = tuple(name for name in DATATYPE_BYTES if name in confirmed | screened_types)
    raced = Raced(RaceOptions(about.operation, ranks, sizes, datatypes=datatypes), {})
    raced.dropped = {str(name): str(reason) for name, reason in lines[-1]["dropped"].items()}
    raced.seconds, raced.launches = float(lines[-1]["seconds"]), len(launches)
    raced.ran_out = bool(lines[-1]["ran_out"])
    raced.is_in_force = bool(lines[-1].get("in_force", False))
    for line in launches:
        raced.add_start(str(line["stage"]), float(line["overhead_seconds"]))
    by_name = {candidate.name: candidate for candidate in (DEFAULT, *about.candidates)}
    for entry in lines[-1]["points"]:
        cell = _cell(about.operation, entry)
        point = SizeToConfirm(cell, by_name[entry["candidate"]], bool(entry["held_out"]))
        raced.confirmed[point] = []
    for line in launches:
        entries, result = _launch(line, about.operation, by_name)
        if line["stage"] == "screen":
            for cell in (entry.cell for entry in entries):
                fit = (c.name for c in about.candidates if c.fits(cell.message_bytes))
                raced.cells.setdefault(cell, CellState(cell, tuple(fit), []))
            raced.screen(entries, result)
        elif line["stage"] == "confirm":
            raced.confirm(entries, result)
    return raced


def _launch(
    line: Mapping[str, Any], operation: str, by_name: Mapping[str, Candidate]
) -> tuple[list[RaceEntry], Result]:
    """Who raced in a launch, and what came of it."""
    entries = []
    samples: dict[Key, CandidateSamples] = {}
    slow: dict[Key, float] = {}
    refused: dict[Key, str] = {}
    for place, cell in enumerate(line["cells"]):
        candidates = tuple(by_name[name] for name in cell["candidates"])
        entries.append(RaceEntry(_cell(operation, cell), candidates))
        samples |= {(place, name): _samples(of, cell) for name, of in cell["samples"].items()}
        slow |= {(place, name): float(seconds) for name, seconds in cell["slow"].items()}
        refused |= {(place, name): str(reason) for name, reason in cell["refused"].items()}
    return entries, Result(samples, slow, refused)


def _cell(operation: str, cell: Mapping[str, Any]) -> Cell:
    datatype = str(cell.get("datatype", BYTE))
    if datatype not in DATATYPE_BYTES:
        raise ValueError(f"datatype '{datatype[:40]}' is unknown")
    return Cell(operation, int(cell["ranks"]), int(cell["message_bytes"]), datatype)


def _samples(of: Any, cell: Mapping[str, Any]) -> CandidateSamples:
    """Of one candidate; the first version of the schema had one mode for all of a cell."""
    by_mode = of if isinstance(of, dict) else {str(cell["mode"]): of}
    return CandidateSamples(
        {mode: np.array(seconds, dtype=np.float64) for mode, seconds in by_mode.items()}
    )
