"""Predictions of a machine that was in two states while it was measured: their intervals hold both."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from synthetic import SyntheticDisturbance, TwoStates, size_grid, synthetic_dataset

from chiplog.cli import main
from chiplog.collectives.algorithm import Task
from chiplog.collectives.registry import load
from chiplog.fitting.fit import fit
from chiplog.fitting.model_file import read_model, write_model
from chiplog.fitting.result import Fit
from chiplog.jobs.simulated_model import FittedParameters
from chiplog.models.piecewise import Piece
from chiplog.prediction.anchors import Anchor
from chiplog.prediction.model_error import states_sentence
from chiplog.prediction.predict import predict
from chiplog.prediction.result import Prediction

THETA = {"L": 5e-6, "o_s": 1e-6, "o_r": 1.2e-6, "g": 2e-6, "G": 0.5e-9}
FACTOR = 1.4
ASKED = Task(8, 4096)
BCAST = ("bcast", "binomial")


def fitted(states: TwoStates | None, seed: int = 0) -> Fit:
    disturbance = SyntheticDisturbance(noise=0.02, states=states)
    run = synthetic_dataset(
        [Piece(None, THETA)],
        size_grid(1 << 17, per_octave=1),
        samples=12,
        visits=4,
        disturbance=disturbance,
        seed=seed,
    )
    return fit(run, ["loggp"])[0]


@pytest.mark.parametrize("seed", range(4))
def test_an_interval_holds_what_both_states_take(seed: int) -> None:
    two, quiet = fitted(TwoStates(FACTOR), seed), fitted(None, seed)
    (row, *_), (alone, *_) = (
        predict([each], "bcast", ASKED, algorithm="binomial", anyway=True) for each in (two, quiet)
    )
    assert quiet.other_states == ()
    assert alone.high < 1.1 * alone.seconds
    assert row.low <= alone.seconds and FACTOR * alone.seconds <= 1.05 * row.high
    assert row.high - row.low < 0.7 * alone.seconds
    simulated = FittedParameters(two).simulate(load(*BCAST).schedule(ASKED))
    ends = [1e-12 * simulated.low_ps, 1e-12 * simulated.high_ps]
    assert ends == pytest.approx([row.low, row.high], rel=1e-4)


def test_an_anchor_says_which_state_it_was() -> None:
    two = fitted(TwoStates(FACTOR))

    def row(ranks: int, *anchors: Anchor) -> Prediction:
        task = Task(ranks, ASKED.message_bytes)
        rows = predict([two], "bcast", task, algorithm="binomial", anyway=True, anchors=anchors)
        return rows[0]

    four = row(4)
    anchor = Anchor("bcast", 4, ASKED.message_bytes, four.seconds, "bench.json", "binomial")
    plain, anchored = row(8), row(8, anchor)
    assert anchored.high / anchored.low < 1.15 < plain.high / plain.low


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ((-0.0048,), "two states: … in another, in which times are 0.5 % shorter;"),
        ((0.5, -0.1), "3 states: … in others, in which times are 50 % longer and 10 % shorter;"),
    ],
)
def test_how_states_differ_is_said_in_words(shares: tuple[float, ...], words: str) -> None:
    sentence = states_sentence(replace(fitted(None), other_states=shares))
    count, how = words.split(" … ")
    assert sentence is not None and sentence.startswith(count) and how in sentence


def test_the_states_are_said_and_kept_in_the_model_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, goal = tmp_path / "model.json", tmp_path / "bcast.goal"
    bcast = ["bcast", "--algorithm", "binomial", "--ranks", "8", "--bytes", "4096"]
    assert main(["schedule", *bcast, "-o", str(goal)]) == 0
    for states in (TwoStates(FACTOR), None):
        made = fitted(states)
        write_model(model, [made])
        assert read_model(model)[0].other_states == pytest.approx(made.other_states)
        for words in (
            ["predict", str(model), *bcast],
            ["simulate", str(goal), "--model", str(model)],
        ):
            capsys.readouterr()
            assert main([*words, "--anyway"]) == 0
            said = " ".join(capsys.readouterr().err.split())
            assert ("two states:" in said) is (states is not None), words
