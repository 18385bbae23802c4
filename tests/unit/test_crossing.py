"""Where no exchange was measured, intervals hold networks with one engine for both directions as well as with two."""

from __future__ import annotations

from pathlib import Path

import pytest
from prediction import fit_of

from chiplog.cli import main
from chiplog.collectives.algorithm import Task
from chiplog.collectives.registry import load
from chiplog.fitting.model_file import read_model
from chiplog.fitting.result import Fit
from chiplog.jobs.simulated_model import FittedParameters
from chiplog.prediction.anchors import Anchor
from chiplog.prediction.crossing import crosses_others, is_crossing_unknown
from chiplog.prediction.predict import predict

VALUES = {"L": 5e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": 0.5e-9}
MODEL = fit_of("loggp", VALUES)
KIB_64 = 1 << 16
RING = ("allgather", "ring")


def fitted(folder: Path, duplex: float, patterns: str) -> Fit:
    """A fit of a simulated network on which an exchange takes `duplex` times a message."""
    run, model = folder / f"{duplex}-{patterns}.jsonl", folder / f"{duplex}-{patterns}.json"
    target = f"sim:L=5us,o=1us,g=2us,G=0.5ns,duplex={duplex}"
    words = ["measure", target, "--pattern", patterns, "--sizes", "1:1MiB:2", "-o", str(run)]
    assert main(words) == 0
    assert main(["fit", str(run), "--model", "loggp", "-o", str(model)]) == 0
    return read_model(model)[0]


@pytest.mark.parametrize("asked", [RING, ("alltoall", "pairwise"), ("halo", "direct")])
def test_both_ends_are_what_networks_of_one_and_two_engines_take(
    tmp_path: Path, asked: tuple[str, str]
) -> None:
    operation, algorithm = asked
    task = Task(8, KIB_64)
    unknown = fitted(tmp_path, 2, "prtt")
    shared_engine, two_engines = (fitted(tmp_path, duplex, "prtt,exchange") for duplex in (2, 1))
    row, slow, quick = (
        predict([fit], operation, task, algorithm=algorithm, anyway=True)[0]
        for fit in (unknown, shared_engine, two_engines)
    )
    assert row.seconds == pytest.approx(quick.seconds, rel=0.02)
    assert row.low <= 1.02 * quick.seconds
    assert row.high == pytest.approx(slow.high, rel=0.02)
    assert slow.seconds > 1.5 * quick.seconds


@pytest.mark.parametrize(
    ("operation", "algorithm", "size", "crosses"),
    [
        (*RING, KIB_64, True),
        (*RING, 1, False),
        ("barrier", "dissemination", 1, False),
        ("bcast", "binomial", KIB_64, False),
        ("bcast", "scatter-allgather", KIB_64, True),
        ("bcast", "chain", KIB_64, True),
        ("gather", "linear", KIB_64, False),
        ("allreduce", "rabenseifner", KIB_64, True),
    ],
)
def test_only_bytes_that_cross_others_widen(
    operation: str, algorithm: str, size: int, crosses: bool
) -> None:
    task = Task(8, size)
    assert crosses_others(load(operation, algorithm), task) is crosses
    rows = predict([MODEL], operation, task, algorithm=algorithm)
    assert is_crossing_unknown([MODEL], rows) is crosses
    assert (rows[0].high > 1.05 * rows[0].seconds) is crosses
    assert rows[0].low == pytest.approx(rows[0].seconds)


def test_a_simulation_has_the_same_range() -> None:
    task = Task(8, KIB_64)
    row = predict([MODEL], *RING[:1], task, algorithm=RING[1])[0]
    parameters = FittedParameters(MODEL)
    schedule = load(*RING).schedule(task)
    assert parameters.is_crossing_unknown(schedule)
    found = parameters.simulate(schedule)
    assert found.high_ps == pytest.approx(row.high * 1e12, rel=1e-6)
    assert found.low_ps == pytest.approx(row.low * 1e12, rel=1e-6)
    tree = load("bcast", "binomial").schedule(task)
    assert not parameters.is_crossing_unknown(tree)


def test_a_tree_may_win_where_a_chain_needs_one_engine_for_both_directions() -> None:
    """Of 4 ranks and many segments the chain takes little more than s G with two engines, twice that with one."""
    rows = {row.algorithm: row for row in predict([MODEL], "bcast", Task(4, 10**6))}
    assert rows["chain"].seconds < 0.8 * rows["binomial"].seconds
    assert rows["chain"].verdict == rows["binomial"].verdict == "unclear"
    assert rows["linear"].verdict == "slower"


def test_anchors_know_what_crossing_takes() -> None:
    task = Task(4, KIB_64)
    seconds = predict([MODEL], "allgather", task, algorithm="ring")[0].seconds
    anchors = [Anchor("allgather", 4, KIB_64, 1.5 * seconds, "here.csv", "ring")]
    rows = predict([MODEL], "allgather", Task(8, KIB_64), anchors=anchors)
    assert not is_crossing_unknown([MODEL], rows)
    assert rows[0].high == pytest.approx(1.5 * rows[0].seconds)
