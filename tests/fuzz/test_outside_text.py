"""Numbers, times and texts of every kind, in each option of each command and in each reader: never a traceback.

A short part by default; CHIPLOG_FUZZ_SECONDS=N goes on for so long with each of the two, and says how many it tried.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from chiplog.cli import main
from chiplog.cli.app import BELOW, COMMANDS, GROUPS, app_for
from chiplog.dataset.importers import import_file
from chiplog.dataset.lines import Where, encode_line, parse_json
from chiplog.dataset.run_file import read_run
from chiplog.errors import ChiplogError, RunFailed
from chiplog.fitting.model_file import fits_to_json, json_text, read_model
from chiplog.fitting.result import Fit
from chiplog.jobs.pair_classes import read_fitted_classes
from chiplog.machine_survey.job import ranks_of
from chiplog.machine_survey.topology import read_topology
from chiplog.schedule.goal import read_goal
from chiplog.simulation.noise_text import read_detours
from chiplog.tune.formats.one_radix import read_lines
from chiplog.tune.measured.raw_file import read_samples

SECONDS = float(os.environ.get("CHIPLOG_FUZZ_SECONDS", "0"))
SEED = int(os.environ.get("CHIPLOG_TEST_SEED", "0"))
OPTIONS, FILES = 120, 1500
"""Inputs of the short part."""
VALUES = (
    *("", "0", "-1", "1", "1e400", "1e999", "-1e999", "nan", "inf", "9" * 5000, "1" + "0" * 400),
    *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-01-01", "\udcff", "\u0663"),
    *("1_0", "0x10", "1e-400", "64KiB", "1:2:3", "1:9" + "9" * 30, "a,b", "[", "[/red]", "\x1b[2J"),
    *("slower:1e999%", "exponential:1e999us", "message_bytes>" + "9" * 400, "-" * 70, "%s%n"),
)
"""What options and fields are given; a short one is tried more often than others."""
RUNS = (
    *("run", "measure", "survey", "bench", "tune", "check-tuning", "trace", "probe", "library"),
    "doctor",
)
"""Commands that start programs or look at the machine: nothing is started here."""


def inputs(least: int) -> Iterator[random.Random]:
    """As many sources of chance as the short part has, or as the time allows."""
    end = time.monotonic() + SECONDS
    tried = 0
    for number in count():
        if number >= least and time.monotonic() >= end:
            break
        tried += 1
        yield random.Random(f"{SEED}.{number}")
    print(f"{tried} inputs")


@pytest.fixture
def no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RunFailed("nothing is started here.")

    for name in ("subprocess.Popen", "subprocess.run", "chiplog.measurement.session.ProcessGroup"):
        monkeypatch.setattr(name, refuse)


@pytest.fixture
def no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that is no text, in the current folder."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "file"
    file.write_bytes(b"\xff")
    return file


def commands() -> list[tuple[tuple[str, ...], Any]]:
    """The words of each command, and the command."""
    found = []
    for words in [*((name,) for name in (*COMMANDS, *GROUPS)), *BELOW]:
        command = app_for(list(words))
        for word in words:
            command = getattr(command, "commands", {}).get(word, command)
        below = getattr(command, "commands", {})
        found += [((*words, name), one) for name, one in below.items()] or [(words, command)]
    return found


def line_of(words: tuple[str, ...], command: Any, chance: random.Random, file: Path) -> list[str]:
    line = list(words)
    for one in command.params:
        if one.param_type_name == "argument" and (one.required or chance.random() < 0.5):
            line.append(chance.choice([str(file), *VALUES]))
        elif one.param_type_name == "option" and chance.random() < 0.4 and one.name != "help":
            flag = chance.choice(one.opts)
            line += [flag] if one.is_flag else [f"{flag}={chance.choice(VALUES)}"]
    return line


def test_no_value_of_any_option_ends_in_a_traceback(
    no_programs: None,
    no_text: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    every = [one for one in commands() if one[0][0] not in RUNS or "sizes" in str(one[1].params)]
    for chance in inputs(OPTIONS):
        words, command = chance.choice(every)
        line = line_of(words, command, chance, no_text)
        monkeypatch.setenv("SLURM_NTASKS", chance.choice(VALUES).replace("\udcff", ""))
        assert main(line) in range(6), line
        said = capsys.readouterr()
        assert "Traceback" not in said.err, line


def test_no_number_below_zero_ends_in_a_traceback(
    no_programs: None, no_text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each option that takes a number, alone: what others are given hides nothing."""
    for words, command in commands():
        if words[0] in RUNS and "sizes" not in str(command.params):
            continue
        required = [
            str(no_text)
            for each in command.params
            if each.param_type_name == "argument" and each.required
        ]
        for option in command.params:
            if option.type.name in ("integer", "float"):
                line = [*words, *required, f"{option.opts[0]}=-1"]
                assert main(line) in range(6), line
                assert "Traceback" not in capsys.readouterr().err, line


def resealed(content: bytes) -> bytes:
    """The lines with the checksums of what they say now."""
    lines = []
    for line in content.splitlines():
        try:
            members = parse_json(line, Where("line"))
            lines.append(encode_line(members) if isinstance(members, dict) else line + b"\n")
        except (ChiplogError, ValueError):
            lines.append(line + b"\n")
    return b"".join(lines)


def changed(content: bytes, chance: random.Random) -> bytes:
    """With some words, numbers or bytes replaced."""
    for _ in range(chance.randrange(1, 4)):
        kind = chance.random()
        words = list(re.finditer(rb"-?[0-9][0-9.eE+-]*|[A-Za-z_]+|true|null|\[|\{", content))
        if kind < 0.8 and words:
            one = chance.choice(words)
            value = chance.choice((*VALUES, "null", '"x"', "[" * 2000, "{}", "true"))
            content = (
                content[: one.start()]
                + value.encode("utf-8", "surrogateescape")
                + content[one.end() :]
            )
        elif content:
            place = chance.randrange(len(content))
            content = content[:place] + bytes([chance.randrange(256)]) + content[place + 1 :]
    return content


@pytest.fixture(scope="module")
def seeds(
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, tuple[Callable[[Path], object], bytes]]:
    folder = tmp_path_factory.mktemp("seeds")
    table = folder / "table.csv"
    rows = "".join(
        f"ping_pong,{size},{1e-6 + size * 1e-9}\n" for size in (1, 8, 64, 512) for _ in range(3)
    )
    table.write_text(f"pattern,message_bytes,seconds\n{rows}")
    run = import_file("csv", table, folder / "run.jsonl", direction="round-trip")
    fits: list[Fit] = list(import_module("chiplog.fitting.fit").fit(read_run(run), ("hockney",)))
    goal = (
        b"num_ranks 2\nrank 0 {\nl1: calc 5\nl2: send 8b to 1 tag 3\nl2 requires l1\n}\n"
        b"rank 1 {\nl1: recv 8b from 0 tag 3\n}\n"
    )
    (folder / "two.goal").write_bytes(goal)
    schedule = read_goal(folder / "two.goal")
    samples = b"".join(
        encode_line(one)
        for one in ({"type": "header", "schema": "chiplog.tune-samples/2"}, {"type": "footer"})
    )
    return {
        "run": (read_run, run.read_bytes()),
        "model": (read_model, json_text(fits_to_json(fits)).encode()),
        "goal": (read_goal, goal),
        "detours": (read_detours, b"# Measurement period: 1.5 s\n10 5\n20 5\n"),
        "topology": (read_topology, b"SwitchName=s1 Nodes=n[1-4]\nSwitchName=s2 Switches=s1\n"),
        "settings": (read_lines, b"A=1\nB=2\n"),
        "samples": (read_samples, samples),
        "pairs": (
            lambda path: read_fitted_classes(path, schedule),
            b'{"classes": [{"L": 1, "o": 2, "g": 3, "G": 0.5}, {"L": 2, "o": 2, "g": 3, "G": 1}], '
            b'"ranks_per_group": 1}',
        ),
        "csv": (
            lambda path: import_file("csv", path, folder / "out.jsonl", direction="one-way"),
            table.read_bytes(),
        ),
        "launcher": (lambda path: ranks_of("srun -N " + path.read_text(errors="replace")), b"32"),
    }


def sentence_of(read: Callable[[Path], object], path: Path) -> str:
    """With what a file is refused; empty where it is read. Other errors pass."""
    try:
        read(path)
    except ChiplogError as error:
        return str(error)
    return ""


def test_no_number_in_any_file_ends_in_a_traceback(
    seeds: dict[str, tuple[Callable[[Path], object], bytes]], tmp_path: Path
) -> None:
    names = list(seeds)
    for chance in inputs(FILES):
        read, content = seeds[chance.choice(names)]
        content = changed(content, chance)
        if b'"crc32"' in content and chance.random() < 0.9:
            content = resealed(content)
        path = tmp_path / "file"
        path.write_bytes(content)
        sentence = sentence_of(read, path)
        assert "\n" not in sentence and len(sentence) < 1000
