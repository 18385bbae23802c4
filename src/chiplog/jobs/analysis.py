"""Everything that is known of one run: all models by all methods, protocol changes, comparison, placement."""

from __future__ import annotations

from dataclasses import replace

from chiplog.compare.judged import default_models
from chiplog.compare.models import DEFAULT_FOLDS, FEWEST_TRAINING_VALUES, compare_models
from chiplog.compare.postings import compare_postings
from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.fit.changes import find_changes
from chiplog.fit.result import Change, Fit
from chiplog.fit.run import fit, models_for
from chiplog.jobs.placement import placement_of
from chiplog.report.input import ComparisonRow, SeriesChanges, TargetReport

ALL_METHODS = "all"
STATISTICS = ("median", "minimum", "mean")


def analyse(name: str, dataset: Dataset, *, raw_file: str | None = None) -> TargetReport:
    """The target's part of a report; `name` is the target as it was asked for.

    Raises UsageError where the dataset has no series that a model speaks about.
    """
    dataset = _as_asked(dataset)
    fits = fit(dataset, models_for(dataset), method=ALL_METHODS)
    series, consensus = _changes(dataset, fits)
    return TargetReport(
        name=name,
        dataset=dataset,
        fits=fits,
        series_changes=series,
        consensus=consensus,
        comparison=_comparison(dataset),
        placement=placement_of(dataset),
        postings=compare_postings(dataset.series),
        raw_files=(raw_file,) if raw_file else (),
    )


def _as_asked(dataset: Dataset) -> Dataset:
    """The dataset without the bare round trips that only paced the receive overheads of one to many.

    They would pass for an assessment of one pair over the sizes.
    """
    over_peers = any(one.pattern == "one_to_many" for one in dataset.series)
    trains = any(one.pattern == "prtt" and one.train > 1 for one in dataset.series)
    if trains or not over_peers:
        return dataset
    return replace(dataset, series=tuple(one for one in dataset.series if one.pattern != "prtt"))


def _changes(
    dataset: Dataset, fits: tuple[Fit, ...]
) -> tuple[tuple[SeriesChanges, ...], tuple[Change, ...]]:
    """What each series shows, and the consensus; of k pairs, the protocols found over all k."""
    if all(one.pattern == "pairs" for one in dataset.series):
        return (), fits[0].changes
    found = find_changes(dataset)
    series = tuple(SeriesChanges(one.quantity, one.changes) for one in found.series)
    return series, found.consensus


def _comparison(dataset: Dataset) -> tuple[ComparisonRow, ...]:
    """Each model's error on points held out; none where there are too few to hold some out.

    Of several operations and postings only the first: a fit of LoP takes seconds, and each is fitted many times here.
    """
    dataset = next(iter(dataset.by_way().values()), dataset)
    return tuple(row for statistic in _statistics(dataset) for row in _rows(dataset, statistic))


def _statistics(dataset: Dataset) -> tuple[str, ...]:
    """The median; of one process to many all three, since its models are compared on each."""
    one_to_many = any(one.pattern == "one_to_many" for one in dataset.series)
    return STATISTICS if one_to_many else STATISTICS[:1]


def _rows(dataset: Dataset, statistic: str) -> tuple[ComparisonRow, ...]:
    peers = {one.peers for one in dataset.series if one.pattern == "one_to_many"}
    for folds in (DEFAULT_FOLDS, max(2, len(peers) - FEWEST_TRAINING_VALUES)):
        try:
            rows = compare_models(
                dataset, default_models(dataset), folds=folds, statistic=statistic
            )
        except UsageError:
            continue
        return tuple(
            ComparisonRow(
                row.model,
                row.method,
                row.held_out,
                row.parameters,
                row.error,
                statistic,
                row.operation,
                row.posting,
            )
            for row in rows
        )
    return ()
