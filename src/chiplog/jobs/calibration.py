"""Errors of a machine's predictions: its model against the collective operations that were measured there."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from chiplog.collectives.algorithm import Task
from chiplog.collectives.registry import algorithms
from chiplog.errors import UsageError
from chiplog.file_kind import BENCH, MODEL, RUN, kind_of
from chiplog.fitting.model_file import json_text, read_model
from chiplog.fitting.origin import of_target
from chiplog.fitting.result import Fit
from chiplog.jobs.anchor_files import read_anchors
from chiplog.json_values import plain
from chiplog.output_file import write_text
from chiplog.prediction.anchors import Anchor
from chiplog.prediction.convention import TimeConvention
from chiplog.prediction.error_table import SCHEMA, ErrorCell, ErrorTable
from chiplog.prediction.predict import predict

FILE_NAME = "errors.json"
"""What the table is called in the folder, unless another name is given."""
MOST_CELLS = 4096
"""Given: each is predicted twice, and may be simulated."""


@dataclass(frozen=True)
class Calibration:
    """The cells of a folder, and what of it was passed over, in words."""

    model_file: Path
    cells: tuple[ErrorCell, ...]
    passed_over: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """The object of the schema chiplog.errors/1."""
        return {
            "schema": SCHEMA,
            "model_file": self.model_file.name,
            "cells": [_cell_to_json(cell) for cell in self.cells],
        }

    def write(self, path: Path) -> None:
        """Writes the table, which `predict --errors` reads; RunFailed where it can't be written."""
        write_text(path, json_text(self.to_json()))

    def table(self, path: Path) -> ErrorTable:
        """The table as predictions take it."""
        return ErrorTable(os.fspath(path), self.cells)


def calibrate(
    folder: str | os.PathLike[str],
    *,
    algorithm: str | None = None,
    target: str | None = None,
    anyway: bool = False,
) -> Calibration:
    """Predicts each collective operation that the files of a folder measured, by the folder's one model file.

    Of each file, algorithm and size the time of fewest ranks is the anchor of the others, which are predicted without
    and with it. `algorithm` is that of files which name none, where their operation has such a one. Raises UsageError
    where there is no folder, not one model file, or nothing that can be predicted; CorruptFile where a file is damaged.
    """
    where = Path(folder)
    if not where.is_dir():
        raise UsageError(f"{where}: is no folder; give one with a model file and measured times.")
    files = sorted(path for path in where.iterdir() if path.is_file())
    model_file = _model_file(where, files)
    fits = of_target(read_model(model_file), target, os.fspath(model_file))
    passed_over: list[str] = []
    cells: list[ErrorCell] = []
    for path in files:
        if path != model_file and _may_be_measured(path):
            measured = list(_anchors(path, algorithm, passed_over.append))
            if len(cells) + len(measured) > MOST_CELLS:
                raise UsageError(f"{where}: holds more than {MOST_CELLS} measured times.")
            cells += _cells(_Asker(fits, anyway), measured, passed_over.append)
    if not cells:
        why = f": {passed_over[0]}" if passed_over else ""
        raise UsageError(f"{where} holds no measured collective that can be predicted{why}")
    return Calibration(model_file, tuple(cells), tuple(passed_over))


def _model_file(folder: Path, files: Sequence[Path]) -> Path:
    models = [path for path in files if (kind_of(path) or ("",))[0] == MODEL]
    if len(models) != 1:
        names = ", ".join(path.name for path in models[:3])
        held = f"{len(models)} model files ({names})" if models else "no model file"
        raise UsageError(
            f"{folder} holds {held}; one is needed, that of the machine which the other files measured."
        )
    return models[0]


def _may_be_measured(path: Path) -> bool:
    kind = kind_of(path)
    return path.suffix == ".csv" if kind is None else kind[0] in (RUN, BENCH)


def _anchors(
    path: Path, algorithm: str | None, pass_over: Callable[[str], None]
) -> Iterator[Anchor]:
    """The measured times of a file whose algorithm is known."""
    try:
        measured = read_anchors([path])
    except UsageError:
        pass_over(f"{path.name} holds no calls of collective operations.")
        return
    for anchor in measured:
        name = anchor.algorithm or algorithm
        known = algorithms(anchor.operation)
        if name is None or name not in known:
            pass_over(
                f"{path.name} does not say by which algorithm {anchor.operation} was measured: name it with "
                "--algorithm."
                if anchor.algorithm is None
                else f"{path.name}: '{name}' does no {anchor.operation}."
            )
        elif known[name].takes_peers and anchor.peers is None:
            pass_over(f"{path.name} does not say how many peers a rank had in a round of {name}.")
        else:
            yield replace(anchor, algorithm=name)


@dataclass(frozen=True)
class _Asker:
    """Predicts measured operations by the fits of a machine."""

    fits: Sequence[Fit]
    anyway: bool

    def seconds(self, anchor: Anchor, anchors: Sequence[Anchor] = ()) -> float:
        """The time of what was measured; with `anchors`, as they correct it."""
        rows = predict(
            self.fits,
            anchor.operation,
            Task(anchor.ranks, anchor.message_bytes, peers=anchor.peers or Task.peers),
            algorithm=anchor.algorithm,
            peers=anchor.peers,
            anyway=self.anyway,
            convention=anchor.convention or TimeConvention.COMMON_START,
            anchors=anchors,
        )
        return rows[0].seconds


def _cells(
    asker: _Asker, measured: Sequence[Anchor], pass_over: Callable[[str], None]
) -> Iterator[ErrorCell]:
    """What the model says of each time of a file."""
    together: dict[tuple[object, ...], list[Anchor]] = defaultdict(list)
    for anchor in measured:
        key = (anchor.operation, anchor.algorithm, anchor.message_bytes, anchor.peers)
        together[key].append(anchor)
    for alike in together.values():
        fewest = min(alike, key=lambda anchor: anchor.ranks)
        for anchor in alike:
            try:
                predicted = asker.seconds(anchor)
                anchored = asker.seconds(anchor, [fewest]) if anchor is not fewest else None
            except UsageError as error:
                pass_over(f"{Path(anchor.source).name}: {error}")
                continue
            yield ErrorCell(
                operation=anchor.operation,
                algorithm=anchor.algorithm or "",
                ranks=anchor.ranks,
                message_bytes=anchor.message_bytes,
                measured_seconds=anchor.seconds,
                predicted_seconds=predicted,
                anchored_seconds=anchored,
                source=Path(anchor.source).name,
            )


def _cell_to_json(cell: ErrorCell) -> dict[str, object]:
    members: dict[str, object] = plain(cell)
    return {"bytes" if name == "message_bytes" else name: value for name, value in members.items()}
