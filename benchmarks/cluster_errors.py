"""Errors of predictions on real clusters: the table that chiplog ships, and whether its intervals hold elsewhere.

    CHIPLOG_DATA=FOLDER python benchmarks/cluster_errors.py

FOLDER/cloud is that of benchmarks/clusters.py. Printed are the rows of `chiplog.prediction.known_errors`; then how many
collectives lie in their intervals, which hold the fit's own error alone, or also the errors of the other clusters and
of some other cells of the same one; without an anchor and with that of 4 ranks. The fit's own error is of 95 % always.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from clusters import ANCHOR_RANKS, NOISY_JOB, Cell, Way, cells, model_of

from chiplog.prediction.error_table import error_width
from chiplog.prediction.known_errors import Family

WAY = Way("fits", ("pingpong", "prtt", "exchange"))
NAMES = {"daint": "Piz Daint", "deepest": "DEEP-EST", "gcphpc": "Google Cloud"}
FAMILIES = {"nway": Family.DISSEMINATION, "ring": Family.RING}
CELL_COUNTS = (1, 3, 10, 20)
LEVELS = (0.90, 0.95)


@dataclass(frozen=True)
class CellError:
    """The logarithm of measured over predicted, and the width of the fit's own interval."""

    cell: Cell
    error: float
    width: float


def cell_errors(folder: Path, *, anchored: bool) -> list[CellError]:
    """Of every collective; with an anchor those of more ranks whose job has one of the same size."""
    every = list(cells(folder))
    anchors = {_job(cell): cell for cell in every if cell.ranks == ANCHOR_RANKS}
    rows = []
    for cell in every:
        model = model_of(folder, cell.cluster, WAY, follows_exchanges=not anchored)
        error = math.log(cell.seconds / model.seconds(cell))
        if anchored:
            anchor = anchors.get(_job(cell))
            if anchor is None or anchor is cell:
                continue
            error -= math.log(anchor.seconds / model.seconds(anchor))
        rows.append(CellError(cell, error, model.width(cell)))
    return rows


def _job(cell: Cell) -> tuple[str, str, int]:
    return cell.archive, cell.operation, cell.whole_bytes


def mean_squares(rows: Iterable[CellError]) -> list[float]:
    """Of each cluster."""
    squares: dict[str, list[float]] = {}
    for row in rows:
        squares.setdefault(row.cell.cluster, []).append(row.error**2)
    return [float(np.mean(values)) for values in squares.values()]


def covered(rows: Sequence[CellError], count: int | None, level: float, seed: int = 1) -> float:
    """The share of cells in intervals with `count` other cells of the cluster; None: with the fit's own error alone."""
    random = np.random.default_rng(seed)
    held = []
    for row in rows:
        width = row.width
        if count is not None:
            family = [other for other in rows if other.cell.operation == row.cell.operation]
            elsewhere = [other for other in family if other.cell.cluster != row.cell.cluster]
            here = [
                other.error
                for other in family
                if other is not row and other.cell.cluster == row.cell.cluster
            ]
            some = random.permutation(here)[:count]
            width = math.hypot(width, error_width(some, mean_squares(elsewhere), level))
        held.append(abs(row.error) <= width)
    return float(np.mean(held))


def print_table(folder: Path) -> None:
    """The rows as Python."""
    without, with_anchor = (cell_errors(folder, anchored=anchored) for anchored in (False, True))
    for cluster, machine in NAMES.items():
        for operation, family in FAMILIES.items():
            numbers = []
            for rows in (without, with_anchor):
                squares = [
                    row.error**2
                    for row in rows
                    if row.cell.cluster == cluster and row.cell.operation == operation
                ]
                numbers += [str(len(squares)), f"{math.sqrt(np.mean(squares)):.3f}"]
            print(f'    KnownErrors("{machine}", Family.{family.name}, {", ".join(numbers)}),')


def print_coverage(folder: Path) -> None:
    """A line for each kind of interval: all jobs, and those of quiet days."""
    for anchored in (False, True):
        every = cell_errors(folder, anchored=anchored)
        quiet = [row for row in every if row.cell.archive != NOISY_JOB]
        for count in (None, 0, *CELL_COUNTS):
            shares = [
                f"{level:.0%}: {covered(every, count, level):.0%} of {len(every)}, "
                f"without the noisy job {covered(quiet, count, level):.0%} of {len(quiet)}"
                for level in (LEVELS if count is not None else LEVELS[1:])
            ]
            what = "the fit's own error" if count is None else f"other clusters and {count} cells"
            print(f"{'anchor' if anchored else 'none':6} {what:32} {'; '.join(shares)}", flush=True)


def main() -> None:
    """Print the table, and what it holds."""
    folder = Path(os.environ["CHIPLOG_DATA"]) / "cloud"
    print_table(folder)
    print_coverage(folder)


if __name__ == "__main__":
    main()
