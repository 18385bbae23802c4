"""By how much predictions miss collective operations, as intervals take it: on other machines, and on this one.

Of a machine with n measured cells, n >= 19, the next error is as likely to have any place among theirs, which gives the
conformal quantile of the cells alone. Fewer cells can't tell what 95 % of errors do not exceed: then each cell and each
of m other machines is one mean square of normal errors around 0, so that Student's t with n + m degrees of freedom
widens their root mean. A machine without cells has the errors of others alone.

Source: V. Vovk, A. Gammerman, G. Shafer, "Algorithmic learning in a random world", 2005, for the n + 1; R. Dunn,
L. Wasserman, A. Ramdas, "Distribution-free prediction sets for two-layer hierarchical models", Journal of the American
Statistical Association 118 (2023), for machines that count once each.
"""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from chiplog.collectives.algorithm import Algorithm
from chiplog.collectives.registry import OPERATIONS, algorithms
from chiplog.dataset.fields import Fields
from chiplog.dataset.foreign import expecting
from chiplog.dataset.lines import Where, as_object, parse_json
from chiplog.file_kind import ERRORS
from chiplog.input_file import read_text
from chiplog.prediction.correction import LARGEST_WIDTH
from chiplog.prediction.known_errors import KNOWN_ERRORS, Family, KnownErrors, family_of
from chiplog.statistics import CONFIDENCE

SCHEMA = "chiplog.errors/1"
ROUNDING = 1e-9
"""Given: of a rank that is a whole number but for the arithmetic."""
CLUSTERS = "clusters"
"""The name of the table that has only other machines."""


@dataclass(frozen=True)
class ErrorCell:
    """A measured collective operation and what the machine's model says of it."""

    operation: str
    algorithm: str
    ranks: int
    message_bytes: int
    measured_seconds: float
    predicted_seconds: float
    anchored_seconds: float | None
    """Predicted with the anchor of fewest ranks that its file has; None of these ranks themselves."""
    source: str

    @property
    def family(self) -> Family:
        """The family of its algorithm."""
        return family_of(algorithms(self.operation)[self.algorithm])

    def error(self, *, anchored: bool) -> float | None:
        """The logarithm of measured over predicted; None where there is no anchor."""
        predicted = self.anchored_seconds if anchored else self.predicted_seconds
        return None if predicted is None else math.log(self.measured_seconds / predicted)


@dataclass(frozen=True)
class ErrorShare:
    """What a table adds to the interval of one row."""

    table: str
    family: Family
    cells: int
    """Of this machine and family."""
    machines: int
    """Others."""
    is_of_family: bool
    """Whether the others' errors are of the family; else they are of all families that were measured there."""
    factor: float
    """Within which 95 % of the measured times lie of the predicted ones."""

    @property
    def width(self) -> float:
        """The factor's natural logarithm."""
        return math.log(self.factor)


@dataclass(frozen=True)
class ErrorTable:
    """The errors on other machines, and on this one as far as they were measured."""

    name: str
    cells: tuple[ErrorCell, ...] = ()
    known: tuple[KnownErrors, ...] = KNOWN_ERRORS

    def share(self, algorithm: Algorithm, *, anchored: bool) -> ErrorShare:
        """What the table says of an algorithm, predicted with or without an anchor."""
        family = family_of(algorithm)
        errors = [cell.error(anchored=anchored) for cell in self.cells if cell.family is family]
        of_machine = [error for error in errors if error is not None]
        of_family = [row for row in self.known if row.family is family]
        squares = _mean_squares(of_family or self.known, anchored=anchored)
        return ErrorShare(
            table=self.name,
            family=family,
            cells=len(of_machine),
            machines=len(squares),
            is_of_family=bool(of_family),
            factor=math.exp(min(error_width(of_machine, squares), LARGEST_WIDTH)),
        )


def error_width(
    errors: ArrayLike, mean_squares: Sequence[float], covered: float = CONFIDENCE
) -> float:
    """The size that the share `covered` of a machine's next errors does not exceed.

    `errors` are the machine's, shape (cells,); `mean_squares` those of other machines, one each.

    >>> round(error_width([], [0.04]), 2), error_width([0.1] * 19, [0.04])
    (2.54, 0.1)
    """
    sizes = np.sort(np.abs(np.asarray(errors, dtype=np.float64)))
    rank = math.ceil(covered * (sizes.size + 1) - ROUNDING)
    if rank <= sizes.size:
        return float(sizes[rank - 1])
    squares = np.r_[sizes**2, mean_squares]
    return float(stdtrit(squares.size, (1.0 + covered) / 2)) * math.sqrt(float(squares.mean()))


def _mean_squares(known: Sequence[KnownErrors], *, anchored: bool) -> list[float]:
    """Of each machine's errors, over its families."""
    of_machine: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for row in known:
        weighted = (row.anchored_cells, row.anchored_rms) if anchored else (row.cells, row.rms)
        of_machine[row.machine].append(weighted)
    return [
        sum(cells * rms**2 for cells, rms in rows) / sum(cells for cells, _ in rows)
        for rows in of_machine.values()
    ]


def read_error_table(path: str | os.PathLike[str]) -> ErrorTable:
    """The table of that name, or a file that `chiplog calibrate` wrote.

    CorruptFile names file and field; UsageError says that it can't be opened, or is no such file.
    """
    name = os.fspath(path)
    if name == CLUSTERS:
        return ErrorTable(CLUSTERS)
    where = Where(name)
    with expecting(ERRORS, path):
        fields = Fields(as_object(parse_json(read_text(path).encode(), where), where), where)
        fields.text("schema", among=(SCHEMA,))
        return ErrorTable(name, tuple(_cell(row) for row in fields.objects("cells")))


def _cell(fields: Fields) -> ErrorCell:
    operation = fields.text("operation", among=OPERATIONS)
    return ErrorCell(
        operation=operation,
        algorithm=fields.text("algorithm", among=algorithms(operation)),
        ranks=fields.integer("ranks", minimum=1),
        message_bytes=fields.integer("bytes"),
        measured_seconds=_positive(fields, "measured_seconds"),
        predicted_seconds=_positive(fields, "predicted_seconds"),
        anchored_seconds=(
            None
            if fields.number_or_none("anchored_seconds") is None
            else _positive(fields, "anchored_seconds")
        ),
        source=fields.text("source"),
    )


def _positive(fields: Fields, name: str) -> float:
    value = fields.number(name)
    if not value > 0.0:
        raise fields.wrong(name, "must be more than 0")
    return value
