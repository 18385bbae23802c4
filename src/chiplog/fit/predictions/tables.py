"""Parameters that are tables over the message size, which a fit keeps as its curves."""

from __future__ import annotations

from collections.abc import Iterable

from chiplog.fit.result import Curve
from chiplog.models.protocol import Model, Theta, entry


def has_tables(model: Model) -> bool:
    """Is a parameter of the model a table?"""
    return any(parameter.table is not None for parameter in model.parameters)


def entries_of(model: Model, curves: Iterable[Curve]) -> Theta:
    """The entries of the model's tables, in seconds: what the curves of a fit measured."""
    measured = {curve.quantity: curve for curve in curves}
    theta: dict[str, float] = {}
    for parameter in model.parameters:
        if parameter.table in measured:
            table = measured[parameter.table]
            for size, seconds in zip(table.message_bytes, table.measured_seconds, strict=True):
                theta[entry(parameter.symbol, int(size))] = max(0.0, float(seconds))
    return theta


def count_numbers(model: Model, curves: Iterable[Curve]) -> int:
    """How many numbers a fit with tables consists of."""
    tables = {parameter.table for parameter in model.parameters}
    entries = sum(curve.message_bytes.size for curve in curves if curve.quantity in tables)
    return entries + sum(parameter.table is None for parameter in model.parameters)
