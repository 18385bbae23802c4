"""What a shell asks for is answered: the script by which it asks, and how a line may go on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from all_commands import arguments, options

from chiplog.cli.completion import VALUES

CHIPLOG = Path(sys.executable).with_name("chiplog")


def answer(cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(CHIPLOG)],
        cwd=cwd,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def offered(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What bash and fish are told: lines of a kind, a comma and a word."""
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize(
    ("line", "place", "expected"),
    [
        ("chiplog meas", "1", ["measure"]),
        ("chiplog measure --budg", "2", ["--budget"]),
        ("chiplog probe li", "2", ["list"]),
        ("chiplog tune li", "2", ["lint"]),
        ("chiplog survey v", "2", ["verdict", "verbs"]),
        ("chiplog history a", "2", ["add"]),
        ("chiplog tune lint --fo", "3", ["--for"]),
        ("chiplog tune lint --for o", "4", ["openmpi"]),
        ("chiplog measure tc", "2", ["tcp"]),
        ("chiplog measure tcp --pattern prtt,fl", "4", ["prtt,flood"]),
        ("chiplog fit run.jsonl --model ho", "4", ["hockney"]),
        ("chiplog list tr", "2", ["transports"]),
        ("chiplog import imb --direction o", "4", ["one-way"]),
        ("chiplog predict model.json allr", "3", ["allreduce"]),
        ("chiplog predict model.json allreduce --algorithm rec", "5", ["recursive-doubling"]),
        ("chiplog export run.jsonl --to par", "4", ["parquet"]),
    ],
)
def test_bash_is_told_how_a_line_goes_on(
    tmp_path: Path, line: str, place: str, expected: list[str]
) -> None:
    done = answer(
        _CHIPLOG_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=place, cwd=tmp_path
    )
    assert offered(done) == expected, done.stderr


def test_the_script_for_bash_asks_in_the_way_that_is_answered() -> None:
    script = answer(_CHIPLOG_COMPLETE="bash_source").stdout
    asking = (
        f"PATH={CHIPLOG.parent}:$PATH\n{script}\n"
        "COMP_WORDS=(chiplog surv); COMP_CWORD=1; _chiplog_completion chiplog; echo ${COMPREPLY[@]}"
    )
    done = subprocess.run(
        ["bash", "-c", asking], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.split() == ["survey"], done.stderr


def test_every_list_of_values_belongs_to_a_parameter_that_there_is() -> None:
    parameters = set()
    for command, parameter in (*options(), *arguments()):
        names = (*parameter.opts, parameter.name)
        parameters |= {(command.split()[-1], name) for name in names}
    assert set(VALUES) <= parameters


def test_files_are_offered_by_kind(tmp_path: Path) -> None:
    for name in ("run.jsonl", "model.json", "notes.txt", "ring.goal"):
        (tmp_path / name).touch()
    (tmp_path / "folder").mkdir()
    asked = {"_CHIPLOG_COMPLETE": "bash_complete", "COMP_CWORD": "2"}
    words = {
        command: offered(answer(COMP_WORDS=f"chiplog {command} ", cwd=tmp_path, **asked))
        for command in ("fit", "predict", "simulate")
    }
    assert words["fit"] == ["folder/", "run.jsonl"]
    assert words["predict"] == ["folder/", "model.json"]
    assert words["simulate"] == ["folder/", "ring.goal"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_script_of_a_shell_is_understood_by_it(shell: str, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if program is None:  # users of chiplog may have other shells, so CI may skip this, too
        pytest.skip(f"{shell} is missing (apt-get install {shell})")
    script = tmp_path / f"chiplog.{shell}"
    script.write_text(answer(_CHIPLOG_COMPLETE=f"{shell}_source").stdout)
    assert f"{shell}_complete" in script.read_text()
    subprocess.run([program, "-n", script], check=True, timeout=60)


@pytest.mark.parametrize(("shell", "place"), [("zsh", "4"), ("fish", "max-rate-m")])
def test_other_shells_are_told_how_a_line_goes_on(shell: str, place: str) -> None:
    line = "chiplog fit run.jsonl --model max-rate-m"
    done = answer(_CHIPLOG_COMPLETE=f"{shell}_complete", COMP_WORDS=line, COMP_CWORD=place)
    assert "max-rate-modified" in done.stdout, done.stderr


def test_fish_takes_a_list_whole() -> None:
    assert 'string split --max 1 ","' in answer(_CHIPLOG_COMPLETE="fish_source").stdout


def test_a_shell_that_asks_otherwise_is_told_how_to_ask() -> None:
    done = answer(_CHIPLOG_COMPLETE="source_bash")
    assert done.returncode == 2
    assert "it accepts bash_source, zsh_source, fish_source" in done.stderr


def test_commands_below_are_offered_beside_files(tmp_path: Path) -> None:
    (tmp_path / "model.json").touch()
    (tmp_path / "models").mkdir()
    asked = {"_CHIPLOG_COMPLETE": "bash_complete", "COMP_CWORD": "2"}
    everything = answer(COMP_WORDS="chiplog tune ", cwd=tmp_path, **asked)
    assert offered(everything) == ["lint", "nccl", "model.json", "models/"], everything.stderr
    begun = answer(COMP_WORDS=f"chiplog tune {tmp_path}/model.", **asked)
    assert offered(begun) == [f"{tmp_path}/model.json"], begun.stderr
