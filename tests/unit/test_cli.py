"""The command line without a probe: help, versions, plans, lists, JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from all_commands import arguments

import chiplog
from chiplog.cli import main
from chiplog.cli.app import BELOW, COMMANDS, app_for
from chiplog.cli.measure import PointOptions
from chiplog.errors import UsageError
from chiplog.plan.plan import DEFAULT_VISITS

WORDS = [
    *((name,) for name in COMMANDS),
    ("library", "build"),
    ("probe", "build"),
    ("probe", "list"),
]


@pytest.mark.parametrize("words", WORDS)
def test_every_command_explains_itself(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--help"]) == 0
    assert "Usage: " in capsys.readouterr().out


def test_every_argument_of_a_command_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    explained = {(command, option.name) for command, option in arguments() if option.help}
    assert {(command, option.name) for command, option in arguments()} == explained
    assert main(["fit", "--help"]) == 0
    assert "RUN  A run file (.jsonl).  [required]" in capsys.readouterr().out


@pytest.mark.parametrize("words", [*((name,) for name in COMMANDS), *BELOW])
def test_the_list_of_commands_says_what_the_command_says(words: tuple[str, ...]) -> None:
    command = app_for(words)
    for word in words:
        command = command.commands[word]
    summary = COMMANDS[words[0]][1] if len(words) == 1 else BELOW[words][1]
    assert command.help.partition("\n")[0] == summary


def test_a_command_after_two_dashes_runs_as_one_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "models"]) == 0
    alone = capsys.readouterr().out
    assert main(["--", "list", "models"]) == 0
    assert capsys.readouterr().out == alone


def test_help_is_a_command_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help"]) == 0
    shown = capsys.readouterr().out
    assert "Commands:" in shown
    assert "chiplog help COMMAND" in shown
    for words in (["fit"], ["tune", "lint"], ["probe", "build"]):
        assert main([*words, "--help"]) == 0
        asked = capsys.readouterr().out
        assert main(["help", *words]) == 0
        assert capsys.readouterr().out == asked
    assert main(["help", "dance"]) == 2
    assert "dance" in capsys.readouterr().err


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"chiplog {chiplog.__version__}\n"


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["measure", "--help"]])
def test_help_and_version_load_neither_numerics_nor_plans(words: list[str]) -> None:
    script = (
        "import sys; from chiplog.cli import main; main(sys.argv[1:]); "
        "heavy = {'numpy', 'scipy', 'rich', 'pyarrow', 'chiplog.plan'} & set(sys.modules); "
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_default_visits_of_the_command_are_those_of_a_plan() -> None:
    assert PointOptions().visits == DEFAULT_VISITS


def test_ranks_start_before_numerics_are_loaded() -> None:
    script = (
        "import sys; import chiplog.jobs.measure; "
        "heavy = {'numpy', 'scipy', 'rich', 'pyarrow'} & set(sys.modules); "
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_dry_run_tells_the_plan_and_its_cost_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHIPLOG_PROBE", "/no/such/probe")
    assert main(["measure", "tcp", "--sizes", "1:64KiB", "--dry-run", "--json", "-"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["predicted"]["seconds"] > 0
    assert plan["predicted"]["bytes"] > 2**16
    assert plan["records"] == len(plan["points"])
    assert main(["measure", "tcp", "--sizes", "1:64KiB", "--dry-run"]) == 0
    assert "predicted" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("what", ["models", "patterns", "operations", "methods"])
def test_lists_are_not_empty_and_their_json_has_the_same_names(
    what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", what]) == 0
    shown = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert main(["list", what, "--json", "-"]) == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)[what]] == shown
    assert shown


def test_the_list_of_transports_has_all_with_the_operations_of_each(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["list", "transports"]) == 0
    shown = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert {"sim", "shm", "cma", "unix", "tcp", "udp", "ofi", "ucx", "verbs", "mpi"} <= set(shown)
    assert "operations send, rdma-write, rdma-read, atomic; posting normal" in shown["shm"]
    assert "operations send; posting normal" in shown["tcp"]
    assert main(["list", "transports", "--json", "-"]) == 0
    listed = json.loads(capsys.readouterr().out)["transports"]
    members = {one["name"]: one for one in listed}
    assert members["mpi"]["operations"] == ["send", "rdma-write", "rdma-read", "atomic"]
    assert members["tcp"]["postings"] == ["normal"]


def test_an_unwritable_json_file_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "models", "--json", "/no/such/directory/x"]) == 1
    assert "/no/such/directory/x" in capsys.readouterr().err


def test_run_is_a_function_of_the_package() -> None:
    with pytest.raises(UsageError, match=r"^sizes: "):
        chiplog.run(["sim"], sizes="8:4")
