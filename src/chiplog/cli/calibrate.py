"""`chiplog calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from chiplog.cli.options import AnywayOption, JsonOption, TargetOption
from chiplog.cli.output import aligned, note, say, write_json
from chiplog.cli.parameters import Argument, Option, OutputFile

if TYPE_CHECKING:
    from chiplog.jobs.calibration import Calibration
    from chiplog.prediction.error_table import ErrorTable
    from chiplog.prediction.known_errors import Family

HEAD = ("family", "anchor", "cells", "median |error|", "largest", "interval")


def calibrate(
    folder: Annotated[
        Path,
        Argument(
            metavar="FOLDER",
            help="A folder with a machine's model file and collectives that were measured there.",
        ),
    ],
    *,
    algorithm: Annotated[str | None, Option(help="Of files that do not name theirs.")] = None,
    out: Annotated[
        Path | None,
        OutputFile(
            "-o", "--output", metavar="FILE", help="Where the table goes; FOLDER/errors.json."
        ),
    ] = None,
    target: TargetOption = None,
    anyway: AnywayOption = False,
    json_file: JsonOption = None,
) -> None:
    """Say how far predictions of measured collectives are off.

    `chiplog predict --errors FILE` takes the table that this writes.
    """
    from chiplog.jobs.calibration import FILE_NAME
    from chiplog.jobs.calibration import calibrate as errors_of
    from chiplog.prediction.correction import may_be_of_another_unit

    calibration = errors_of(folder, algorithm=algorithm, target=target, anyway=anyway)
    path = out or folder / FILE_NAME
    calibration.write(path)
    for sentence in dict.fromkeys(calibration.passed_over):
        note(f"passed over: {sentence}")
    write_json(json_file, calibration.to_json())
    if json_file != "-":
        _print(calibration, path)
    ratios = (cell.measured_seconds / cell.predicted_seconds for cell in calibration.cells)
    if any(map(may_be_of_another_unit, ratios)):
        note("Some times are off by nearer to a thousand than to 1: are all of them in seconds?")
    note(f"the table is {path}: chiplog predict --errors {path} takes it.")


def _print(calibration: Calibration, path: Path) -> None:
    table = calibration.table(path)
    families = dict.fromkeys(cell.family for cell in table.cells)
    rows = [_row(table, family, anchored) for family in families for anchored in (False, True)]
    say(f"errors of predictions by {calibration.model_file}, and factors that hold 95 % of them")
    say(aligned([HEAD, *(row for row in rows if row is not None)]))


def _row(table: ErrorTable, family: Family, anchored: bool) -> tuple[str, ...] | None:
    """A row of a family's errors, without or with an anchor; None where no such operation was measured."""
    import numpy as np

    from chiplog.collectives.registry import load
    from chiplog.report import format

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
