"""Models judged on points that they were not fitted to."""

from __future__ import annotations

from dataclasses import replace

import pytest
from synthetic import SyntheticDisturbance, size_grid, synthetic_dataset

from chiplog.comparison.expression import parse_expression
from chiplog.comparison.models import compare_models
from chiplog.comparison.result import ModelRow, comparison_to_json
from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.models.piecewise import Piece

TRUTH = {"L": 5e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": 0.5e-9}
MODELS = ("hockney", "logp", "loggp", "plogp")


def dataset() -> Dataset:
    return synthetic_dataset(
        [Piece(None, TRUTH)],
        size_grid(1 << 18, per_octave=1),
        samples=10,
        visits=2,
        disturbance=SyntheticDisturbance(noise=0.01),
    )


def by_model(rows: tuple[ModelRow, ...]) -> dict[str, ModelRow]:
    return {row.model: row for row in rows}


def test_lines_predict_larger_messages_than_they_saw_and_a_constant_does_not() -> None:
    rows = by_model(
        compare_models(dataset(), MODELS, hold_out="message_bytes>16KiB", boundaries=None)
    )
    assert rows["loggp"].error.mean_relative < 0.03
    assert rows["hockney"].error.mean_relative < 0.03
    assert rows["logp"].error.mean_relative > 0.5
    assert {row.error.points for row in rows.values()} == {4}
    assert rows["loggp"].held_out == "message_bytes>16KiB"


def test_folds_hold_out_every_size_once() -> None:
    rows = by_model(compare_models(dataset(), MODELS, hold_out=4, boundaries=None))
    assert {row.error.points for row in rows.values()} == {19}
    assert rows["loggp"].error.median_relative < 0.02
    assert rows["plogp"].parameters > rows["loggp"].parameters == 5
    assert rows["hockney"].parameters == 2


def test_held_out_points_do_not_reach_the_fit() -> None:
    spoiled = dataset()
    worse = tuple(
        replace(one, seconds=10 * one.seconds) if one.message_bytes > 16384 else one
        for one in spoiled.series
    )
    row = compare_models(
        replace(spoiled, series=worse), ["loggp"], hold_out="message_bytes>16384", boundaries=None
    )[0]
    assert row.error.median_relative == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize(
    "text",
    [
        "message_bytes",
        "message_bytes>",
        "bytes>4",
        "message_bytes>4 or train==1",
        "__import__>1",
        "",
    ],
)
def test_an_expression_that_is_not_understood_names_what_is_accepted(text: str) -> None:
    with pytest.raises(UsageError, match=r"--hold-out: .*message_bytes>64KiB"):
        parse_expression(text)


def test_an_expression_joins_terms_and_knows_units() -> None:
    accepts = parse_expression("message_bytes >= 1KiB and train==10")
    chosen = [one for one in dataset().series if accepts(one)]
    assert {one.train for one in chosen} == {10}
    assert min(one.message_bytes for one in chosen) == 1024


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hold_out": "message_bytes>1GiB"}, "holds out no round trip"),
        ({"hold_out": "message_bytes>2"}, "leaves round trips of 2 sizes"),
        ({"hold_out": 1}, "accepts 2 to 16"),
        ({"hold_out": 40}, "accepts 2 to 16"),
    ],
)
def test_what_can_not_be_held_out_is_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        compare_models(dataset(), ["loggp"], boundaries=None, **options)  # type: ignore[arg-type]


def test_the_json_has_the_rows_that_scripts_rely_on() -> None:
    rows = compare_models(dataset(), ["hockney"], hold_out=2, boundaries=None)
    document = comparison_to_json(rows)["rows"]
    assert isinstance(document, list)
    assert set(document[0]) >= {
        "model",
        "held_out",
        "points",
        "mean_relative_error",
        "median_relative_error",
        "max_relative_error",
        "parameters",
    }
