"""Several runs of one thing as one dataset: its launches are a random factor of the fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError


def merge(datasets: Sequence[Dataset]) -> Dataset:
    """All series of `datasets`, each launch of each of them with a number of its own.

    Assumes that nothing but the launch differs. The header is that of the first, with all headers in its member
    `merged`. Raises UsageError for no dataset, and for datasets of different transports.
    """
    if not datasets:
        raise UsageError("there is no run to merge.")
    transports = sorted({dataset.transport for dataset in datasets})
    if len(transports) > 1:
        raise UsageError(f"runs of different transports can't be merged: {', '.join(transports)}.")
    numbers: dict[tuple[int, int], int] = {}
    series = [
        replace(one_series, launch=numbers.setdefault((index, one_series.launch), len(numbers)))
        for index, dataset in enumerate(datasets)
        for one_series in dataset.series
    ]
    return Dataset(
        header={**datasets[0].header, "merged": [dict(dataset.header) for dataset in datasets]},
        series=tuple(series),
        complete=all(dataset.complete for dataset in datasets),
        source=", ".join(dataset.source for dataset in datasets),
        warnings=tuple(warning for dataset in datasets for warning in dataset.warnings),
    )
