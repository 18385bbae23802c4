"""Models of one process to many, judged on numbers of peers that they were not fitted to."""

from __future__ import annotations

from dataclasses import replace

import pytest
from synthetic import SyntheticDisturbance, size_grid, synthetic_dataset
from synthetic_one_to_many import logfp_truth, one_to_many_dataset

from chiplog.comparison.judged import default_models
from chiplog.comparison.models import compare_models
from chiplog.comparison.result import ModelRow, comparison_to_json
from chiplog.comparison.runs import compare_runs
from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.models.piecewise import Piece

TRUTH = {"f": 4.0, "o_min": 0.18e-6, "o_max": 1.6e-6, "L": 5e-6, "g": 2e-6}
MODELS = ("logp", "lop", "logfp")


def run(operation: str = "rdma-write") -> Dataset:
    return one_to_many_dataset(
        logfp_truth(TRUTH),
        tuple(range(1, 17)),
        operation=operation,
        disturbance=SyntheticDisturbance(noise=0.02),
    )


def pairs() -> Dataset:
    truth = {"L": 5e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": 0.5e-9}
    return synthetic_dataset([Piece(None, truth)], size_grid(4096), samples=5)


def by_model(rows: tuple[ModelRow, ...]) -> dict[str, ModelRow]:
    return {row.model: row for row in rows}


def test_the_true_model_predicts_more_peers_than_it_saw() -> None:
    rows = by_model(compare_models(run(), MODELS, hold_out="peers>8"))
    assert {row.error.points for row in rows.values()} == {8}
    assert rows["logfp"].error.mean_relative < 0.03
    assert rows["logp"].error.mean_relative > 2 * rows["logfp"].error.mean_relative
    assert rows["lop"].error.mean_relative > 2 * rows["logfp"].error.mean_relative
    assert rows["logfp"].held_out == "peers>8"


def test_the_rows_count_the_numbers_that_were_fitted() -> None:
    rows = by_model(compare_models(run(), MODELS, hold_out="peers>14"))
    assert {name: row.parameters for name, row in rows.items()} == {
        "logp": 3,
        "lop": 5,
        "logfp": 5,
    }
    document = comparison_to_json(tuple(rows.values()))["rows"]
    assert isinstance(document, list)
    assert [row["parameters"] for row in document] == [3, 5, 5]


def test_held_out_peers_do_not_reach_the_fit() -> None:
    spoiled = tuple(
        replace(one, seconds=10 * one.seconds) if one.peers > 8 else one for one in run().series
    )
    rows = compare_models(replace(run(), series=spoiled), ["logfp"], hold_out="peers>8")
    assert rows[0].error.median_relative == pytest.approx(0.9, abs=0.02)


def test_folds_hold_out_every_number_of_peers_once() -> None:
    rows = by_model(compare_models(run(), ("logfp",), hold_out=4))
    assert rows["logfp"].error.points == 16
    assert rows["logfp"].error.mean_relative < 0.03
    assert rows["logfp"].held_out == "each of 4 folds of numbers of peers in turn"


def test_round_trips_of_pairs_do_not_reach_the_fit_of_round_trips_to_many() -> None:
    mixed = replace(run("send"), series=(*run("send").series, *pairs().series))
    alone = by_model(compare_models(run("send"), ("logp", "lop"), hold_out="peers>8"))
    beside = by_model(compare_models(mixed, ("logp", "lop"), hold_out="peers>8"))
    assert beside["logp"].method == "one-to-many"
    assert beside["logp"].error.points == alone["logp"].error.points == 8


def test_without_names_the_models_are_those_that_can_be_judged_together() -> None:
    assert default_models(run()) == ("logp", "lop", "logfp")
    assert default_models(pairs()) == ("hockney", "logp", "loggp", "loggps", "loggops", "plogp")


@pytest.mark.parametrize(
    ("models", "hold_out", "words"),
    [
        (("hockney",), "peers>8", "Model hockney: it says nothing about pattern 'one_to_many'"),
        (("lop-overhead",), "peers>8", "Model lop-overhead: it says nothing"),
        (("lop",), "peers>16", "there are 16 numbers of peers from 1 to 16"),
        (("lop",), "peers>2", "leaves round trips of 2 numbers of peers"),
    ],
)
def test_what_can_not_be_judged_over_peers_is_refused(
    models: tuple[str, ...], hold_out: str | None, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        compare_models(run(), models, hold_out=hold_out)


def test_runs_are_compared_for_each_number_of_peers() -> None:
    """Pooled over p, a change at one p alone would drown in the others."""
    before = run()
    slow = tuple(
        replace(one, seconds=2.0 * one.seconds) if one.peers == 5 else one for one in before.series
    )
    rows = compare_runs(before, replace(before, series=slow))
    slower = {
        (row.what.pattern, row.what.peers)
        for row in rows
        if row.verdict == "slower" and row.message_bytes
    }
    assert slower == {("one_to_many", 5), ("send_overhead", 5)}
    totals = [row for row in rows if row.what.pattern == "one_to_many"]
    assert [row.what.peers for row in totals] == list(range(1, 17))
    assert comparison_to_json(rows)["rows"][0]["peers"] == 1  # type: ignore[index]
