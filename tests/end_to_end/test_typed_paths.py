"""A path is printed as it was typed, never as the long path that it stands for."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from all_commands import Inputs
from jobs_by_hand import Times, pico_jobs, scattered

from chiplog.cli import main

TIMES: Times = {
    (size, name): factor * 1e-5
    for size in (64, 4096)
    for name, factor in (("default_ompi", 1.0), ("recursive_doubling_ompi", 0.5))
}
TUNE = "tune --for openmpi --operation allreduce -o rules.conf --from"
COMMANDS = (
    f"{TUNE} job/machine",
    f"{TUNE} job/machine --details --json -",
    f"{TUNE} job/nowhere",
    f"{TUNE} job/empty.csv",
    f"{TUNE} job/damaged.csv",
    f"{TUNE} job/text.txt",
    f"{TUNE} model.json",
    f"{TUNE} .",
    "import pico job/machine -o imported.jsonl",
    "import pico job/empty.csv -o imported.jsonl",
    "import ompi-collectives-tuning job/text.txt -o imported.jsonl",
    "import csv job/text.txt -o imported.jsonl",
    "fit run.jsonl",
    "fit job",
    "fit job/text.txt",
    "changes job/nowhere",
    "compare run.jsonl job/empty.csv",
    "predict model.json barrier --ranks 4",
    "predict job barrier --ranks 4",
    "predict model.json barrier --ranks 4 --anchor job/text.txt",
    "simulate ring.goal --model job/text.txt",
    "simulate ring.goal --model model.json --noise job",
    "report run.jsonl -o page.html",
    "report run.jsonl -o job/text.txt/page.html",
    "export run.jsonl --to csv -o job",
    "app job",
    "tune lint job/text.txt --for openmpi",
    "tune lint job --for openmpi",
    "survey sim --ranks 4 -o job/text.txt/survey",
    "survey sim --ranks 4 -o job/nowhere/below/survey --dry-run",
    "run sim --sizes 1:8 --budget 1 -o job/text.txt/report",
    "measure sim --sizes 1:8 -o job/nowhere/run.jsonl",
    "history add job/nowhere run.jsonl",
    "history job",
    "calibrate job",
)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("typed")
    (folder / "inputs").mkdir()
    made = Inputs(folder / "inputs")
    for source, name in (
        (made.run, "run.jsonl"),
        (made.model, "model.json"),
        (made.goal, "ring.goal"),
    ):
        shutil.copy(source, folder / name)
    pico_jobs(folder / "job" / "machine", scattered(TIMES, 2))
    (folder / "job" / "empty.csv").write_text("")
    (folder / "job" / "damaged.csv").write_text("a,b\n1,2,3\n")
    (folder / "job" / "text.txt").write_text("some words of no tool\n")
    return folder


@pytest.mark.parametrize("line", COMMANDS)
def test_no_command_prints_the_long_path_of_what_was_typed(
    line: str,
    inputs: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "here"
    shutil.copytree(inputs, folder)
    monkeypatch.chdir(folder)
    main(line.split())
    shown = capsys.readouterr()
    words = [word for word in (shown.out + shown.err).split() if str(folder) in word]
    assert [word for word in words if "=" not in word] == []  # but for variables of other programs
