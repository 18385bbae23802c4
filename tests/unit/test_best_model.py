"""The best model: the one that is surely closest on held-out points, else the simplest of those that are alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from known_networks import PUBLISHED_LOP, PUBLISHED_OVERHEAD, lop_target, pairs_target
from sample_report import sample_report
from simulated import over_pairs, over_peers, simulated_runs

from chiplog.comparison.best import best_row, best_rows, is_surely_closer
from chiplog.comparison.models import judge_models
from chiplog.comparison.result import ModelRow, comparison_to_json
from chiplog.fitting.fit import fit
from chiplog.fitting.predictions.predictor import summarise
from chiplog.fitting.verdict import quality_of
from chiplog.report.input import TargetReport
from chiplog.report.measured import headline, parameter_fit
from chiplog.report.summary import summary_lines


def row(
    model: str,
    misses: Sequence[float],
    *,
    parameters: int = 5,
    method: str = "prtt",
    patterns: int = 2,
    held_out: str = "each of 5 folds of sizes in turn",
) -> ModelRow:
    logs = np.array(misses, dtype=np.float64)
    known = logs[np.isfinite(logs)]
    return ModelRow(
        model,
        method,
        held_out,
        parameters,
        summarise(np.expm1(known), known),
        patterns=patterns,
        misses={(0, None): logs},
    )


def drawn(level: float, seed: int, points: int = 40) -> np.ndarray:
    return level * np.abs(1.0 + 0.3 * np.random.default_rng(seed).standard_normal(points))


def test_the_least_error_wins_where_the_difference_is_sure_however_many_parameters() -> None:
    rows = [row("loggp", drawn(0.053, 1)), row("loggops", drawn(0.006, 2), parameters=40)]
    assert is_surely_closer(rows[1], rows[0])
    assert best_row(rows) is rows[1]


@pytest.mark.parametrize("seed", range(5))
def test_the_simplest_wins_among_models_that_chance_alone_tells_apart(seed: int) -> None:
    rows = [
        row("loggops", drawn(0.0199, seed), parameters=15),
        row("loggp", drawn(0.02, 100 + seed), parameters=10),
        row("logp", drawn(0.5, 200 + seed), parameters=3),
    ]
    if not is_surely_closer(rows[0], rows[1]):
        assert best_row(rows) is rows[1]
    else:
        assert best_row(rows) is rows[0]


def test_of_models_that_are_alike_one_that_stands_comes_before_a_rejected_one() -> None:
    stands = row("loggops", [0.1, 0.1, 0.1, 0.1, 0.1, 0.3], parameters=20)
    rejected = row("loggp", [0.12, 0.12, 0.12, 0.2, 0.2, 0.2])
    assert quality_of(rejected.error) == "rejected"
    assert not is_surely_closer(stands, rejected)
    assert best_row([stands, rejected]) is stands


def test_one_wild_point_makes_no_model_surely_worse() -> None:
    steady = np.full(30, 0.02)
    wild = np.concatenate([np.full(29, 0.02), [2.0]])
    rows = [row("loggops", steady, parameters=20), row("loggp", wild)]
    assert best_row(rows) is rows[1]


def test_a_model_that_describes_less_of_what_was_measured_is_not_the_simpler_one() -> None:
    rows = [
        row("hockney", drawn(0.02, 1), parameters=2, patterns=1),
        row("loggp", drawn(0.02, 1), parameters=5),
    ]
    assert best_row(rows) is rows[1]
    closer = row("hockney", drawn(0.002, 1), parameters=2, patterns=1)
    assert best_row([closer, rows[1]]) is closer


def test_a_models_own_method_stands_before_another_one_that_is_alike() -> None:
    rows = [
        row("loggp", drawn(0.02, 1), method="culler"),
        row("loggp", drawn(0.02, 1), method="prtt"),
    ]
    assert best_row(rows) is rows[1]


def test_points_that_only_one_model_predicts_tell_nothing_of_two() -> None:
    half = np.where(np.arange(40) < 20, 0.01, np.nan)
    other = np.where(np.arange(40) < 20, np.nan, 0.5)
    assert not is_surely_closer(row("loggp", half), row("logp", other))


def test_a_model_that_predicts_few_of_the_points_is_not_the_best() -> None:
    few = np.where(np.arange(40) < 5, 0.0001, np.nan)
    rows = [row("plogp", few), row("loggp", drawn(0.05, 1))]
    assert best_row(rows) is rows[1]


def test_without_held_out_points_there_is_no_best_model() -> None:
    assert best_row([row("loggp", drawn(0.02, 1), held_out="")]) is None


def test_lop_is_the_best_on_a_machine_that_follows_it_and_every_output_says_so() -> None:
    target = lop_target(PUBLISHED_LOP["send"], PUBLISHED_OVERHEAD, 33) + ",noise=0.01"
    (dataset,) = simulated_runs(target, over_peers((*range(1, 17), 20, 24, 28, 32)), samples=9)
    judged = judge_models(dataset, ("lop", "logfp", "logp"))
    assert {row.model for row in judged.rows} >= {"lop", "logfp"}
    (best,) = best_rows(judged.rows)
    assert best.model == "lop"
    document = comparison_to_json(judged.rows, judged.left_out, [best])
    assert [one["model"] for one in document["rows"] if one["best"]] == ["lop"]  # type: ignore[attr-defined]
    fits = fit(dataset, ("logfp", "lop", "logp"))
    shown = TargetReport("sim", dataset, fits, comparison=judged.rows)
    assert getattr(headline(shown), "model", None) == "lop"
    lines = summary_lines(replace(sample_report(), targets=(shown,)))
    assert any(" LoP " in line for line in lines)


def test_the_modified_max_rate_is_the_best_where_start_up_hides_behind_the_nodes_rate() -> None:
    target = pairs_target("max-rate-modified", 16) + ",noise=0.01"
    sizes = [1 << power for power in range(13, 19)]
    (dataset,) = simulated_runs(target, over_pairs((1, 2, 3, 4, 6, 8), sizes), samples=9)
    models = ("postal", "max-rate", "max-rate-modified")
    (best,) = best_rows(judge_models(dataset, models).rows)
    assert best.model == "max-rate-modified"


def test_where_a_table_is_the_best_the_overview_has_the_parameters_of_the_best_with_numbers() -> (
    None
):
    target = sample_report().targets[0]
    shown = parameter_fit(target)
    assert shown is not None
    assert shown.model != "plogp"
