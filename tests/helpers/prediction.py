"""A fit with given parameters, to predict with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from chiplog.fitting.result import Cost, Curve, Fit, FitError, Parameter, Segment
from chiplog.models.registry import load_model


def fit_of(
    model: str,
    values: Mapping[str, float | None],
    *,
    first_bytes: int = 1,
    last_bytes: int = 1 << 20,
    spread: float = 0.0,
    draws: Mapping[str, NDArray[np.float64]] | None = None,
    curves: Sequence[Curve] = (),
    bounds: Mapping[str, tuple[float, float | None]] | None = None,
    ranks: int | None = None,
    hosts: int | None = None,
) -> Fit:
    """One segment; parameters in SI units, None for one that is not identified; intervals of ± `spread`, as a share.

    `bounds` are least and largest values of those that are not identified.
    """
    units = {parameter.symbol: parameter.unit for parameter in load_model(model).parameters}
    parameters = {
        symbol: Parameter(
            symbol,
            value,
            (bounds or {}).get(symbol, (None, None))[0] if value is None else value * (1 - spread),
            (bounds or {}).get(symbol, (None, None))[1] if value is None else value * (1 + spread),
            units.get(symbol, "s"),
            value is not None,
            "the data can't tell." if value is None else None,
        )
        for symbol, value in values.items()
    }
    return Fit(
        model=model,
        method="prtt",
        transport="sim",
        operation="send",
        direction="one-way",
        statistic="median",
        segments=(Segment(first_bytes, last_bytes, parameters),),
        changes=(),
        error=FitError(1, 0.0, 0.0, 0.0, 1.0),
        cost=Cost(1, 1, 1.0),
        curves=tuple(curves),
        draws={f"0/{symbol}": values for symbol, values in (draws or {}).items()},
        ranks=ranks,
        hosts=hosts,
    )
