"""Models of k pairs judged on points that they were not fitted to."""

from __future__ import annotations

from dataclasses import replace

import pytest
from json_schemas import validate
from synthetic import SyntheticDisturbance, size_grid, synthetic_dataset
from synthetic_pairs import pairs_dataset

from chiplog.comparison.models import compare_models
from chiplog.comparison.result import ModelRow, comparison_to_json
from chiplog.comparison.runs import compare_runs
from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.models.piecewise import Piece
from chiplog.models.registry import load_model

TRUTH = {"s0": 5e-6, "R_C": 2e9, "R_N": 7e9}
LOGGP = {"L": 5e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": 0.5e-9}
MODELS = ("postal", "max-rate")


def dataset() -> Dataset:
    return pairs_dataset(
        load_model("max-rate"),
        [Piece(None, TRUTH)],
        tuple(8192 << step for step in range(6)),
        launches=2,
        disturbance=SyntheticDisturbance(noise=0.02),
    )


def by_model(rows: tuple[ModelRow, ...]) -> dict[str, ModelRow]:
    return {row.model: row for row in rows}


def test_max_rate_predicts_more_pairs_than_it_saw_and_postal_does_not() -> None:
    rows = by_model(compare_models(dataset(), MODELS, hold_out="pairs>8"))
    assert {row.error.points for row in rows.values()} == {2 * 6 * 8}
    assert rows["max-rate"].error.mean_relative < 0.04
    assert rows["postal"].error.mean_relative > 0.3
    assert rows["postal"].error.mean_factor > 1.5
    assert (rows["postal"].parameters, rows["max-rate"].parameters) == (2, 3)
    validate(comparison_to_json(tuple(rows.values())))


def test_folds_hold_out_every_size_and_number_of_pairs_once() -> None:
    rows = by_model(compare_models(dataset(), MODELS, hold_out=3))
    assert {row.error.points for row in rows.values()} == {2 * 6 * 16}
    assert rows["max-rate"].error.mean_relative < 0.03
    assert rows["max-rate"].held_out == "each of 3 folds of sizes and pairs in turn"


def test_held_out_pairs_do_not_reach_the_fit() -> None:
    clean = dataset()
    spoiled = tuple(
        replace(one, seconds=10 * one.seconds) if one.pairs > 8 else one for one in clean.series
    )
    row = compare_models(replace(clean, series=spoiled), ["max-rate"], hold_out="pairs>8")[0]
    assert row.error.median_relative == pytest.approx(0.9, abs=0.02)


def test_both_kinds_of_models_are_judged_each_on_its_own_points() -> None:
    one_pair = synthetic_dataset([Piece(None, LOGGP)], size_grid(4096), samples=3, visits=1)
    both = replace(one_pair, series=(*one_pair.series, *dataset().series))
    rows = by_model(compare_models(both, ("hockney", "max-rate"), hold_out=3, boundaries=None))
    assert rows["hockney"].held_out == "each of 3 folds of sizes in turn"
    assert rows["hockney"].error.points == len(size_grid(4096))
    assert rows["max-rate"].error.points == 2 * 6 * 16


def test_two_runs_are_compared_for_each_number_of_pairs() -> None:
    before = dataset()
    slower = tuple(
        replace(one, seconds=2 * one.seconds) if one.pairs == 16 else one for one in before.series
    )
    rows = compare_runs(before, replace(before, series=slower))
    of_size = [row for row in rows if row.message_bytes == 8192]
    assert [row.what.pairs for row in of_size] == list(range(1, 17))
    assert [row.ratio for row in of_size] == pytest.approx([1.0] * 15 + [2.0], rel=1e-3)
    validate(comparison_to_json(rows))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"hold_out": "pairs>16"}, "holds out no point of the pattern pairs; they have 1 to 16"),
        ({"hold_out": "pairs>0"}, "leaves no point"),
        ({"hold_out": 1}, "it accepts 2 to 16"),
        ({"hold_out": 17}, "it accepts 2 to 16"),
    ],
)
def test_what_cannot_be_held_out_is_said(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        compare_models(dataset(), MODELS, **options)  # type: ignore[arg-type]
