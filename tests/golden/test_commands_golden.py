"""What the commands print and write of a simulated machine, an imported table and a simulated survey.

The stored outputs are made anew with CHIPLOG_UPDATE_GOLDEN=1; look at each difference. Numbers may differ in their
last digits with the processor's instructions: they are compared to three digits, words exactly. What differs from run
to run (times of day, names of hosts, what the machine was warned of) is left out.
"""

from __future__ import annotations

import json
import math
import os
import re
import socket
from pathlib import Path

import pytest

from chiplog.cli import main

FILES = Path(__file__).parent / "commands"
NETWORK = "sim:L=5us,o=1us,g=2us,G=0.5ns,S=8KiB,noise=0.01"
TABLE = "message_bytes,seconds\n" + "".join(
    f"{2**n},{2e-6 + 2**n * 1e-9 + (3e-6 if n > 12 else 0.0):.9g}\n" for n in range(20)
)
COMMANDS = {
    "measure-fom": f"measure {NETWORK} --pattern ping_pong,flood --sizes 8,1KiB --seed 3 --fom -o fom.jsonl",
    "fit": "fit run.jsonl --model loggp --model hockney -o fitted.json",
    "fit-details": "fit run.jsonl --model loggp --details",
    "fit-json": "fit run.jsonl --model loggp --json out.json",
    "fit-imported": "fit table.jsonl --model hockney",
    "changes": "changes run.jsonl",
    "changes-details": "changes run.jsonl --details",
    "changes-imported": "changes table.jsonl",
    "compare-models": "compare run.jsonl --models loggp,hockney,plogp",
    "compare-runs": "compare run.jsonl other.jsonl",
    "compare-runs-json": "compare run.jsonl other.jsonl --json out.json",
    "predict": "predict model.json allreduce --ranks 64 --bytes 8KiB",
    "predict-json": "predict model.json bcast --ranks 16 --bytes 1KiB --json out.json",
    "schedule": "schedule bcast --algorithm binomial --ranks 4 --bytes 64 -o out.txt",
    "simulate": "simulate ring.goal --model model.json",
    "tune": "tune model.json --for openmpi --operation bcast --ranks 16 --extrapolate -o out.txt",
    "export": "export model.json --to loggopsim -o out.txt",
    "survey": "survey verdict survey",
    "survey-json": "survey verdict survey --json out.json",
    "list-models": "list models",
    "list-patterns": "list patterns",
    "list-operations": "list operations",
}
VARYING = re.compile(r"\d{4}-\d{2}-\d{2}T[\d:.]+(Z|\+00:00)|[0-9a-f]{8}-[0-9a-f-]{27}")
NUMBER = re.compile(r"[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?")
OF_THE_MACHINE = re.compile(r"^(.* cores · .*(\n.+)*|In all: .*)\n?", flags=re.MULTILINE)
"""Names of machines are of other lengths, and so are wrapped elsewhere."""
KEPT_APART = (
    "cost",
    "created",
    "run_id",
    "chiplog",
    "host",
    "hosts",
    "machine",
    "warnings",
    "provenance",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the commands read."""
    folder = tmp_path_factory.mktemp("golden")
    (folder / "table.csv").write_text(TABLE)
    before = Path.cwd()
    os.chdir(folder)
    try:
        for words in (
            f"measure {NETWORK} --sizes 1:64KiB --seed 3 -o run.jsonl",
            f"measure {NETWORK.replace('L=5us', 'L=6us')} --sizes 1:64KiB --seed 4 -o other.jsonl",
            "import csv table.csv --pattern ping_pong --direction one-way -o table.jsonl",
            "fit run.jsonl --model loggp -o model.json",
            "schedule allgather --algorithm ring --ranks 4 --bytes 64 -o ring.goal",
            "survey sim:L=5us,o=1us,g=2us,G=0.5ns,noise=0.01 --ranks 6 --seed 5 -o survey",
        ):
            assert main(words.split()) == 0, words
    finally:
        os.chdir(before)
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_what_it_said(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    capsys.readouterr()
    assert main(COMMANDS[name].split()) == 0
    said = capsys.readouterr().out
    if "--json" in COMMANDS[name]:
        said = json.dumps(_same_everywhere(json.loads(Path("out.json").read_text())), indent=1)
    if "out.txt" in COMMANDS[name]:
        said += Path("out.txt").read_text()
    text = _same_words(said)
    path = FILES / f"{name}.txt"
    if os.environ.get("CHIPLOG_UPDATE_GOLDEN") == "1":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    stored = path.read_text(encoding="utf-8")
    assert _words(text) == _words(stored)
    for number, before in zip(_numbers(text), _numbers(stored), strict=True):
        assert math.isclose(number, before, rel_tol=2e-3, abs_tol=1e-12), (number, before)


def _same_words(said: str) -> str:
    """The text without times of day, names of hosts, and lines about the machine and how long it took."""
    lines = "\n".join(line.rstrip() for line in said.splitlines())
    text = VARYING.sub("VARYING", OF_THE_MACHINE.sub("", lines))
    return text.replace(socket.gethostname(), "HOST").rstrip() + "\n"


def _words(text: str) -> list[str]:
    """The text without its numbers, which may be of other lengths, and so without its spaces."""
    return NUMBER.sub("#", text).split()


def _numbers(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in NUMBER.findall(text)]


def _same_everywhere(content: object) -> object:
    """JSON without what differs from run to run and from machine to machine."""
    if isinstance(content, dict):
        return {
            key: _same_everywhere(value) for key, value in content.items() if key not in KEPT_APART
        }
    if isinstance(content, list):
        return [_same_everywhere(value) for value in content]
    return content
