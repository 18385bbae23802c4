"""What a shell asks for is answered: the script by which it asks, and how a line may go on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHIPLOG = Path(sys.executable).with_name("chiplog")


def answer(**variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(CHIPLOG)],
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
    ],
)
def test_bash_is_told_how_a_line_goes_on(line: str, place: str, expected: list[str]) -> None:
    done = answer(_CHIPLOG_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=place)
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
