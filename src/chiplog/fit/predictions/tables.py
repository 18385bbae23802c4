"""Parameters that are tables over the message size, which a fit keeps as its curves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from chiplog.fit.estimates.parameters import middle_of
from chiplog.fit.quantities.methods.quantities import MethodQuantities
from chiplog.fit.result import Curve, Segment
from chiplog.models.protocol import Model, Theta, entry

Tables = Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]]
"""By quantity, such as "gap": sizes in bytes and seconds, both of shape (entries,)."""


def has_tables(model: Model) -> bool:
    """Is a parameter of the model a table?"""
    return any(one.table is not None for one in model.parameters)


def theta_of_tables(model: Model, segment: Segment, tables: Tables) -> Theta:
    """The model's parameters from `tables`, and from `segment` those of one number that the data leave.

    What has no upper bound is left out.
    """
    theta: dict[str, float] = {}
    for one in model.parameters:
        if one.table is None:
            value = middle_of(segment.parameters[one.symbol])
            if value is not None:
                theta[one.symbol] = value
        elif one.table in tables:
            for size, seconds in zip(*tables[one.table], strict=True):
                theta[entry(one.symbol, int(size))] = max(0.0, float(seconds))
    return theta


def tables_of(curves: Iterable[Curve]) -> Tables:
    """The tables of a fit: the measured values of its curves."""
    return {one.quantity: (one.message_bytes, one.measured_seconds) for one in curves}


def measured_tables(quantities: MethodQuantities) -> Tables:
    """The tables as they were measured."""
    return {
        one.name: (one.message_bytes, one.value)
        for one in (quantities.gap, quantities.o_s, quantities.o_r)
    }


def count_numbers(model: Model, curves: Iterable[Curve]) -> int:
    """How many numbers a fit with tables consists of."""
    tables = {one.table for one in model.parameters}
    entries = sum(one.message_bytes.size for one in curves if one.quantity in tables)
    return entries + sum(one.table is None for one in model.parameters)
