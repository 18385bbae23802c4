"""How much of the transfers of a run is hidden behind computations: `overlap` of `chiplog.api`, and of JSON."""

from __future__ import annotations

from chiplog.dataset.series import Dataset
from chiplog.fitting.quantities.overlap import HiddenShare, hidden_shares
from chiplog.report.overlap import of_overlap
from chiplog.report.patterns import pattern_runs


def overlap(dataset: Dataset) -> tuple[HiddenShare, ...]:
    """The hidden shares of sends and of receives by size, one placement after the other; empty without any."""
    return tuple(
        share
        for run in pattern_runs(of_overlap(dataset), most_rows=0, most_columns=0)
        for share in hidden_shares(run.measured)
    )
