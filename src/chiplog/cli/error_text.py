"""Errors of predictions on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from chiplog.collectives.registry import load
from chiplog.counts import counted
from chiplog.prediction.error_table import CLUSTERS, ErrorShare, ErrorTable
from chiplog.prediction.known_errors import Family
from chiplog.prediction.result import Prediction
from chiplog.report import format

HEAD = ("family", "anchor", "cells", "median |error|", "largest", "interval")


def error_rows(table: ErrorTable) -> list[tuple[str, ...]]:
    """A row for each family that was measured, without and with an anchor, below a head."""
    families = dict.fromkeys(cell.family for cell in table.cells)
    rows = [_row(table, family, anchored) for family in families for anchored in (False, True)]
    return [HEAD, *(row for row in rows if row is not None)]


def _row(table: ErrorTable, family: Family, anchored: bool) -> tuple[str, ...] | None:
    cells = [cell for cell in table.cells if cell.family is family]
    errors = [error for cell in cells if (error := cell.error(anchored=anchored)) is not None]
    if not errors:
        return None
    relative = np.abs(np.expm1(-np.array(errors)))
    share = table.share(load(cells[0].operation, cells[0].algorithm), anchored=anchored)
    return (
        family,
        "fewest ranks" if anchored else "none",
        str(len(errors)),
        format.percent(float(np.median(relative))),
        format.percent(float(relative.max())),
        f"x or / {share.factor:.3g}",
    )


def error_lines(rows: Sequence[Prediction]) -> Iterator[str]:
    """What a table of errors adds to intervals, a sentence for each family."""
    shares = {row.errors.family: row.errors for row in rows if row.errors is not None}
    for share in shares.values():
        yield (
            f"Intervals of {share.family} algorithms hold errors of predictions: a factor of {share.factor:.3g}, by "
            f"{_evidence(share)}."
        )


def _evidence(share: ErrorShare) -> str:
    """Which measured operations the errors are of."""
    machines = counted(share.machines, "other machine")
    if share.cells:
        return f"{counted(share.cells, 'cell')} of {share.table}, and {machines}"
    by = machines if share.table == CLUSTERS else f"{machines} ({share.table} has none)"
    if share.is_of_family:
        return by
    return f"{by}; none measured a {share.family}, so the errors of all algorithms count"
