"""Intervals of measured medians: they hold what they claim to, are never negative, and are the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from run_files import example_header, example_record, example_series

from chiplog.dataset.run_file import read_run, write_run
from chiplog.dataset.series import Dataset, Series
from chiplog.fitting.fit import fit
from chiplog.fitting.quantities.measured import MeasuredSeries
from chiplog.fitting.quantities.over_sizes import half_round_trip, train_gap
from chiplog.fitting.quantities.value_intervals import (
    FEWEST_SAMPLES,
    order_statistics,
    value_intervals,
)
from chiplog.jobs.measure import measure
from chiplog.plan import PlanOptions
from chiplog.report.document import text_of
from chiplog.report.input import TargetReport
from chiplog.report.numbers import half_round_trip_table
from chiplog.report.patterns import pattern_tables

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]


def run_of(folder: Path, *records: dict[str, object]) -> Dataset:
    write_run(folder / "run.jsonl", example_header(), records)
    return read_run(folder / "run.jsonl")


def dataset_of(seconds: list[list[NDArray[np.float64]]]) -> Dataset:
    """The samples of each visit of each size 2^i."""
    number = count()
    series = tuple(
        Series(
            "prtt",
            "send",
            "normal",
            "round-trip",
            2**i,
            1,
            0.0,
            1,
            0,
            visit,
            next(number),
            None,
            2,
            2,
            1.0,
            np.empty(0),
            samples,
        )
        for i, visits in enumerate(seconds)
        for visit, samples in enumerate(visits)
    )
    return Dataset({"clock": {"resolution_ns": 1.0}}, series, True, "")


def ends(dataset: Dataset) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return value_intervals(half_round_trip(MeasuredSeries(dataset, "median", 0)))


def test_six_samples_are_the_fewest_whose_extremes_hold_the_median_in_95_of_100() -> None:
    assert FEWEST_SAMPLES == 6
    samples = np.arange(1.0, 101.0)
    assert np.isnan(order_statistics(samples[:5])).all()
    found = {n: order_statistics(samples[:n]) for n in (6, 8, 9, 100)}
    assert found == {6: (1.0, 6.0), 8: (1.0, 8.0), 9: (2.0, 8.0), 100: (40.0, 61.0)}


@pytest.mark.parametrize("samples", [1, 3, 5])
def test_fewer_than_six_samples_have_no_interval(tmp_path: Path, samples: int) -> None:
    warm = example_series([900, *range(100, 100 + samples)], warmup=1, message_bytes=8)
    dataset = run_of(tmp_path, example_record(0, warm))
    low, high = ends(dataset)
    assert np.isnan(low).all() and np.isnan(high).all()
    (table,) = pattern_tables(dataset, most_rows=24, most_columns=4)
    assert text_of(table.rows[0][2]) == "—"
    assert "fewer than 6 samples" in text_of(table.notes[0])


def test_samples_of_several_visits_count_together(tmp_path: Path) -> None:
    records = [
        example_record(number, example_series([900, 100, 101, 102], warmup=1, message_bytes=8))
        for number in range(2)
    ]
    low, high = ends(run_of(tmp_path, *records))
    assert (low < high).all()


@pytest.mark.parametrize("visits", [(100, 3000, 40), (5000, 10, 10), (226, 2000, 20, 30)])
def test_visits_that_contradict_one_another_never_give_a_negative_time(
    tmp_path: Path, visits: tuple[int, ...]
) -> None:
    records = [
        example_record(
            number,
            example_series([value + i for i in range(7)], warmup=1, message_bytes=1448),
            launch=number,
        )
        for number, value in enumerate(visits)
    ]
    low, high = ends(run_of(tmp_path, *records))
    assert (low > 0).all()
    assert (2e9 * low <= min(visits) + 7).all() and (high > low).all()


def test_a_gap_that_noise_hides_is_never_negative(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    records = []
    for number in range(3):
        single = example_series(random.integers(900, 1500, 8).tolist(), message_bytes=8)
        train = example_series(random.integers(900, 1500, 8).tolist(), message_bytes=8, train=10)
        records.append(example_record(number, single, train))
    low, high = value_intervals(train_gap(MeasuredSeries(run_of(tmp_path, *records), "median", 0)))
    assert low[0] == 0.0 < high[0]


SHAPES: dict[str, Draw] = {
    "log-normal": lambda random, n: np.exp(0.1 * random.standard_normal(n)),
    "exponential": lambda random, n: 0.5 + 0.5 * random.standard_exponential(n) / np.log(2.0),
    "two modes": lambda random, n: (
        np.where(random.random(n) < 0.5, 0.9, 1.1) * np.exp(0.002 * random.standard_normal(n))
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("samples", "visits"), [(6, 1), (12, 1), (3, 4), (15, 4)])
def test_intervals_hold_the_median_whatever_the_samples_are_like(
    shape: str, samples: int, visits: int
) -> None:
    random, held, trials = np.random.default_rng(7), 0, 0
    for _ in range(25):
        seconds = [[2e-6 * SHAPES[shape](random, samples) for _ in range(visits)] for _ in range(8)]
        low, high = ends(dataset_of(seconds))
        middle = (0.905e-6, 1.095e-6) if shape == "two modes" else (1e-6, 1e-6)
        held += int(np.sum((low <= middle[1]) & (high >= middle[0])))
        trials += low.size
    assert held >= 0.92 * trials


@pytest.mark.parametrize("between", [0.05, 0.2])
def test_intervals_hold_what_visits_differ_by(between: float) -> None:
    random, held, trials = np.random.default_rng(11), 0, 0
    for _ in range(40):
        seconds = [
            [
                2e-6
                * np.exp(between * random.standard_normal() + 0.03 * random.standard_normal(15))
                for _ in range(4)
            ]
            for _ in range(8)
        ]
        low, high = ends(dataset_of(seconds))
        held += int(np.sum((low <= 1e-6) & (high >= 1e-6)))
        trials += low.size
    assert held >= 0.9 * trials


@pytest.mark.parametrize("patterns", [("prtt",), ("ping_pong",)])
@pytest.mark.parametrize("models", [["loggp"], ["hockney", "loggp"]], ids=len)
def test_measure_and_report_print_the_same_interval(
    tmp_path: Path, patterns: tuple[str, ...], models: list[str]
) -> None:
    options = PlanOptions(
        transport="sim", patterns=patterns, sizes=(1, 8, 64, 512, 4096), visits=3, launches=2
    )
    measure("sim:noise=0.05,seed=5", tmp_path / "run.jsonl", options, refine=False)
    dataset = read_run(tmp_path / "run.jsonl")
    fits = fit(dataset, models)
    report = half_round_trip_table(TargetReport("sim", dataset, fits))
    (table, *_) = pattern_tables(dataset, most_rows=24, most_columns=4)
    assert report is not None
    of_report = [[text_of(cell) for cell in row[2:4]] for row in report.rows]
    of_measure = [[text_of(cell) for cell in row[1:3]] for row in table.rows]
    assert of_report == of_measure
    assert "over 2 launches" in text_of(table.caption)
    assert "over 2 launches" in text_of(report.caption)
