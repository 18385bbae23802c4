"""Errors of other machines and of this one widen intervals: by others alone, by cells alone, and in between."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from json_schemas import validate
from prediction import fit_of
from scipy.special import stdtrit

from chiplog.cli import main
from chiplog.collectives.algorithm import Task
from chiplog.collectives.registry import OPERATIONS, algorithms, load
from chiplog.errors import CorruptFile, UsageError
from chiplog.fitting.model_file import write_model
from chiplog.jobs.calibration import calibrate
from chiplog.prediction.anchors import Anchor
from chiplog.prediction.error_table import (
    CLUSTERS,
    ErrorTable,
    error_width,
    read_error_table,
)
from chiplog.prediction.known_errors import KNOWN_ERRORS, Family, family_of
from chiplog.prediction.predict import predict

MODEL = fit_of("loggp", {"L": 2.5e-6, "o_s": 1.5e-6, "o_r": 1.5e-6, "g": 1e-6, "G": 6e-9})
RING = load("allgather", "ring")
SQUARES = [0.04, 0.09, 0.01]


def test_a_machine_without_cells_has_the_errors_of_others() -> None:
    scale = math.sqrt(np.mean(SQUARES))
    assert error_width([], SQUARES) == pytest.approx(float(stdtrit(3, 0.975)) * scale)


@pytest.mark.parametrize("cells", [1, 2, 5, 10, 18])
def test_few_cells_never_make_an_interval_of_nothing(cells: int) -> None:
    width = error_width(np.full(cells, 1e-9), SQUARES)
    assert 0.0 < width < error_width(np.full(cells - 1, 1e-9), SQUARES)


def test_from_19_cells_on_the_largest_of_them_decides() -> None:
    errors = np.linspace(-0.2, 0.1, 19)
    assert error_width(errors, SQUARES) == pytest.approx(0.2)
    assert error_width(np.r_[errors, errors, errors], SQUARES) <= 0.2
    assert error_width(errors[:-1], SQUARES) > 0.2


@pytest.mark.parametrize("cells", [0, 1, 4, 18, 19, 30])
@pytest.mark.parametrize("seed", range(3))
def test_intervals_hold_19_of_20_next_errors_of_machines_that_are_alike(
    cells: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    held = []
    for _ in range(2000):
        others = [float(np.mean(random.normal(size=1) ** 2)) for _ in range(3)]
        *known, following = random.normal(size=cells + 1)
        held.append(abs(following) <= error_width(known, others))
    assert np.mean(held) >= 0.935


def test_every_algorithm_has_a_family() -> None:
    families = {
        f"{operation} {name}": family_of(algorithm)
        for operation in OPERATIONS
        for name, algorithm in algorithms(operation).items()
    }
    assert set(families.values()) == set(Family)
    assert families["barrier n-way-dissemination"] is Family.DISSEMINATION
    assert families["allreduce ring"] is families["barrier double-ring"] is Family.RING
    assert families["alltoall pairwise"] is families["halo direct"] is Family.ALL_TO_ALL
    assert families["bcast binomial"] is families["gather linear"] is Family.TREE


def test_a_family_that_no_other_machine_measured_has_all_errors_of_these() -> None:
    share = ErrorTable(CLUSTERS).share(load("bcast", "binomial"), anchored=False)
    assert not share.is_of_family
    assert share.machines == len({row.machine for row in KNOWN_ERRORS})
    assert share.cells == 0
    assert share.factor > 1.0


def test_a_table_widens_the_rows_and_not_the_bound() -> None:
    plain, wide = (
        predict([MODEL], "allgather", Task(16, 1), algorithm="ring", errors=errors)
        for errors in (None, ErrorTable(CLUSTERS))
    )
    share = ErrorTable(CLUSTERS).share(RING, anchored=False)
    assert wide[0].seconds == plain[0].seconds
    assert wide[0].high / wide[0].seconds == pytest.approx(share.factor, rel=1e-6)
    assert wide[0].seconds / wide[0].low == pytest.approx(share.factor, rel=1e-6)
    assert wide[0].errors == share
    assert wide[-1] == plain[-1]


@pytest.mark.parametrize("operation", ["allgather", "bcast", "barrier"])
def test_an_algorithm_is_slower_only_where_errors_of_both_leave_no_doubt(operation: str) -> None:
    """What predictions missed is not the same for two algorithms, as the parameters are."""
    task = Task(16, 1 if operation == "barrier" else 65_536)
    rows = predict([MODEL], operation, task, errors=ErrorTable(CLUSTERS))[:-1]
    assert any(row.low <= rows[0].high for row in rows[1:])
    for row in rows:
        assert (row.verdict == "slower") == (row.low > rows[0].high), row.algorithm


def test_with_an_anchor_its_errors_stand_in_place_of_the_width_of_the_correction() -> None:
    seconds = predict([MODEL], "allgather", Task(4, 1024), algorithm="ring")[0].seconds
    anchor = Anchor("allgather", 4, 1024, 100 * seconds, "here.csv", "ring")
    row = predict(
        [MODEL], "allgather", Task(16, 1024), anchors=[anchor], errors=ErrorTable(CLUSTERS)
    )[0]
    share = ErrorTable(CLUSTERS).share(RING, anchored=True)
    assert row.correction is not None
    assert row.correction.carried_width == 0.0
    assert row.high / row.seconds == pytest.approx(share.factor, rel=1e-6)


def machine(folder: Path, factor: float, offset: float = 0.0) -> Path:
    """A folder with a model, and rings that take so many times as long as it says, and a little more at each size."""
    folder.mkdir()
    write_model(folder / "model.json", [MODEL])
    lines = ["operation,algorithm,ranks,message_bytes,seconds"]
    for size in (8, 1024, 65536):
        for ranks in (4, 8, 16):
            task = Task(ranks, size)
            seconds = predict([MODEL], "allgather", task, algorithm="ring")[0].seconds
            lines.append(f"allgather,ring,{ranks},{size},{factor * seconds * (1 + offset * ranks)}")
    (folder / "job.csv").write_text("\n".join(lines))
    return folder


def test_a_folder_gives_the_errors_of_its_model_without_and_with_an_anchor(tmp_path: Path) -> None:
    calibration = calibrate(machine(tmp_path / "machine", 1.25, 0.01))
    assert len(calibration.cells) == 9
    assert not calibration.passed_over
    for cell in calibration.cells:
        truth = 1.25 * (1 + 0.01 * cell.ranks)
        assert cell.error(anchored=False) == pytest.approx(math.log(truth))
        if cell.ranks == 4:
            assert cell.anchored_seconds is None
        else:
            beyond = (1 + 0.01 * cell.ranks) / 1.04
            assert cell.error(anchored=True) == pytest.approx(math.log(beyond))


def test_the_command_writes_a_table_that_predict_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, document = machine(tmp_path / "machine", 1.25), tmp_path / "document.json"
    (folder / "notes.txt").write_text("nothing to read")
    assert main(["calibrate", str(folder), "--json", str(document)]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "family  anchor        cells  median |error|  largest  interval",
        "ring    none          9      20 %            20 %     x or / 1.86",
        "ring    fewest ranks  6      0 %             0 %      x or / 1.79",
    ]
    table = folder / "errors.json"
    validate(json.loads(table.read_text()))
    assert json.loads(table.read_text()) == json.loads(document.read_text())
    words = ["predict", str(folder / "model.json"), "allgather", "--algorithm", "ring"]
    words += ["--ranks", "64", "--errors", str(table)]
    assert main([*words, "--json", "-"]) == 0
    rows = json.loads(capsys.readouterr().out)
    validate(rows)
    assert rows["rows"][0]["errors"] == {
        "table": str(table),
        "family": "ring",
        "cells": 9,
        "machines": 3,
        "is_of_family": True,
        "factor": pytest.approx(1.86, abs=0.01),
    }
    assert main(words) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"by 9 cells of {table}, and 3 other machines." in said
    # A table in the folder is no measurement: calibrating again gives the same.
    assert main(["calibrate", str(folder)]) == 0


def test_a_file_without_an_algorithm_needs_its_name(tmp_path: Path) -> None:
    folder = machine(tmp_path / "machine", 1.25)
    text = (folder / "job.csv").read_text().replace(",ring,", ",,")
    (folder / "job.csv").write_text(text)
    with pytest.raises(UsageError, match="--algorithm"):
        calibrate(folder)
    assert len(calibrate(folder, algorithm="ring").cells) == 9
    with pytest.raises(UsageError, match="--algorithm"):
        calibrate(folder, algorithm="binomial")


def test_a_folder_needs_one_model_file(tmp_path: Path) -> None:
    folder = machine(tmp_path / "machine", 1.25)
    write_model(folder / "other.json", [MODEL])
    with pytest.raises(UsageError, match="2 model files"):
        calibrate(folder)
    with pytest.raises(UsageError, match="no model file"):
        calibrate(tmp_path)
    with pytest.raises(UsageError, match="no folder"):
        calibrate(folder / "job.csv")


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('"measured_seconds": ', '"measured_seconds": -', "measured_seconds"),
        ('"allgather"', '"all"', "operation"),
        ('"ring"', '"square"', "algorithm"),
        ("chiplog.errors/1", "chiplog.errors/2", "schema"),
    ],
)
def test_a_damaged_table_is_named(tmp_path: Path, old: str, new: str, field: str) -> None:
    folder = machine(tmp_path / "machine", 1.25)
    assert main(["calibrate", str(folder)]) == 0
    table = folder / "errors.json"
    table.write_text(table.read_text().replace(old, new))
    with pytest.raises(CorruptFile, match=field):
        read_error_table(table)


def test_what_is_no_table_is_named(tmp_path: Path) -> None:
    folder = machine(tmp_path / "machine", 1.25)
    with pytest.raises(UsageError, match="is a model file"):
        read_error_table(folder / "model.json")
    words = ["predict", str(folder / "model.json"), "one-to-many", "--peers", "4"]
    assert main([*words, "--errors", CLUSTERS]) == 2
