"""Everything that is known of one run: all models by all methods, protocol changes, comparison, placement.

Protocol changes are looked for once, and passed along: to the fits of all models, and to the folds of the comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from chiplog.comparison.judged import default_models
from chiplog.comparison.models import judge_models
from chiplog.comparison.postings import compare_postings
from chiplog.comparison.result import ModelRow
from chiplog.dataset.series import Dataset
from chiplog.fitting.fit import fit_all, models_for
from chiplog.fitting.request import FitRequest, LeftOut
from chiplog.fitting.result import Fit
from chiplog.protocol_changes.change import Change
from chiplog.protocol_changes.find import find_changes
from chiplog.report.input import Placement, PlacementState, ReportedChanges, TargetReport

ALL_METHODS = "all"
STATISTICS = ("median", "minimum", "mean")
APART = 1.35
"""Given: records whose bare flag exchanges differ by more than this factor were measured in different states."""
FEWEST_SHARE = 0.02
"""Given: a state with a smaller share of the records is a disturbance, no state."""


def analyse(name: str, dataset: Dataset, *, raw_file: str | None = None) -> TargetReport:
    """The target's part of a report; `name` is the target as it was asked for.

    A model that has nothing to say about what was measured is left out, with the reason.
    """
    return compared(fitted(name, dataset, raw_file=raw_file))


def fitted(name: str, dataset: Dataset, *, raw_file: str | None = None) -> TargetReport:
    """`analyse` but for the comparison of models on held-out points, which takes most of the time."""
    dataset = _as_asked(dataset)
    series, consensus = _changes(dataset)
    method = None if _of_one_number_of_pairs(dataset) else ALL_METHODS
    outcome = fit_all(dataset, FitRequest(models_for(dataset), method, consensus))
    return TargetReport(
        name=name,
        dataset=dataset,
        fits=outcome.fits,
        series_changes=series,
        consensus=consensus or (outcome.fits[0].changes if outcome.fits else ()),
        placement=placement_of(dataset),
        postings=compare_postings(dataset.series),
        raw_files=(raw_file,) if raw_file else (),
        left_out=outcome.left_out,
    )


def compared(report: TargetReport) -> TargetReport:
    """The report of `fitted` with each model's error on points held out, and the models that have nothing to say."""
    changes = () if _is_of_pairs(report.dataset) else report.consensus
    comparison, left_out = _comparison(report.dataset, changes)
    return replace(
        report,
        fits=tuple(_with_held_out(fit, comparison) for fit in report.fits),
        comparison=comparison,
        left_out=tuple(dict.fromkeys((*report.left_out, *left_out))),
    )


def _with_held_out(fit: Fit, comparison: Sequence[ModelRow]) -> Fit:
    """The fit with its error on held-out points, where the comparison has one."""
    held_out = (row.error for row in comparison if row.judges(fit) and not row.in_sample)
    return replace(fit, held_out=next(held_out, fit.held_out))


def _as_asked(dataset: Dataset) -> Dataset:
    """The dataset without the bare round trips that only paced the receive overheads of one to many.

    They would pass for an assessment of one pair over the sizes.
    """
    over_peers = any(series.pattern == "one_to_many" for series in dataset.series)
    trains = any(series.pattern == "prtt" and series.train > 1 for series in dataset.series)
    if trains or not over_peers:
        return dataset
    return replace(
        dataset, series=tuple(series for series in dataset.series if series.pattern != "prtt")
    )


def _changes(dataset: Dataset) -> tuple[tuple[ReportedChanges, ...], tuple[Change, ...]]:
    """What each series shows, and the consensus; nothing of k pairs, whose fits look for protocols over all k.

    Where only slopes change there is no protocol change, but a border of regimes: fits find these.
    """
    if _is_of_pairs(dataset):
        return (), ()
    changes = find_changes(dataset)
    series = tuple(
        ReportedChanges(series_changes.label, series_changes.changes)
        for series_changes in changes.series
    )
    return series, tuple(change for change in changes.consensus if change.kind != "slope")


def _comparison(
    dataset: Dataset, changes: tuple[Change, ...]
) -> tuple[tuple[ModelRow, ...], tuple[LeftOut, ...]]:
    """Each model's error on points held out, and the models that have nothing to say.

    Of several operations and postings only the first: a fit of LoP takes seconds, and each is fitted many times here.
    Nothing of one number of pairs: there the models of k pairs are one and the same line.
    """
    dataset = next(iter(dataset.by_way().values()), dataset)
    if _of_one_number_of_pairs(dataset):
        return (), ()
    judgements = [
        judge_models(dataset, default_models(dataset), boundaries=changes, statistic=statistic)
        for statistic in _statistics(dataset)
    ]
    return (
        tuple(row for model_rows in judgements for row in model_rows.rows),
        tuple(left_out for judged in judgements for left_out in judged.left_out),
    )


def _is_of_pairs(dataset: Dataset) -> bool:
    """Whether there is nothing but k pairs at once."""
    return all(series.pattern == "pairs" for series in dataset.series)


def _of_one_number_of_pairs(dataset: Dataset) -> bool:
    """Whether there is nothing but series of one number of pairs: all their models and methods are one line then."""
    kinds = {(series.pattern, series.pairs) for series in dataset.series}
    return len(kinds) == 1 and next(iter(kinds))[0] == "pairs"


def _statistics(dataset: Dataset) -> tuple[str, ...]:
    """The median; of one process to many all three, since its models are compared on each."""
    one_to_many = any(series.pattern == "one_to_many" for series in dataset.series)
    return STATISTICS if one_to_many else STATISTICS[:1]


def placement_of(dataset: Dataset) -> Placement | None:
    """The placement states of the cores during the run, ascending by their bare flag exchange; None between hosts.

    Virtual machines move cores, and latencies with them.
    """
    records = {
        series.record_id: (series.placement_seconds, series.launch)
        for series in dataset.series
        if series.placement_seconds is not None and series.placement_seconds > 0
    }
    if not records:
        return None
    ordered = sorted(records.values())
    seconds = np.array([flag for flag, _ in ordered])
    borders = np.flatnonzero(seconds[1:] > APART * seconds[:-1]) + 1
    groups = np.split(np.arange(len(ordered)), borders)
    states = tuple(
        PlacementState(
            flag_seconds=float(np.median(seconds[group])),
            records=len(group),
            launches=tuple(sorted({ordered[index][1] for index in group})),
        )
        for group in groups
        if len(group) >= FEWEST_SHARE * len(ordered)
    )
    return Placement(states, _placement_note(states))


def _placement_note(states: tuple[PlacementState, ...]) -> str | None:
    if len(states) < 2:
        return None
    times = ", ".join(f"{state.flag_seconds * 1e9:.0f} ns" for state in states)
    return (
        f"The cores were in {len(states)} placement states (bare flag exchange {times}): medians mix them, and "
        "runs in different states differ for that reason."
    )
