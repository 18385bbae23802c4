"""Anchors correct a simulated schedule as they correct the prediction of the same operation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from json_schemas import validate
from prediction import fit_of

from chiplog.cli import main
from chiplog.collectives.algorithm import Task
from chiplog.collectives.registry import load
from chiplog.errors import UsageError
from chiplog.fitting.model_file import write_model
from chiplog.jobs.simulated_model import FittedParameters
from chiplog.prediction.anchored import rounds_of
from chiplog.prediction.anchored_schedule import rounds_of_schedule
from chiplog.prediction.anchors import Anchor
from chiplog.prediction.correction import CorrectionKind
from chiplog.prediction.predict import predict
from chiplog.schedule.builder import ScheduleBuilder

VALUES = {"L": 2.5e-6, "o_s": 1.5e-6, "o_r": 1.5e-6, "g": 1e-6, "G": 6e-9}
MODEL = fit_of("loggp", VALUES, spread=0.02)
ASKED = [("allgather", "ring"), ("barrier", "dissemination"), ("bcast", "binomial")]


def measured(
    operation: str, algorithm: str, ranks: int, factor: float, offset: float, size: int = 1024
) -> Anchor:
    """What a machine takes whose messages all take `factor` times as long, and `offset` more one after the other."""
    task = Task(ranks, size)
    seconds = predict([MODEL], operation, task, algorithm=algorithm)[0].seconds
    rounds = rounds_of(load(operation, algorithm), task)
    return Anchor(operation, ranks, size, factor * seconds + offset * rounds, "a.csv", algorithm)


@pytest.mark.parametrize(("operation", "algorithm"), ASKED)
@pytest.mark.parametrize("ranks", [4, 7, 32])
def test_the_rounds_of_a_schedule_are_those_of_its_closed_form(
    operation: str, algorithm: str, ranks: int
) -> None:
    task = Task(ranks, 8)
    schedule = load(operation, algorithm).schedule(task)
    assert rounds_of_schedule(schedule) == rounds_of(load(operation, algorithm), task)


@pytest.mark.parametrize(("operation", "algorithm"), ASKED)
@pytest.mark.parametrize("counts", [(4,), (4, 8), (2, 4, 8, 16)])
@pytest.mark.parametrize(("factor", "offset"), [(1.3, 0.0), (1.0, 2e-6), (0.8, 5e-6)])
def test_a_schedule_is_corrected_as_the_operation_that_it_is(
    operation: str, algorithm: str, counts: tuple[int, ...], factor: float, offset: float
) -> None:
    anchors = [measured(operation, algorithm, ranks, factor, offset) for ranks in counts]
    task = Task(32, 1024)
    row = predict([MODEL], operation, task, algorithm=algorithm, anchors=anchors)[0]
    schedule = load(operation, algorithm).schedule(task)
    corrected = FittedParameters(MODEL).corrected(schedule, anchors)
    assert corrected.correction.kind is row.correction.kind  # type: ignore[union-attr]
    assert corrected.makespan_ps == pytest.approx(row.seconds * 1e12, rel=1e-5)
    assert corrected.low_ps == pytest.approx(row.low * 1e12, rel=1e-4)
    assert corrected.high_ps == pytest.approx(row.high * 1e12, rel=1e-4)


def test_what_is_computed_is_not_corrected() -> None:
    builder = ScheduleBuilder(2)
    computed = builder.calc([0], duration_ns=1_000_000)
    builder.send([0], to=[1], message_bytes=1024, after=[computed])
    builder.receive([1], source=[0], message_bytes=1024)
    schedule = builder.build()
    anchors = [measured("allgather", "ring", ranks, 1.5, 0.0) for ranks in (4, 8, 16)]
    corrected = FittedParameters(MODEL).corrected(schedule, anchors)
    plain = FittedParameters(MODEL).simulate(schedule).simulation.makespan_ps
    assert corrected.correction.kind is CorrectionKind.FACTOR
    assert corrected.makespan_ps == pytest.approx(1e9 + 1.5 * (plain - 1e9), rel=1e-7)
    assert rounds_of_schedule(schedule) == 1.0


def test_an_anchor_without_an_algorithm_is_refused() -> None:
    schedule = load("allgather", "ring").schedule(Task(4, 1024))
    with pytest.raises(UsageError, match="by which algorithm"):
        FittedParameters(MODEL).corrected(schedule, [Anchor("allgather", 4, 8, 1e-5, "bench.json")])


def test_the_command_prints_the_simulation_and_what_anchors_make_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, goal, table = (tmp_path / name for name in ("model.json", "ring.goal", "anchors.csv"))
    write_model(model, [MODEL])
    words = ["schedule", "allgather", "--algorithm", "ring", "--ranks", "32", "--bytes", "1024"]
    assert main([*words, "-o", str(goal)]) == 0
    anchors = [measured("allgather", "ring", ranks, 1.3, 0.0) for ranks in (4, 8, 16)]
    rows = [f"allgather,ring,{anchor.ranks},1024,{anchor.seconds}" for anchor in anchors]
    table.write_text("\n".join(["operation,algorithm,ranks,message_bytes,seconds", *rows]))
    capsys.readouterr()
    asked = ["simulate", str(goal), "--model", str(model), "--anchor", str(table)]
    assert main(asked) == 0
    shown = capsys.readouterr().out
    assert "makespan  " in shown
    assert "corrected times 1.3" in shown.replace("\n", " ")
    assert main([*asked, "--json", "-"]) == 0
    document = json.loads(capsys.readouterr().out)
    validate(document)
    corrected = document["corrected"]
    assert corrected["makespan_ns"] == pytest.approx(1.3 * document["makespan_ns"], rel=1e-4)
    by_hand = ["--L", "1", "--o", "1", "--g", "1", "--G", "1", "--anchor", str(table)]
    assert main(["simulate", str(goal), *by_hand]) == 2
    assert "give --model" in capsys.readouterr().err
