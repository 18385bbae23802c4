"""`chiplog.toml`: defaults of options, above the command's own and below what is typed."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest
from all_commands import options

from chiplog.cli import main
from chiplog.cli.configured import parameter_name
from chiplog.configuration import KEYS
from chiplog.dataset.run_file import read_run

RUN = ("measure", "sim", "--sizes", "1,64", "--visits", "1", "--no-refine", "-o")


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, and an empty home of configurations."""
    monkeypatch.delenv("CHIPLOG_CONFIG")
    monkeypatch.delenv("CHIPLOG_RENDEZVOUS", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "chiplog").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def of_user(folders: Path) -> Path:
    return folders / "home" / "chiplog" / "chiplog.toml"


def in_force(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["--print-config"]) == 0
    return capsys.readouterr().out


def test_keys_are_options_of_their_commands() -> None:
    have: dict[str, set[str]] = {}
    for command, parameter in options():
        have.setdefault(command, set()).add(parameter.name)
    for command, keys in KEYS.items():
        names = {parameter_name(command, key) for key in keys if key != "targets"}
        assert names <= have[command], command
    for key in ("launcher", "rendezvous", "budget"):
        takers = {command for command, names in have.items() if key in names}
        assert takers - {"tune lint"} <= {command for command in KEYS if key in KEYS[command]}


def test_without_a_file_the_defaults_are_the_commands(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = in_force(capsys)
    assert "# launcher: none" in shown
    assert "budget = 600.0  # default" in shown
    assert set(tomllib.loads(shown)) == set(KEYS)


def test_what_is_printed_says_the_same_as_a_file(
    folders: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    of_user(folders).write_text('mpi = "mpicxx"\n[run]\nbudget = 60\n')
    Path("chiplog.toml").write_text('[run]\ntargets = ["shm"]\nbudget = 20\n')
    shown = in_force(capsys)
    run = shown.partition("[measure]")[0]
    assert "budget = 20  # chiplog.toml" in run
    assert 'targets = ["shm"]  # chiplog.toml' in run
    assert f'mpi = "mpicxx"  # {of_user(folders)}' in run
    Path("chiplog.toml").write_text(shown)
    of_user(folders).unlink()
    assert tomllib.loads(in_force(capsys)) == tomllib.loads(shown)


def test_a_command_takes_what_nobody_typed_says_so_and_keeps_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("chiplog.toml").write_text("[measure]\nbudget = 3\n")
    assert main([*RUN, "taken.jsonl"]) == 0
    assert "chiplog: from chiplog.toml: --budget 3\n" in capsys.readouterr().err
    header = read_run("taken.jsonl").header
    assert header["configuration"] == {"budget": {"value": 3, "from": "chiplog.toml"}}
    assert main([*RUN, "typed.jsonl", "--budget", "4"]) == 0
    assert "from chiplog.toml" not in capsys.readouterr().err
    assert "configuration" not in read_run("typed.jsonl").header


def test_targets_are_those_of_the_file_where_none_is_typed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("chiplog.toml").write_text('[run]\ntargets = ["pigeon"]\nbudget = 5\n')
    assert main(["run"]) == 2
    said = capsys.readouterr().err
    assert "from chiplog.toml: --budget 5 pigeon" in said
    assert "there is no transport 'pigeon'" in said
    assert main(["run", "parrot"]) == 2
    said = capsys.readouterr().err
    assert "from chiplog.toml: --budget 5\n" in said and "'parrot'" in said


def test_a_variable_stands_above_the_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("chiplog.toml").write_text('rendezvous = "here:1"\n')
    assert 'rendezvous = "here:1"  # chiplog.toml' in in_force(capsys)
    monkeypatch.setenv("CHIPLOG_RENDEZVOUS", "there:2")
    assert 'rendezvous = "there:2"  # $CHIPLOG_RENDEZVOUS' in in_force(capsys)


def test_one_file_can_be_named_or_none(
    folders: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("chiplog.toml").write_text('mpi = "here"\n')
    named = folders / "named.toml"
    named.write_text('mpi = "named"\n')
    monkeypatch.setenv("CHIPLOG_CONFIG", str(named))
    assert f'mpi = "named"  # {named}' in in_force(capsys)
    monkeypatch.setenv("CHIPLOG_CONFIG", "")
    assert "mpi =" not in in_force(capsys)
    monkeypatch.setenv("CHIPLOG_CONFIG", "nowhere.toml")
    assert main(["--print-config"]) == 2
    assert "nowhere.toml" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("launcher =", "is not TOML"),
        ("colour = 1", "no key colour; it accepts launcher, mpi, rendezvous, budget, targets, run"),
        ("run = 1", "write [run]"),
        ("[run]\ncolour = 1", "no key colour in [run]; it accepts launcher"),
        ("[bench]\ntargets = []", "no key targets in [bench]"),
        ("launcher = 5", "launcher is '5'; it accepts a command"),
        ('launcher = " "', "it accepts a command"),
        ("[run]\nbudget = 0", "run.budget is '0'; it accepts seconds above 0"),
        ("budget = true", "seconds above 0"),
        ("budget = nan", "seconds above 0"),
        ("budget = inf", "seconds above 0"),
        ('budget = "20"', "seconds above 0"),
        ('targets = "shm"', "a list of targets"),
        ("targets = []", "a list of targets"),
        ("targets = [1]", "a list of targets"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    content: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("chiplog.toml").write_text(content + "\n")
    for command in (["--print-config"], [*RUN, "run.jsonl"]):
        assert main(command) == 2
        said = capsys.readouterr().err
        assert said.startswith("chiplog: chiplog.toml") and words in said
        assert len(said.splitlines()) == 1
    assert not Path("run.jsonl").exists()


def test_a_command_that_takes_nothing_from_files_reads_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("chiplog.toml").write_text("colour = 1\n")
    assert main(["list", "models", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["models"]


def test_a_file_of_another_user_is_refused_until_it_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("chiplog.toml").write_text('launcher = "srun"\n')
    owner = os.stat("chiplog.toml").st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    if owner != 0:
        assert main(["--print-config"]) == 2
        assert "belongs to another user" in capsys.readouterr().err
    monkeypatch.setenv("CHIPLOG_CONFIG", "chiplog.toml")
    assert 'launcher = "srun"' in in_force(capsys)
