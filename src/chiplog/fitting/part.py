"""Which part of a dataset a fit is made from."""

from __future__ import annotations

from dataclasses import replace

from chiplog.dataset.operations import NORMAL
from chiplog.dataset.series import Dataset, Series
from chiplog.fitting.result import Fit

RECEIVES = "receive_overhead"


def like_the_fit(dataset: Dataset, fit: Fit) -> Dataset:
    """The series that could have been fitted with those of `fit`: of its operation, posting, placement and groups."""

    def alike(series: Series) -> bool:
        part = (series.operation, series.posting, series.placement)
        if part != (fit.operation, fit.posting, fit.placement):
            return False
        return fit.convention is None or (series.between, series.direction) == (
            fit.between,
            fit.convention,
        )

    return replace(dataset, series=tuple(filter(alike, dataset.series)))


def with_receives(dataset: Dataset, chosen: Dataset) -> Dataset:
    """`chosen`, of one operation and posting, with receives of messages that were posted normally, if it has none.

    How a message was handed over makes no difference to its receiver.
    """
    first = chosen.series[0]
    if any(series.pattern == RECEIVES for series in chosen.series) or first.posting == NORMAL:
        return chosen
    lent = [
        series
        for series in dataset.select(pattern=RECEIVES, operation=first.operation).series
        if (series.posting, series.placement) == (NORMAL, first.placement)
    ]
    return replace(chosen, series=(*chosen.series, *lent))
