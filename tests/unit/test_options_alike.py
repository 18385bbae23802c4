"""An option means the same in every command: its names, what it takes, and the units that it knows."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from all_commands import arguments, options

from chiplog.benchmarking.benchmark import BenchOptions
from chiplog.cli import main
from chiplog.cli.bench import AmountOptions
from chiplog.cli.measure import PointOptions
from chiplog.cli.options import DEFAULT_DIMENSIONS, DEFAULT_SEGMENT, DEFAULT_TIME_LIMIT
from chiplog.cli.parameters import SECONDS
from chiplog.cli.survey import SweepOptions
from chiplog.cli.tune import RacingOptions
from chiplog.cli.ucx import UcxRanksOptions
from chiplog.collectives.algorithm import Task
from chiplog.machine_survey.plan import SurveyOptions
from chiplog.measurement.start import Start
from chiplog.plan import PlanOptions
from chiplog.tune.measured.tuning import Asked
from chiplog.tune.ucx.tuning import UcxOptions

BY_COMMAND = {"--output", "--from", "--to", "--library"}
"""Options whose value is named after the file or format of the command."""
OTHERWISE = {
    ("simulate", "--model"): "a file, since nothing else holds all parameters",
    ("app", "--model"): "as of simulate",
    ("app", "--mpi"): "the release that a trace is of, which need not be here",
    ("predict", "--ranks"): "several numbers: it starts none",
    ("bench", "--ranks"): "several numbers, one after the other",
    ("tune", "--ranks"): "several numbers, where others start so many ranks",
    ("tune", "--type"): "several datatypes, for each of which a rule must hold",
    ("tune", "--samples"): "the file of all samples; bench is told how many it takes",
    ("measure", "--operation"): "several operations in turn",
    ("fit", "--model"): "several models",
    ("compare", "--model"): "several models",
}
SCHEDULE = ("schedule", "bcast", "--algorithm", "binomial", "--ranks", "4", "--bytes", "64KiB")


def named(parameter: Any) -> str:
    """The name of an option by which others are known."""
    return next((name for name in parameter.opts if name in ("--output", "--model")), None) or next(
        name for name in parameter.opts if name.startswith("--")
    )


def test_an_option_takes_the_same_in_every_command() -> None:
    takes: dict[str, dict[tuple[str, str | None], list[str]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for command, parameter in options():
        name = named(parameter)
        if name not in BY_COMMAND and (command, name) not in OTHERWISE:
            takes[name][parameter.type.name, parameter.metavar].append(command)
    different = {name: dict(kinds) for name, kinds in takes.items() if len(kinds) > 1}
    assert different == {}


def test_what_is_written_is_named_by_o_and_output_everywhere() -> None:
    names = [set(parameter.opts) for _, parameter in options()]
    assert [each for each in names if ("-o" in each) != ("--output" in each)] == []


def test_models_are_named_by_model_and_models_everywhere() -> None:
    names = [
        set(parameter.opts)
        for command, parameter in options()
        if command not in ("simulate", "app")
    ]
    assert [each for each in names if ("--model" in each) != ("--models" in each)] == []


def test_seconds_are_said_where_they_are_meant() -> None:
    for command, parameter in options():
        if parameter.type.name == "float" and named(parameter) not in (
            "--precision",
            "--node-rate",
            "--flops-per-second",
        ):
            assert parameter.metavar == "SECONDS", (command, parameter.opts)


def test_every_option_is_explained() -> None:
    assert [(command, option.opts) for command, option in options() if not option.help] == []


def test_every_target_is_explained_alike() -> None:
    helps = [option.help for _, option in arguments() if option.name in ("target", "targets")]
    assert len(helps) == 4
    for text in helps:
        assert text.startswith("transport[:options], e.g. ")
        assert "chiplog list transports" in text


def makespan(goal: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["simulate", str(goal), *words]) == 0
    return capsys.readouterr().out


def test_times_and_sizes_have_units_or_are_ns_and_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    goal = tmp_path / "bcast.goal"
    assert main([*SCHEDULE, "-o", str(goal)]) == 0
    plain = makespan(
        goal, capsys, *("--L", "2500", "--o", "150", "--g", "1000", "--G", "0.5", "--S", "8192")
    )
    units = makespan(
        goal, capsys, *("--L", "2.5us", "--o", "0.15us", "--g", "1us", "--G", ".5ns", "--S", "8KiB")
    )
    assert plain == units


def test_a_tree_is_shaped_by_times_with_units(tmp_path: Path) -> None:
    shapes = []
    for latency in ("20us", "20000", "2us"):
        out = tmp_path / f"{latency}.goal"
        words = ("--algorithm", "logp-optimal", "--ranks", "16", "--L", latency, "--g", "1us")
        assert main(["schedule", "bcast", *words, "-o", str(out)]) == 0
        shapes.append(out.read_text())
    assert shapes[0] == shapes[1] != shapes[2]


@pytest.mark.parametrize("time", ["1furlong", "-1", "us", "1e999", "nan"])
def test_what_is_no_time_is_refused_with_the_units(
    time: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    goal = tmp_path / "bcast.goal"
    assert main([*SCHEDULE, "-o", str(goal)]) == 0
    capsys.readouterr()
    assert main(["simulate", str(goal), "--L", time]) == 2
    said = capsys.readouterr().err
    assert "--L" in said and "ns, us, ms, s" in said


def test_defaults_are_those_of_the_functions_that_take_them() -> None:
    """They stand twice, since a command's signature imports nothing of what it needs when it runs."""
    assert AmountOptions.launches == BenchOptions.launches
    assert AmountOptions.samples == BenchOptions.samples
    assert AmountOptions.calls == BenchOptions.calls
    assert AmountOptions.budget_seconds == BenchOptions.budget_seconds
    assert PointOptions.visits == PlanOptions.visits
    assert PointOptions.launches == PlanOptions.launches
    assert PointOptions.precision == PlanOptions.relative_half_width
    assert SweepOptions.visits == SurveyOptions.visits
    assert RacingOptions.budget == Asked.budget_seconds
    assert UcxRanksOptions.launches == UcxOptions.blocks
    assert DEFAULT_TIME_LIMIT == Start.time_limit
    assert (DEFAULT_SEGMENT, DEFAULT_DIMENSIONS) == (Task.segment_bytes, Task.dimensions)


def seconds_options() -> list[tuple[str, str]]:
    return [(command, each.opts[0]) for command, each in options() if each.metavar == SECONDS]


@pytest.mark.parametrize(("command", "option"), seconds_options())
def test_more_seconds_than_nanoseconds_can_count_are_refused(
    command: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command.split(), option, "1e300"]) == 2
    assert f"chiplog: {option}: 1e+300 is out of range" in capsys.readouterr().err
