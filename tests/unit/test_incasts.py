"""Messages of many ranks to one: what an incast shows of the receiver, and predictions that follow it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from chiplog.cli import main
from chiplog.collectives.algorithm import Task
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.fitting.fit import fit
from chiplog.fitting.model_file import read_model
from chiplog.fitting.predictions.regime import curve_of
from chiplog.fitting.quantities.incast import INCAST
from chiplog.prediction.crossing import follows_incasts
from chiplog.prediction.predict import predict

NETWORKS = {
    "L=5us,o=1us,g=2us,G=0.5ns": (7000, 2000, 0.5, 0.0),
    "L=2us,o=0.5us,g=1us,G=0.1ns,O_r=0.3ns": (3000, 1000, 0.1, 0.3),
}
"""T(1) and g in nanoseconds, G and O_r in nanoseconds per byte."""
RANKS = 6


def run_of(folder: Path, network: str) -> Path:
    run = folder / "run.jsonl"
    options = ["--pattern", "prtt,incast", "--ranks", str(RANKS), "--sizes", "1:64KiB:1"]
    assert main(["measure", f"sim:{network}", *options, "-o", str(run)]) == 0
    return run


@pytest.mark.parametrize("network", NETWORKS)
def test_a_simulated_receiver_is_found_and_a_gather_predicted(tmp_path: Path, network: str) -> None:
    first_ns, gap_ns, G, O_r = NETWORKS[network]
    (fitted,) = fit(read_run(run_of(tmp_path, network)), ["loggops"])
    curve = curve_of(fitted, INCAST)
    assert curve is not None
    assert curve.message_bytes.max() == 65536
    further = curve.message_bytes - 1.0
    expected = np.maximum(gap_ns + G * further, 500 + O_r * further)
    assert 1e9 * curve.measured_seconds == pytest.approx(expected, rel=0.02)
    for size in (8192, 40_000, 65536):
        way = first_ns + (size - 1) * (G + O_r)
        step = max(gap_ns + G * (size - 1), 500 + O_r * (size - 1))
        for ranks in (3, RANKS):
            asked = Task(ranks, size)
            (row, *_) = predict([fitted], "gather", asked, algorithm="linear", anyway=True)
            assert 1e9 * row.seconds == pytest.approx(way + (ranks - 2) * step, rel=0.01)
            assert follows_incasts([fitted], [row])


def test_predictions_say_that_they_follow_an_incast(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    network = next(iter(NETWORKS))
    model, goal = str(tmp_path / "model.json"), str(tmp_path / "gather.goal")
    run = str(run_of(tmp_path, network))
    assert main(["fit", run, "--model", "loggp", "-o", model]) == 0
    assert curve_of(read_model(Path(model))[0], INCAST) is not None
    gather = ["gather", "--algorithm", "linear", "--ranks", str(RANKS)]
    sentence = "take what the measured incast adds for each"
    words = ["schedule", *gather, "--bytes", "64KiB", "-o", goal]
    assert main(words) == 0
    for words, is_said in (
        (["predict", model, *gather, "--bytes", "64KiB"], True),
        (["predict", model, *gather, "--bytes", "1"], False),
        (["simulate", goal, "--model", model], True),
    ):
        capsys.readouterr()
        assert main([*words, "--anyway"]) == 0
        assert (sentence in " ".join(capsys.readouterr().err.split())) is is_said, words


def test_sizes_at_which_requests_hide_the_receiver_are_left_out(tmp_path: Path) -> None:
    dataset = read_run(run_of(tmp_path, next(iter(NETWORKS))))
    (fitted,) = fit(dataset, ["loggp"])
    curve = curve_of(fitted, INCAST)
    assert curve is not None
    assert curve.message_bytes.min() > 1
    (quick,) = fit(with_quick_incasts(dataset), ["loggp"])
    assert curve_of(quick, INCAST) is None


def with_quick_incasts(dataset: Dataset) -> Dataset:
    """The dataset with a receiver that takes no time: each request adds 2 us."""
    alone = {
        series.message_bytes: series.seconds
        for series in dataset.series
        if series.pattern == INCAST and series.peers == 1
    }
    changed = tuple(
        replace(series, seconds=alone[series.message_bytes] + (series.peers - 1) * 2e-6)
        if series.pattern == INCAST
        else series
        for series in dataset.series
    )
    return replace(dataset, series=changed)
