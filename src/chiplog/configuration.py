"""`chiplog.toml`: defaults of the command line's options, and which file each of them comes from.

A key outside of tables holds for each command that has the option, a key in a command's table for that command. The
file of the working folder stands above the user's; what is typed, and an environment variable, stand above both.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chiplog.errors import UsageError
from chiplog.input_file import read_text

NAME = "chiplog.toml"
ONE_FILE = "CHIPLOG_CONFIG"
"""Names the one file that is read, or none where it is empty."""
MOST_BYTES = 1 << 20
STARTING = ("launcher", "mpi")
MEETING = (*STARTING, "rendezvous", "budget")
KEYS = {
    "run": (*MEETING, "targets"),
    "measure": MEETING,
    "survey": MEETING,
    "bench": (*STARTING, "budget"),
    "tune": (*STARTING, "budget"),
    "check-tuning": STARTING,
    "ucx": ("launcher", "rendezvous"),
}
"""By command, the options that may have a default in a file."""
ACCEPTS = {
    "launcher": 'a command, e.g. "srun -N 2"',
    "mpi": 'a C++ compiler of an MPI, e.g. "mpicxx"',
    "rendezvous": 'HOST:PORT, e.g. "10.0.0.1:7000"',
    "budget": "seconds above 0, e.g. 60",
    "targets": 'a list of targets, e.g. ["shm", "tcp"]',
}
VARIABLES = {"rendezvous": "CHIPLOG_RENDEZVOUS"}
"""By key, the environment variable that stands above the files."""


@dataclass(frozen=True)
class Setting:
    """A default, and where it comes from."""

    value: Any
    source: str


TAKEN: ContextVar[Mapping[str, Setting]] = ContextVar("TAKEN")
"""What the command that runs took from files."""


def taken() -> Mapping[str, Setting]:
    """What the command that runs took from files, by key."""
    return TAKEN.get({})


def as_member() -> dict[str, Any]:
    """What was taken as a member of a record's header; nothing where nothing was."""
    found = {key: {"value": it.value, "from": it.source} for key, it in taken().items()}
    return {"configuration": found} if found else {}


def settings_of(command: str) -> dict[str, Setting]:
    """The defaults of a command's options by key; UsageError where a file is not understood."""
    found: dict[str, Setting] = {}
    for path in _files():
        content = _read(path)
        for table in (content, content.get(command, {})):
            for key in KEYS.get(command, ()):
                if key in table and not os.environ.get(VARIABLES.get(key, "")):
                    found[key] = Setting(table[key], str(path))
    return found


def _files() -> list[Path]:
    """The files that are there, the weakest first; UsageError where another user may decide what is run."""
    named = os.environ.get(ONE_FILE)
    if named is not None:
        return [Path(named)] if named else []
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    here = Path(NAME)
    if here.is_file() and here.stat().st_uid not in (os.geteuid(), 0):
        raise UsageError(
            f"{here} in this folder belongs to another user, and its launcher would run as you: "
            f"take it with {ONE_FILE}={here} before the command, or leave it out with {ONE_FILE}= there."
        )
    return [path for path in (Path(home, "chiplog", NAME), here) if path.is_file()]


def _read(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        content = tomllib.loads(read_text(path, MOST_BYTES))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not TOML: {error}.") from error
    for key, value in content.items():
        if key in ACCEPTS:
            _check(path, key, value)
        elif key not in KEYS:
            raise UsageError(
                f"{path}: there is no key {key}; it accepts {_listed(*ACCEPTS, *KEYS)}."
            )
        elif not isinstance(value, dict):
            raise UsageError(f"{path}: {key} is no table; write [{key}] above its keys.")
        else:
            _check_table(path, key, value)
    return content


def _check_table(path: Path, command: str, table: Mapping[str, Any]) -> None:
    for key, value in table.items():
        if key not in KEYS[command]:
            raise UsageError(
                f"{path}: there is no key {key} in [{command}]; it accepts {_listed(*KEYS[command])}."
            )
        _check(path, f"{command}.{key}", value)


def _check(path: Path, place: str, value: object) -> None:
    key = place.rpartition(".")[2]
    if key == "budget":
        is_right = (
            isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf
        )
    elif key == "targets":
        is_right = isinstance(value, list) and bool(value) and all(map(_is_text, value))
    else:
        is_right = _is_text(value)
    if not is_right:
        raise UsageError(f"{path}: {place} is {str(value)[:40]!r}; it accepts {ACCEPTS[key]}.")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _listed(*names: str) -> str:
    return ", ".join(names)
