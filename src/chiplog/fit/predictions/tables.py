"""Parameters that are tables over the message size, which a fit keeps as its curves."""

from __future__ import annotations

from collections.abc import Iterable

from chiplog.fit.result import Curve
from chiplog.models.protocol import Model, Theta, entry


def has_tables(model: Model) -> bool:
    """Is a parameter of the model a table?"""
    return any(one.table is not None for one in model.parameters)


def entries_of(model: Model, curves: Iterable[Curve]) -> Theta:
    """The entries of the model's tables, in seconds: what the curves of a fit measured."""
    measured = {one.quantity: one for one in curves}
    theta: dict[str, float] = {}
    for one in model.parameters:
        if one.table in measured:
            table = measured[one.table]
            for size, seconds in zip(table.message_bytes, table.measured_seconds, strict=True):
                theta[entry(one.symbol, int(size))] = max(0.0, float(seconds))
    return theta


def count_numbers(model: Model, curves: Iterable[Curve]) -> int:
    """How many numbers a fit with tables consists of."""
    tables = {one.table for one in model.parameters}
    entries = sum(one.message_bytes.size for one in curves if one.quantity in tables)
    return entries + sum(one.table is None for one in model.parameters)
