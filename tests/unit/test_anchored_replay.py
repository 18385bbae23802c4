"""Collectives of a replay take as long as measured ones say."""

from __future__ import annotations

from pathlib import Path

import pytest
from prediction import fit_of
from trace_files import ring, trace_of

import chiplog
from chiplog.application.replay import schedule_of
from chiplog.cli import main
from chiplog.collectives.algorithm import Task
from chiplog.collectives.mpis.choice import by_default
from chiplog.errors import UsageError
from chiplog.fitting.model_file import write_model
from chiplog.jobs.anchored_replay import AnchoredChooser, refuse_unused
from chiplog.jobs.simulated_model import FittedParameters
from chiplog.prediction.anchors import Anchor
from chiplog.prediction.predict import predict
from chiplog.tracing.builder import ImportedCall
from chiplog.tracing.trace import Trace

FIT = fit_of("loggp", {"L": 2.5e-6, "o_s": 1.5e-6, "o_r": 1.5e-6, "g": 1e-6, "G": 6e-9})
RANKS, SIZE = 8, 50_000


def reduced(size: int = SIZE) -> Trace:
    return trace_of(
        *RANKS * [[ImportedCall("Allreduce", 0, 10, sent_bytes=size, received_bytes=size)]]
    )


def by_model(size: int = SIZE) -> float:
    task = Task(RANKS, size)
    return predict([FIT], "allreduce", task, algorithm="recursive-doubling")[0].seconds


def replayed_seconds(trace: Trace, *anchors: Anchor) -> float:
    schedule = schedule_of(trace, choose=AnchoredChooser(by_default, FIT, anchors)).schedule
    return FittedParameters(FIT).simulate(schedule).simulation.makespan_ps / 1e12


@pytest.mark.parametrize("factor", [0.4, 0.9, 1.0, 1.3, 5.0])
@pytest.mark.parametrize("algorithm", [None, "recursive-doubling"])
def test_a_collective_takes_as_long_as_was_measured(factor: float, algorithm: str | None) -> None:
    anchor = Anchor("allreduce", RANKS, SIZE, factor * by_model(), "here.csv", algorithm)
    assert replayed_seconds(reduced()) == pytest.approx(by_model(), rel=1e-9)
    assert replayed_seconds(reduced(), anchor) == pytest.approx(factor * by_model(), rel=1e-3)


def test_anchors_of_other_algorithms_and_operations_change_nothing() -> None:
    other = Anchor("allreduce", RANKS, SIZE, 1.0, "here.csv", "ring")
    assert replayed_seconds(reduced(), other) == pytest.approx(by_model(), rel=1e-9)
    chooser = AnchoredChooser(by_default, FIT, [Anchor("bcast", RANKS, SIZE, 1.0, "here.csv")])
    schedule_of(reduced(), choose=chooser)
    assert chooser.notes == ("no measured time corrects allreduce",)
    with pytest.raises(UsageError, match="bcast was measured, which the trace does not call"):
        refuse_unused(chooser)


def test_what_is_faster_than_any_message_is_said() -> None:
    chooser = AnchoredChooser(
        by_default, FIT, [Anchor("allreduce", RANKS, 8, 1e-9, "here.csv", None)]
    )
    schedule_of(reduced(8), choose=chooser)
    assert chooser.notes[0].startswith("allreduce took less time than the model gives")


def test_the_command_corrects_by_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace, model, csv = ring(tmp_path / "ring"), tmp_path / "model.json", tmp_path / "here.csv"
    write_model(model, [FIT])
    csv.write_text("operation,ranks,message_bytes,seconds\nallreduce,4,8,0.5\n")
    assert main(["app", str(trace), "--model", str(model), "--anchor", str(csv)]) == 0
    assert "By the model it takes 1.5" in capsys.readouterr().out
    in_python = chiplog.app(trace, model, anchors=[csv]).replay
    assert in_python is not None
    assert in_python.seconds == pytest.approx(1.5, rel=0.01)
    with pytest.raises(UsageError, match="anchors need a model"):
        chiplog.app(trace, anchors=[csv])
    assert (
        main(
            [
                "app",
                str(trace),
                "--L",
                "1",
                "--o",
                "1",
                "--g",
                "1",
                "--G",
                "1",
                "--anchor",
                str(csv),
            ]
        )
        == 2
    )
    assert "--anchor: needs --model" in capsys.readouterr().err
