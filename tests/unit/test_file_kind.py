"""A file of another kind is named as what it is, whichever command it is given to."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from chiplog.cli import main
from chiplog.errors import UsageError
from chiplog.file_kind import kind_of
from chiplog.input_file import read_text
from chiplog.plugins import did_you_mean

SIM = "sim:L=5us,o=1us,g=2us,G=0.5ns"


@pytest.fixture(scope="module")
def folder(files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `chiplog run -o` makes it, with one run file."""
    made = tmp_path_factory.mktemp("folders") / "report"
    (made / "by-time" / "runs").mkdir(parents=True)
    (made / "by-time" / "runs" / "tcp.jsonl").write_bytes(files["run"].read_bytes())
    (made / "by-time" / "model.json").write_bytes(files["model"].read_bytes())
    (made / "by-time" / "report.html").write_bytes(files["page"].read_bytes())
    (made / "latest").symlink_to("by-time")
    for name in ("runs", "model.json", "report.html"):
        (made / name).symlink_to(f"latest/{name}")
    return made


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("kinds")
    made = {
        name: folder / name
        for name in ("run", "model", "goal", "json", "page", "parquet", "packed", "other")
    }
    assert main(["measure", SIM, "--sizes", "1:1KiB", "-o", str(made["run"])]) == 0
    assert main(["fit", str(made["run"]), "-o", str(made["model"])]) == 0
    ring = ("schedule", "allreduce", "--algorithm", "ring", "--ranks", "4", "--bytes", "1KiB")
    assert main([*ring, "-o", str(made["goal"])]) == 0
    assert main(["changes", str(made["run"]), "--json", str(made["json"])]) == 0
    made["page"].write_text("<!DOCTYPE html><title>page</title>")
    made["parquet"].write_bytes(b"PAR1....")
    made["packed"].write_bytes(gzip.compress(made["goal"].read_bytes()))
    made["other"].write_text("# something else\n")
    return made


@pytest.mark.parametrize(
    ("command", "takes"),
    [
        (["fit", "FILE"], "run"),
        (["changes", "FILE"], "run"),
        (["compare", "FILE"], "run"),
        (["predict", "FILE", "barrier", "--ranks", "4"], "model"),
        (
            [
                "tune",
                "FILE",
                "--operation",
                "barrier",
                "--ranks",
                "2:4",
                "--for",
                "openmpi",
                "-o",
                os.devnull,
            ],
            "model",
        ),
        (["simulate", "FILE", "--L", "1", "--o", "1", "--g", "1", "--G", "1"], "goal"),
    ],
    ids=lambda one: one if isinstance(one, str) else one[0],
)
def test_every_other_kind_is_named(
    files: dict[str, Path], command: list[str], takes: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind, path in files.items():
        words = [str(path) if word == "FILE" else word for word in command]
        code = main(words)
        said = capsys.readouterr().err
        if kind == takes:
            assert code in (0, 2, 5), said
            continue
        found = kind_of(path)
        assert code == (5 if found is None and takes == "goal" else 2), said
        if found is None and takes != "goal":
            assert f"{path} is not a {takes} file; a table must be imported first" in said
        if found is not None:
            assert f"{path} is {found[0]}, but " in said
            assert len(said.splitlines()) == 1


def test_a_damaged_file_stays_a_damaged_one(files: dict[str, Path], tmp_path: Path) -> None:
    cut = tmp_path / "run.jsonl"
    cut.write_bytes(files["run"].read_bytes()[:-3])
    assert main(["fit", str(cut)]) == 5


@pytest.mark.parametrize("size", ["1KiB", "1024", "1024B"])
def test_sizes_are_taken_with_units(
    files: dict[str, Path], size: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["predict", str(files["model"]), "allreduce", "--ranks", "8", "--bytes", size]) == 0
    assert "1,024 B" in capsys.readouterr().out
    assert (
        main(["predict", str(files["model"]), "allreduce", "--ranks", "8", "--bytes", "1Kib"]) == 2
    )
    assert "'1Kib' is not a size" in capsys.readouterr().err


def test_the_nearest_name_is_proposed_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mesure", "tcp"]) == 2
    assert capsys.readouterr().err.count("id you mean") == 1
    assert did_you_mean("loggb", ["loggp", "hockney"]) == " Did you mean 'loggp'?"
    assert did_you_mean("xyz", ["loggp", "hockney"]) == ""


COMMANDS = {
    "predict": ("FILE", "barrier", "--ranks", "2"),
    "tune": (
        *[
            "FILE",
            "--operation",
            "barrier",
            "--ranks",
            "2",
            "--for",
            "openmpi",
            "--extrapolate",
            "-o",
        ],
        os.devnull,
    ),
    "share": ("FILE", "--name", "here", "-o", os.devnull),
    "fit": ("FILE",),
    "changes": ("FILE",),
    "compare": ("FILE", "FILE"),
    "export": ("FILE", "--to", "csv", "-o", os.devnull),
}
"""What reads a run file or a model file."""


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("place", ["", "/", "/latest"])
def test_a_folder_of_chiplog_run_stands_for_the_file_in_it(
    command: str, place: str, folder: Path
) -> None:
    assert main([command, *(w.replace("FILE", f"{folder}{place}") for w in COMMANDS[command])]) == 0


def test_simulate_takes_the_model_in_a_folder(folder: Path, files: dict[str, Path]) -> None:
    assert main(["simulate", str(files["goal"]), "--model", str(folder)]) == 0


@pytest.mark.parametrize("command", ["fit", "changes", "compare", "export"])
def test_of_several_files_in_a_folder_the_sentence_names_them(
    command: str, files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("shm", "tcp", "mpi", "ucx", "udp"):
        (tmp_path / f"{name}.jsonl").write_bytes(files["run"].read_bytes())
    capsys.readouterr()
    assert main([command, *(w.replace("FILE", str(tmp_path)) for w in COMMANDS[command])]) == 2
    assert (
        "name one of them: mpi.jsonl, shm.jsonl, tcp.jsonl and 2 more." in capsys.readouterr().err
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_of_a_folder_without_such_a_file_the_sentence_says_what_is_needed(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, *(w.replace("FILE", str(tmp_path)) for w in COMMANDS[command])]) == 2
    error = capsys.readouterr().err
    assert f"{tmp_path} is a folder without a " in error and "name a file" in error


def test_where_any_file_would_do_a_folder_is_answered_by_files_in_it(tmp_path: Path) -> None:
    (tmp_path / "rules.conf").write_text("1\n")
    with pytest.raises(UsageError, match=r"name one in it, such as .*rules"):
        read_text(tmp_path)
