"""Tuning for jobs by nodes and processes a node."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from simulated_race import SimulatedLauncher, candidates

from chiplog.cli import main
from chiplog.errors import UsageError
from chiplog.tune.formats import openmpi_classic
from chiplog.tune.measured.choices import tuning_of, verdicts
from chiplog.tune.measured.mpi_launcher import LaunchedWorld
from chiplog.tune.measured.race import Race
from chiplog.tune.measured.raced import RaceOptions
from chiplog.tune.measured.shapes import JobShape, check_shape, file_of, parse_shapes


def test_a_shape_is_nodes_and_processes() -> None:
    assert parse_shapes("8x2, 4x4,8x2") == (JobShape(8, 2), JobShape(4, 4))
    (shape,) = parse_shapes("16x1")
    assert (str(shape), shape.ranks, shape.world) == ("16x1", 16, LaunchedWorld(16, 16))
    assert shape.text == "16 nodes with 1 process each"
    assert file_of(Path("a/rules.conf"), shape) == Path("a/rules-16x1.conf")


@pytest.mark.parametrize("text", ["", "8", "8x", "x2", "8x2x2", "0x4", "1x1", "8 x 2", "9999x9999"])
def test_what_is_no_shape_is_wrong_usage(text: str) -> None:
    with pytest.raises(UsageError, match=r"--shape: .* is no shape; it accepts nodes x processes"):
        parse_shapes(text)


@pytest.mark.parametrize("world", [LaunchedWorld(16, 4), LaunchedWorld(12, 8), LaunchedWorld(2, 1)])
def test_a_shape_that_was_not_started_is_wrong_usage(world: LaunchedWorld) -> None:
    check_shape(JobShape(8, 2), LaunchedWorld(32, 8))
    with pytest.raises(UsageError, match=r"it takes 8 nodes with 2 processes each, or more"):
        check_shape(JobShape(8, 2), world)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--shape", "8x2"), "a model knows no nodes; measure with --measure"),
        (("--measure", "--shape", "8x2", "--ranks", "16"), "--ranks: are given by --shape"),
        (("--measure", "--shape", "8x2,4x4", "--json", "-"), "each has files of its own"),
        (("--measure", "--shape", "8x2,4x4", "--from", "s"), "each has files of its own"),
    ],
)
def test_options_that_do_not_go_with_shapes_are_wrong_usage(
    words: tuple[str, ...], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["tune", "--for", "openmpi", "-o", str(tmp_path / "rules.conf"), *words]
    assert main(asked) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_shapes_of_as_many_ranks_get_other_rules_where_they_differ() -> None:
    """On 4 nodes with 4 processes one algorithm is the fastest, on 8 with 2 another one, at large sizes only."""

    def rules_of(shape: JobShape) -> str:
        def truth(name: str, size: int) -> float:
            if shape.nodes == 4:
                return 1e-4 * (0.5 if name == "a1" else 1.0)
            return 1e-4 * (0.5 if name == "a2" and size >= 1024 else 1.0)

        launcher = SimulatedLauncher(truth, 1, launch_sigma=0.02, outlier_share=0.0)
        options = RaceOptions("bcast", (shape.ranks,), (1, 64, 1024, 4096), 1e9, 1)
        raced = Race(launcher, candidates(4), options, clock=lambda: 0.0).run()
        tuning = replace(tuning_of("bcast", verdicts(raced)), shape=str(shape))
        return openmpi_classic.text(tuning, (5, 0))

    wide, tall = rules_of(JobShape(8, 2)), rules_of(JobShape(4, 4))
    assert "for jobs of 8x2 (nodes x processes) only" in wide.splitlines()[0]
    assert "# a1" in tall and "# a2" not in tall and "# a2" in wide and "# a1" not in wide
    assert "\n16 " in wide and "\n16 " in tall
