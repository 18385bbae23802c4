"""A made-up target with runs of many processes, from known LogfP and max-rate truth, for tests of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sample_report import MPI, sample_target
from synthetic import SyntheticDisturbance
from synthetic_one_to_many import logfp_truth, one_to_many_dataset
from synthetic_pairs import pairs_dataset

from chiplog.comparison.result import ModelRow
from chiplog.dataset.series import Dataset
from chiplog.fitting.fit import fit, models_for
from chiplog.models.max_rate import MAX_RATE
from chiplog.models.piecewise import Piece
from chiplog.report.input import TargetReport

LOGFP = {"f": 7.0, "o_min": 0.18e-6, "o_max": 1.6e-6, "L": 5e-6, "g": 5e-6}
RATES = {"s0": 5e-6, "R_C": 2e9, "R_N": 7e9}
PEERS = tuple(range(1, 17))
PAIRS = tuple(range(1, 9))
PAIR_SIZES = tuple(4**power for power in range(10))
NOISE = SyntheticDisturbance(noise=0.02)


def sample_many_target(
    *, peers: Sequence[int] = PEERS, pairs: Sequence[int] = PAIRS, cpus: int = 64
) -> TargetReport:
    """A target of two ranks with a run of one to many and one of pairs, on a machine with so many CPUs."""
    ranks = max(max(peers) + 1, 2 * max(pairs))
    return replace(
        sample_target("mpi", MPI, samples=4),
        one_to_many=_run(
            one_to_many_dataset(logfp_truth(LOGFP), peers, disturbance=NOISE),
            _header(ranks, cpus),
        ),
        pairs=_run(
            pairs_dataset(
                MAX_RATE,
                [Piece(None, RATES)],
                PAIR_SIZES,
                pairs=pairs,
                launches=2,
                disturbance=NOISE,
            ),
            _header(ranks, cpus),
        ),
    )


def _header(ranks: int, cpus: int) -> Mapping[str, object]:
    return {
        "target": "mpi",
        "transport": "mpi",
        "ranks": ranks,
        "hosts": ["node017"] * ranks,
        "binding": [[rank % cpus] for rank in range(ranks)],
        "machine": {"cores": cpus},
    }


def _run(made: Dataset, header: Mapping[str, object]) -> TargetReport:
    dataset = replace(made, header=header)
    one_k = {(series.pattern, series.pairs) for series in dataset.series} == {("pairs", 1)}
    fits = fit(dataset, ("postal",) if one_k else models_for(dataset))
    rows = tuple(
        ModelRow(
            one.model, one.method, "every 5th", 3, one.error, statistic, one.operation, one.posting
        )
        for one in fits
        for statistic in ("median", "minimum", "mean")
    )
    return TargetReport("mpi", dataset, fits, comparison=rows)
