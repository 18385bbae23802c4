"""Errors of predictions on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from chiplog.collectives.registry import load
from chiplog.counts import counted
from chiplog.prediction.error_table import ErrorShare, ErrorTable
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
    """What a table of errors adds to intervals, a line for each family."""
    shares = {row.errors.family: row.errors for row in rows if row.errors is not None}
    for share in shares.values():
        yield f"intervals hold errors of {share.family}: a factor of {share.factor:.3g}, by {_evidence(share)}"


def _evidence(share: ErrorShare) -> str:
    machines = counted(share.machines, "other machine")
    of_what = "" if share.is_of_family else f" (without {share.family}: all that was measured)"
    cells = f"{counted(share.cells, 'cell')} of {share.table} and " if share.cells else ""
    name = "" if share.cells else f" ({share.table})"
    return f"{cells}{machines}{of_what}{name}"
