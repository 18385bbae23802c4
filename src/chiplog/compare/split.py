"""A dataset in two: what a model is fitted to, and what it is judged on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from chiplog.dataset.series import Dataset, Series

FEWEST_TRAINING_VALUES = 3
"""Derived: a line and its scatter need three."""
Split = tuple[Dataset, Dataset]
"""What is left for the fit, and what is held out."""


def part(dataset: Dataset, wanted: Callable[[Series], bool]) -> Dataset:
    """The series that `wanted` accepts, without the decision on changes that is stored with the whole run."""
    kept = tuple(series for series in dataset.series if wanted(series))
    return replace(dataset, series=kept, changes=None)


def divide(dataset: Dataset, held: Callable[[Series], bool]) -> Split:
    """The dataset without the series that `held` accepts, and these."""
    return part(dataset, lambda series: not held(series)), part(dataset, held)
