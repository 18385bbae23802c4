"""A package of its own adds an importer, an exporter and a tuning writer; a broken one stops no command but its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Finished, chiplog, sim_run
from outside import with_package, write_package

from chiplog.dataset.run_file import read_run

FI_PINGPONG = (
    "bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec\n"
    "1       10      =10      20          0.00s      0.20       5.00       0.20\n"
    "8       10      =10      160         0.00s      1.60       5.01       0.20\n"
    "1k      10      =10      20k         0.00s    185.84       5.51       0.18\n"
)
BROKEN = """
from chiplog.dataset.importer import Importer

MODEL = None
IMPORTER = Importer(name="another", summary="of another name", read=None)
"""
LACKING = """
from chiplog.models.protocol import Model

MODEL = Model(name="lacking", source="none", parameters=(), formulas={}, estimators={})
"""


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "run.jsonl"
    return sim_run(out, "--sizes", "1:1KiB:1", "--pattern", "prtt,ping_pong,receive_overhead")


@pytest.mark.parametrize(
    ("command", "listed", "name"),
    [
        ("import", "importers", "fi-pingpong"),
        ("export", "exporters", "gnuplot"),
        ("tune", "tuning-writers", "intelmpi-barrier"),
    ],
)
def test_what_a_package_adds_is_listed_and_told_by_the_commands_help(
    installed: Path, command: str, listed: str, name: str
) -> None:
    assert f"{name}  " in with_package(installed, "list", listed).stdout
    assert f"  {name}  " in with_package(installed, command, "--help").stdout
    assert name not in chiplog(command, "--help").stdout


def test_a_file_is_read_by_another_packages_importer(installed: Path, tmp_path: Path) -> None:
    source, run = tmp_path / "pingpong.txt", tmp_path / "run.jsonl"
    source.write_text(FI_PINGPONG)
    finished = with_package(installed, "import", "fi-pingpong", source, "-o", run)
    assert finished.code == 0, finished.stderr
    header = json.loads(run.read_text().splitlines()[0])
    assert header["target"] == "import:fi-pingpong"
    table = tmp_path / "run.csv"
    assert chiplog("export", run, "--to", "csv", "-o", table).code == 0  # read without the package
    assert [line.rsplit(",", 1)[1] for line in table.read_text().splitlines()[1:]] == [
        "5e-06",
        "5.01e-06",
        "5.51e-06",
    ]


def test_a_damaged_file_is_refused_by_another_packages_importer_as_by_any(
    installed: Path, tmp_path: Path
) -> None:
    source = tmp_path / "pingpong.txt"
    source.write_text("1 10 =10 20 0.00s 0.20 soon 0.20\n")
    refused = with_package(installed, "import", "fi-pingpong", source, "-o", tmp_path / "run.jsonl")
    assert refused.code == 5
    assert "line 1, field usec/xfer: 'soon' is not a number" in refused.stderr


def test_a_run_is_written_by_another_packages_exporter(
    installed: Path, run_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run.dat"
    finished = with_package(installed, "export", run_file, "--to", "gnuplot", "-o", out)
    assert finished.code == 0, finished.stderr
    blocks = out.read_text().split("\n\n\n")
    assert [one.splitlines()[0] for one in blocks[:2]] == ["# ping_pong", "# prtt"]
    medians = read_run(run_file).select(pattern="ping_pong").medians_by_size()
    assert blocks[0].splitlines()[1] == f"1 {medians.seconds[0]:.9g}"
    unknown = chiplog("export", run_file, "--to", "gnuplot", "-o", out)
    assert unknown.code == 2
    assert "'gnuplot' is unknown; it accepts csv, parquet" in unknown.stderr


def test_a_tuning_file_is_written_by_another_packages_writer(
    installed: Path, run_file: Path, tmp_path: Path
) -> None:
    model, out = tmp_path / "model.json", tmp_path / "barrier.env"
    assert chiplog("fit", run_file, "--model", "loggp", "-o", model).code == 0
    words = (
        "tune",
        model,
        "--for",
        "intelmpi-barrier",
        "--ranks",
        "2:9",
        "--extrapolate",
        "-o",
        out,
    )
    finished = with_package(installed, *words)
    assert finished.code == 0, finished.stderr
    # On powers of two both take the same time, which leaves the default.
    assert "I_MPI_ADJUST_BARRIER=1:0-0@" in out.read_text()
    assert "@8-8" not in out.read_text()
    assert "I_MPI_ADJUST_BARRIER=" in finished.stderr
    assert "check-tuning" not in finished.stderr
    unproved = with_package(installed, "check-tuning", out, "--for", "intelmpi-barrier")
    assert unproved.code == 2
    assert "it accepts chiplog, openmpi, mpich, intelmpi." in unproved.stderr


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    points = (
        "[chiplog.models]\nbroken = broken_one:MODEL\nabsent = no_such_module:MODEL\n"
        "[chiplog.importers]\nbroken = broken_one:IMPORTER\n"
        "[chiplog.exporters]\nbroken = broken_one:NOTHING\n"
        "[chiplog.tuning_writers]\nbroken = broken_one:NOTHING\n"
    )
    return write_package(tmp_path, "broken_one", BROKEN, points)


def one_sentence(finished: Finished, *parts: str) -> None:
    assert (finished.code, finished.stderr.count("\n")) == (2, 1), finished.stderr
    for part in ("broken-one", *parts):
        assert part in finished.stderr


def test_a_command_that_uses_a_broken_plugin_ends_with_a_sentence_that_names_the_package(
    broken: Path, run_file: Path
) -> None:
    with_it = (run_file, "-o", broken / "out")
    fitted = with_package(broken, "fit", run_file, "--model", "broken")
    one_sentence(
        fitted,
        "'broken' of package broken-one",
        "lacks what chiplog.models.protocol.Model asks for",
    )
    one_sentence(with_package(broken, "fit", run_file, "--model", "absent"), "no_such_module")
    one_sentence(with_package(broken, "import", "broken", *with_it), "calls itself 'another'")
    one_sentence(with_package(broken, "export", *with_it, "--to", "broken"), "NOTHING")
    one_sentence(with_package(broken, "tune", *with_it, "--for", "broken"), "NOTHING")


def test_commands_that_use_no_broken_plugin_go_on_with_a_line_for_each_that_is_left_out(
    broken: Path, run_file: Path, tmp_path: Path
) -> None:
    found = with_package(broken, "compare", run_file, "--json", "-")
    assert found.code == 0, found.stderr
    assert json.loads(found.stdout) == json.loads(
        chiplog("compare", run_file, "--json", "-").stdout
    )
    lines = [line for line in found.stderr.splitlines() if "left out" in line]
    assert len(lines) == 2
    for name, line in zip(("broken", "absent"), lines, strict=True):
        assert line.startswith(f"chiplog: Model '{name}' of package broken-one")
    named = with_package(broken, "fit", run_file, "--model", "loggp")
    assert named.code == 0
    assert "broken" not in named.stderr
    exported = with_package(broken, "export", run_file, "--to", "csv", "-o", tmp_path / "run.csv")
    assert (exported.code, "broken" in exported.stderr) == (0, False)
    helped = with_package(broken, "import", "--help")
    assert "netgauge" in helped.stdout and "broken" not in helped.stdout
    assert helped.stderr.startswith("chiplog: Importer 'broken' of package broken-one")


def test_a_package_whose_model_lacks_something_is_told_what(tmp_path: Path) -> None:
    write_package(
        tmp_path, "lacking_model", LACKING, "[chiplog.models]\nlacking = lacking_model:MODEL\n"
    )
    finished = with_package(tmp_path, "list", "models")
    assert (finished.code, finished.stderr.count("\n")) == (0, 1)
    assert "'lacking' of package lacking-model" in finished.stderr
    assert "'label'" in finished.stderr
    assert "lacking" not in finished.stdout


def test_a_name_that_two_packages_have_is_refused_with_both(tmp_path: Path, run_file: Path) -> None:
    for name in ("first_one", "second_one"):
        points = f"[chiplog.models]\nboth = {name}:MODEL\n"
        write_package(tmp_path, name, LACKING, points)
    finished = with_package(tmp_path, "fit", run_file, "--model", "both")
    assert (finished.code, finished.stderr.count("\n")) == (2, 1)
    assert "package first-one" in finished.stderr and "package second-one" in finished.stderr
