"""On a full disk every output of every command leaves the old file whole, nothing beside it, and says what is full."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from all_commands import Inputs, options
from command import SIM
from trace_files import ring as ring_trace

OLD = "what was there before\n"
OUTPUTS = {"-o", "--json", "--report", "--trace", "--samples"}
ELSEWHERE = {
    ("run", "-o"): "is a folder that is new each time",
    ("bench", "-o"): "needs an MPI; it is written as other files",
    ("bench", "--json"): "needs an MPI; it is written as other files",
    ("bench", "--report"): "needs an MPI; it is written as other files",
    ("ucx", "-o"): "needs UCX; it is written as other files",
    ("ucx", "--json"): "needs UCX; it is written as other files",
    ("tune nccl", "-o"): "needs runs of nccl-tests; it is written as other files",
    ("tune nccl", "--json"): "needs runs of nccl-tests; it is written as other files",
    ("trace", "-o"): "a folder, into which the ranks write",
    ("check-tuning", "--json"): "needs an MPI; it is written as other files",
    ("tune", "--samples"): "needs an MPI; tests/unit/test_file_lock.py has it",
}

RUN_ALL = """
import contextlib, io, json, os, sys
from chiplog.cli import main
disk, commands = sys.argv[1], json.load(sys.stdin)
for one in commands:
    if one["old"]:
        with open(one["old"], "w") as file:
            file.write(one["content"])
with contextlib.suppress(OSError), open(os.path.join(disk, "filler"), "wb", 0) as filler:
    while True:
        filler.write(bytes(4096))
before, found = set(os.listdir(disk)), []
for one in commands:
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = main(one["arguments"])
    old = None
    if one["old"]:
        with open(one["old"]) as file:
            old = file.read()
    left = [name for folder, _, names in os.walk(disk) for name in names if name.endswith(".tmp")]
    found.append({"code": code, "said": said.getvalue(), "old": old, "left": left})
print(json.dumps({"found": found, "new": sorted(set(os.listdir(disk)) - before)}))
"""


def namespace_with(disk: Path) -> list[str]:
    """What runs a command where `disk` is a small file system of its own; skips where that may not be."""
    unshare = shutil.which("unshare")
    script = f'mount -t tmpfs -o size=256k tmpfs "{disk}" && exec "$@"'
    command = [str(unshare), "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
    if unshare is None or subprocess.run([*command, "true"], capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here, in a user namespace or as root")
    return command


def commands(at: Inputs, room: Path, disk: Path) -> dict[tuple[str, str], list[list[object]]]:
    """For each output of each command: calls that write it to OUT."""
    fits = ["fit", at.run]
    calibrated, trace = at.calibrated(room / "machine"), ring_trace(room / "trace")
    ring = ["simulate", at.goal, "--L", 1, "--o", 1, "--g", 1, "--G", 1]
    predict = ["predict", at.model, "barrier", "--ranks", 4, "--anyway"]
    tune = ["tune", at.model, "--for", "chiplog", "--ranks", 4, "--anyway"]
    lint = ["tune", "lint", at.rules, "--for", "openmpi", "--version", "4.1.4"]
    return {
        ("measure", "-o"): [["measure", SIM, "--sizes", 8, "-o", disk / "new.jsonl"]],
        ("measure", "--json"): [
            ["measure", SIM, "--sizes", 8, "-o", room / "r.jsonl", "--json", "OUT"],
            ["measure", SIM, "--dry-run", "--json", "OUT"],
        ],
        ("survey", "-o"): [["survey", SIM, "-o", disk / "survey"]],
        ("survey", "--json"): [["survey", SIM, "-o", room / "survey", "--json", "OUT"]],
        ("survey verdict", "-o"): [["survey", "verdict", at.survey, "--to", "nhc", "-o", "OUT"]],
        ("survey verdict", "--json"): [["survey", "verdict", at.survey, "--json", "OUT"]],
        ("history", "--json"): [["history", at.history, "--json", "OUT"]],
        ("import", "-o"): [["import", "csv", at.csv, "-o", "OUT"]],
        ("fit", "-o"): [[*fits, "-o", "OUT"]],
        ("fit", "--json"): [[*fits, "--json", "OUT"]],
        ("changes", "--json"): [["changes", at.run, "--json", "OUT"]],
        ("compare", "--json"): [["compare", at.run, "--models", "hockney", "--json", "OUT"]],
        ("predict", "--json"): [[*predict, "--json", "OUT"]],
        ("predict", "--report"): [[*predict, "--report", "OUT.html"]],
        ("app", "--json"): [["app", trace, "--json", "OUT"]],
        ("app", "--report"): [["app", trace, "--report", "OUT.md"]],
        ("calibrate", "-o"): [["calibrate", calibrated, "--anyway", "-o", "OUT"]],
        ("calibrate", "--json"): [
            ["calibrate", calibrated, "--anyway", "-o", room / "errors.json", "--json", "OUT"]
        ],
        ("schedule", "-o"): [
            ["schedule", "barrier", "--algorithm", "linear", "--ranks", 9, "-o", "OUT"]
        ],
        ("simulate", "--json"): [[*ring, "--json", "OUT"]],
        ("simulate", "--trace"): [[*ring, "--trace", "OUT"]],
        ("simulate", "--report"): [[*ring, "--report", "OUT.md"]],
        ("tune", "-o"): [[*tune, "-o", "OUT"]],
        ("tune", "--json"): [[*tune, "-o", room / "tuning", "--json", "OUT"]],
        ("tune lint", "--json"): [[*lint, "--json", "OUT"]],
        ("export", "-o"): [
            ["export", source, "--anyway", "--to", to, "-o", "OUT"]
            for to, source in [("csv", at.run), ("parquet", at.run), ("loggopsim", at.model)]
        ],
        ("report", "-o"): [["report", at.run, "-o", f"OUT.{kind}"] for kind in ("html", "md")],
        ("share", "-o"): [["share", at.model, "--name", "one", "-o", "OUT"]],
        ("list", "--json"): [["list", "models", "--json", "OUT"]],
        ("probe list", "--json"): [["probe", "list", "--json", "OUT"]],
        ("doctor", "--json"): [["doctor", "--json", "OUT"]],
    }


def test_a_full_disk_costs_no_old_file(tmp_path: Path) -> None:
    disk, room = tmp_path / "disk", tmp_path / "room"
    disk.mkdir(), room.mkdir()
    inside = namespace_with(disk)
    at = Inputs(tmp_path / "inputs")
    from chiplog.run_history.write import add_survey

    add_survey(at.survey, at.history)
    known = commands(at, room, disk)
    outputs = {
        (name, one)
        for name, option in options()
        for one in OUTPUTS & {*option.opts}
        if option.type.name != "integer"
    }
    assert outputs == {*known, *ELSEWHERE}
    asked = []
    for number, call in enumerate(call for calls in known.values() for call in calls):
        words = [str(word).replace("OUT", str(disk / f"{number}")) for word in call]
        old = next((word for word in words if word.startswith(str(disk / f"{number}"))), None)
        asked.append({"arguments": words, "old": old, "content": OLD})
    script = [*inside, sys.executable, "-c", RUN_ALL, str(disk)]
    done = subprocess.run(
        script,
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "COLUMNS": "80"},
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["new"] in ([], ["survey"])
    for one, found in zip(asked, answer["found"], strict=True):
        said = [line for line in found["said"].splitlines() if "can't be written" in line]
        assert found["code"] == 1, (one, found)
        assert len(said) == 1 and f"the file system at {disk} is full" in said[0], (one, found)
        assert "Traceback" not in found["said"] and not found["left"], (one, found)
        assert found["old"] == (OLD if one["old"] else None), (one, found)


def test_a_full_standard_output_is_said() -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    command = [sys.executable, "-m", "chiplog", "list", "models"]
    for more in ([], ["--json", "-"], ["--json", "/dev/stdout"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([*command, *more], stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 1
        (line,) = done.stderr.splitlines()
        assert "can't be written: No space left on device" in line
