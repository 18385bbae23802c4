"""What a shell asks for is answered: the script by which it asks, and how a line may go on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    ("line", "place", "expected"),
    [
        ("chiplog meas", "1", ["measure"]),
        ("chiplog measure --budg", "2", ["--budget"]),
        ("chiplog probe li", "2", ["list"]),
        ("chiplog tune li", "2", ["lint"]),
        ("chiplog survey v", "2", ["verdict"]),
        ("chiplog history a", "2", ["add"]),
        ("chiplog tune lint --fo", "3", ["--for"]),
    ],
)
def test_bash_is_told_how_a_line_goes_on(
    tmp_path: Path, line: str, place: str, expected: list[str]
) -> None:
    done = answer(
        _CHIPLOG_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=place, cwd=tmp_path
    )
    assert done.stdout.split() == expected, done.stderr


def test_the_script_for_bash_asks_in_the_way_that_is_answered() -> None:
    script = answer(_CHIPLOG_COMPLETE="source_bash").stdout
    asking = (
        f"PATH={CHIPLOG.parent}:$PATH\n{script}\n"
        "COMP_WORDS=(chiplog surv); COMP_CWORD=1; _chiplog_completion chiplog; echo ${COMPREPLY[@]}"
    )
    done = subprocess.run(
        ["bash", "-c", asking], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.split() == ["survey"], done.stderr


def test_commands_below_are_offered_beside_files(tmp_path: Path) -> None:
    (tmp_path / "model.json").touch()
    (tmp_path / "models").mkdir()
    asked = {"_CHIPLOG_COMPLETE": "complete_bash", "COMP_CWORD": "2"}
    everything = answer(COMP_WORDS="chiplog tune ", cwd=tmp_path, **asked)
    assert everything.stdout.split() == ["lint", "model.json", "models/"], everything.stderr
    begun = answer(COMP_WORDS=f"chiplog tune {tmp_path}/model.", **asked)
    assert begun.stdout.split() == [f"{tmp_path}/model.json"], begun.stderr
