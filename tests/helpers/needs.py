"""What tests need from outside: programs, data, the probe. A test skips where it can't have it, with the reason."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent.parent


def missing(what: str, remedy: str) -> NoReturn:
    """Skip because `what` is missing; with CI=true a missing package is a failure."""
    sentence = f"{what} is missing ({remedy})"
    if os.environ.get("CI") == "true":
        pytest.fail(f"{sentence}, and with CI=true nothing may be skipped for that", pytrace=False)
    pytest.skip(sentence)


def require_command(name: str, package: str) -> Path:
    """The path of a program; without it the test is skipped, naming the Debian package that has it."""
    path = shutil.which(name)
    if path is None:
        missing(name, f"apt-get install {package}")
    return Path(path)


def require_data(name: str) -> Path:
    """A file of the real data beside the repository (or in $CHIPLOG_DATA); skipped where there is none."""
    directory = Path(os.environ.get("CHIPLOG_DATA", REPOSITORY / "../shared/data"))
    path = directory / name
    if not path.exists():
        pytest.skip(f"the real data are not here: no {name} (set CHIPLOG_DATA to their directory)")
    return path


def processes_named(word: str) -> list[int]:
    """The ids of living processes with `word` in their command line, zombies left out."""
    listing = subprocess.run(
        ["ps", "-ww", "-eo", "pid=,stat=,args="], capture_output=True, text=True, check=True
    ).stdout
    found = []
    for line in listing.splitlines():
        number, state, command = line.split(None, 2)
        if word in command and not state.startswith("Z") and int(number) != os.getpid():
            found.append(int(number))
    return found
