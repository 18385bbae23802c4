"""`--json FILE` writes the results beside the text; `--json -` prints nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from chiplog.cli import main
from chiplog.measurement import doctor

KNOWN = ["--L", "3us", "--o", "1us", "--g", "2us", "--G", "0.5ns", "--O", "0", "--S", "1GiB"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A run, its fit and a schedule."""
    room = tmp_path_factory.mktemp("files")
    names = {name: str(room / name) for name in ("run.jsonl", "model.json", "bcast.goal")}
    target = "sim:L=3us,o=1us,g=2us,G=0.5ns,noise=0.01"
    assert (
        main(["measure", target, "--sizes", "1:64KiB", "--no-refine", "-o", names["run.jsonl"]])
        == 0
    )
    assert main(["fit", names["run.jsonl"], "-o", names["model.json"]]) == 0
    schedule = ["schedule", "bcast", "--algorithm", "binomial", "--ranks", "4", "--bytes", "8"]
    assert main([*schedule, "-o", names["bcast.goal"]]) == 0
    return names


@pytest.mark.parametrize(
    "words",
    [
        ["measure", "sim:L=3us", "--dry-run"],
        ["fit", "run.jsonl"],
        ["changes", "run.jsonl"],
        ["compare", "run.jsonl", "run.jsonl"],
        ["predict", "model.json", "barrier", "--ranks", "8"],
        ["simulate", "bcast.goal", *KNOWN],
        ["list", "models"],
        ["doctor"],
        ["survey", "sim", "--ranks", "4", "--dry-run"],
        ["probe", "list"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_text_and_json(
    words: Sequence[str],
    files: dict[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Other programs start and end all the time, so all three outputs are of the same look at this machine.
    monkeypatch.setattr(doctor, "examine", cache(doctor.examine))
    command = [files.get(word, word) for word in words]
    assert main(command) == 0
    text = capsys.readouterr().out
    assert text.strip()
    beside = tmp_path / "results.json"
    assert main([*command, "--json", str(beside)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(text.splitlines())
    assert main([*command, "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out).keys() == json.loads(beside.read_text()).keys()
