"""Which part of a dataset a fit speaks about."""

from __future__ import annotations

from dataclasses import replace

from chiplog.dataset.series import Dataset, Series
from chiplog.fit.result import Fit


def like_the_fit(dataset: Dataset, fit: Fit) -> Dataset:
    """The series that could have been fitted with those of `fit`: of its operation, placement and groups."""

    def alike(one: Series) -> bool:
        if (one.operation, one.placement) != (fit.operation, fit.placement):
            return False
        return fit.convention is None or (one.between, one.direction) == (
            fit.between,
            fit.convention,
        )

    return replace(dataset, series=tuple(filter(alike, dataset.series)))
