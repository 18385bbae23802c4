"""Files of settings, NAME=VALUE a line: Open MPI's MCA parameters, MPICH's control variables, UCC's.

Each name and value is given to the MPI itself, which says whether it knows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from chiplog.tune.lint.rule import Rule, quoted, shown

_SETTING = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$")


@dataclass(frozen=True)
class Setting:
    """One line of the file."""

    line: int
    name: str
    value: str

    @property
    def text(self) -> str:
        """As it is shown."""
        return f"{shown(self.name, 80)}={shown(self.value)}"


def read_settings(text: str) -> tuple[list[Setting], list[Rule]]:
    """The settings of a file, and the lines that are none."""
    settings, wrong = [], []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _SETTING.match(line)
        if match is None:
            wrong.append(Rule(number, quoted(line.strip()), False, False, "it is no NAME=VALUE"))
        else:
            settings.append(Setting(number, match[1], match[2]))
    return settings, wrong


def looks_like_settings(text: str) -> bool:
    """Is the first line that says something NAME=VALUE?"""
    for line in text.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            return _SETTING.match(line) is not None
    return False


def repeated(settings: list[Setting]) -> Iterator[tuple[Setting, Setting]]:
    """Each setting that a later one of the same name replaces, and that one."""
    last = {setting.name: setting for setting in settings}
    for setting in settings:
        if last[setting.name] is not setting:
            yield setting, last[setting.name]
