"""`chiplog predict` and `chiplog simulate` say the same of one model and one schedule: time and interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from needs import require_data
from prediction import fit_of
from synthetic import SyntheticDisturbance, size_grid, synthetic_dataset

from chiplog.collectives.algorithm import Task
from chiplog.collectives.registry import OPERATIONS, algorithms
from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run
from chiplog.fitting.fit import fit
from chiplog.fitting.quantities.measured import is_round_trip
from chiplog.fitting.result import Fit
from chiplog.jobs.simulated_model import FittedParameters
from chiplog.models.piecewise import Piece
from chiplog.prediction.loggp import LogGPSpeaker
from chiplog.prediction.predict import predict

PICOSECOND = 1e-12
TASKS = ((2, 1), (5, 8), (8, 16384), (13, 100_000))
"""Ranks and bytes."""
SIZES = size_grid(1 << 17, per_octave=1)
SMALL = {"L": 5e-6, "o_s": 1e-6, "o_r": 1.2e-6, "g": 2e-6, "G": 0.5e-9}
LARGE = {"L": 9e-6, "o_s": 4e-6, "o_r": 3e-6, "g": 5e-6, "G": 0.2e-9}
COPYING = {**SMALL, "O_s": 0.3e-9, "O_r": 0.2e-9}
GOLDEN = {
    "LogGOPSim": {"L": 2500e-9, "o_s": 1500e-9, "o_r": 1500e-9, "g": 1000e-9, "G": 6e-9},
    "TCP": {"L": 45.74e-6, "o_s": 3.46e-6, "o_r": 3.46e-6, "g": 0.915e-6, "G": 8.49e-9},
    "SCI": {"L": 5.48e-6, "o_s": 6.1e-6, "o_r": 6.1e-6, "g": 7.78e-6, "G": 4.5e-9},
}


def hold_against_each_other(found: Fit, tasks: Sequence[tuple[int, int]] = TASKS) -> int:
    """How many algorithms and tasks were compared; an algorithm with a bound alone is none."""
    return sum(
        hold_of_operation(found, operation, Task(ranks, size))
        for operation in OPERATIONS
        for ranks, size in tasks
    )


def hold_of_operation(fitted: Fit, operation: str, task: Task) -> int:
    accepting = [
        algorithm for algorithm in algorithms(operation).values() if algorithm.accepts(task)
    ]
    if not accepting:
        return 0
    rows = {row.algorithm: row for row in predict([fitted], operation, task, anyway=True)}
    predicted = [algorithm for algorithm in accepting if rows[algorithm.name].method != "bound"]
    for algorithm in predicted:
        row = rows[algorithm.name]
        peers, costs = row.peers or task.peers, LogGPSpeaker(fitted).tree_costs(task.message_bytes)
        schedule = algorithm.schedule(replace(task, peers=peers, costs=costs))
        simulated = FittedParameters(fitted).simulate(schedule)
        times = [simulated.simulation.makespan_ps, simulated.low_ps, simulated.high_ps]
        expected = [row.seconds, row.low, row.high]
        if algorithm.name == "logp-optimal":  # of two ranks that are as early, either may go on
            times, expected = times[:1], expected[:1]
        assert [time * PICOSECOND for time in times] == pytest.approx(
            expected, rel=1e-4, abs=100 * PICOSECOND
        ), (operation, algorithm.name, task)
    return len(predicted)


@pytest.mark.parametrize("network", GOLDEN)
def test_of_a_published_network(network: str) -> None:
    assert hold_against_each_other(fit_of("loggp", GOLDEN[network], spread=0.05)) > 80


@pytest.mark.parametrize(("model", "theta"), [("loggp", SMALL), ("loggops", COPYING)])
def test_of_a_fit_of_two_protocols_beside_noise(model: str, theta: dict[str, float]) -> None:
    pieces = [Piece(8192, theta), Piece(None, {**theta, **LARGE})]
    run = synthetic_dataset(pieces, SIZES, samples=6, disturbance=SyntheticDisturbance(noise=0.03))
    found = fit(run, [model], boundaries=[8192])[0]
    assert hold_against_each_other(found, TASKS[1:3]) > 30


def test_where_exchanges_take_longer_than_a_message_alone() -> None:
    crossed = fit_with_exchanges(phi=1.5)
    assert hold_against_each_other(crossed, TASKS[1:]) > 80
    ring = Task(8, 65536)
    (row, *_) = predict([crossed], "allgather", ring, algorithm="ring", anyway=True)
    one_way = 7e-6 + 0.5e-9 * 65535
    assert row.seconds == pytest.approx(7 * 1.5 * one_way, rel=0.01)
    (tree, *_) = predict([crossed], "bcast", ring, algorithm="binomial", anyway=True)
    (alone, *_) = predict(
        [fit_with_exchanges(phi=None)], "bcast", ring, algorithm="binomial", anyway=True
    )
    assert tree.seconds == alone.seconds


def fit_with_exchanges(phi: float | None) -> Fit:
    """A LogGP fit of a network where an exchange takes `phi` times a message alone, if any was measured."""
    theta = {"L": 5e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": 0.5e-9}
    run = synthetic_dataset([Piece(None, theta)], SIZES, samples=6)
    if phi is not None:
        alone = [series for series in run.series if is_round_trip(series)]
        exchanges = [
            replace(
                series, pattern="exchange", direction="one-way", seconds=phi * series.seconds / 2
            )
            for series in alone
        ]
        run = replace(run, series=(*run.series, *exchanges))
    (fitted,) = fit(run, ["loggp"])
    return fitted


@pytest.mark.parametrize("factor", [0.4, 1.0, 2.5])
def test_where_a_receiver_takes_another_time_than_trains_say(factor: float) -> None:
    slower = fit_with_incasts(factor)
    assert hold_against_each_other(slower, TASKS[1:]) > 80
    step = factor * (2e-6 + 0.5e-9 * 65535)
    asked = Task(8, 65536)
    (gather, *_) = predict([slower], "gather", asked, algorithm="linear", anyway=True)
    assert gather.seconds == pytest.approx(7.2e-6 + 0.5e-9 * 65535 + 6 * step, rel=0.01)
    (every, *_) = predict([slower], "alltoall", asked, algorithm="linear", anyway=True)
    alone = fit_with_incasts(None)
    (plain, *_) = predict([alone], "alltoall", asked, algorithm="linear", anyway=True)
    longer = 6 * (step - step / factor) if factor > 1 else 0.0
    assert every.seconds == pytest.approx(plain.seconds + longer, rel=0.01)
    (tree, *_) = predict([slower], "gather", asked, algorithm="binomial", anyway=True)
    (same, *_) = predict([alone], "gather", asked, algorithm="binomial", anyway=True)
    assert tree.seconds == same.seconds


def fit_with_incasts(factor: float | None) -> Fit:
    """A LogGP fit of a network whose receiver takes `factor` times a train's step, if an incast of 5 was measured.

    Requests are a microsecond apart.
    """
    run = synthetic_dataset([Piece(None, SMALL)], SIZES, samples=6)
    if factor is not None:
        alone = [series for series in run.series if is_round_trip(series)]
        steps = [factor * (2e-6 + 0.5e-9 * (series.message_bytes - 1)) for series in alone]
        incasts = [
            replace(
                series,
                pattern="incast",
                peers=p,
                seconds=series.seconds + (p - 1) * max(step, 1e-6),
            )
            for series, step in zip(alone, steps, strict=True)
            for p in (1, 5)
        ]
        run = replace(run, series=(*run.series, *incasts))
    (fitted,) = fit(run, ["loggp"])
    return fitted


@pytest.mark.parametrize(
    ("name", "task", "model"),
    [("r1_flat", 1, "loggp"), ("r2_mixed", 2, "loggops"), ("r2_pponly", 2, "loggp")],
)
def test_of_an_imported_table(tmp_path: Path, name: str, task: int, model: str) -> None:
    table = require_data(f"cloud/{name}.csv")
    run = read_run(import_file("csv", table, tmp_path / "run.jsonl"))
    (found,) = fit(run, [model])
    assert hold_against_each_other(found, TASKS[task : task + 1]) > 10
