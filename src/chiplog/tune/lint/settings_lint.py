"""Files of settings, NAME=VALUE a line: Open MPI's MCA parameters, MPICH's control variables, UCC's.

Each name and value is given to the MPI itself, which says whether it knows it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from chiplog.tune.lint.rule import Rule, quoted, shown, wrong

_SETTING = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$")


@dataclass(frozen=True)
class Setting:
    """One line of the file."""

    line: int
    name: str
    value: str
    replaced_by: int | None = None
    """A later line that sets the same name."""

    @property
    def text(self) -> str:
        """As it is shown."""
        return f"{shown(self.name, 80)}={shown(self.value)}"

    def wrong(self, reason: str) -> Rule:
        """The rule of a setting that the MPI does not have, or not with this value."""
        return wrong(self.line, self.text, reason)

    def not_taken(self, reason: str) -> Rule:
        """The rule of a setting that another one outranks."""
        return Rule(self.line, self.text, True, False, reason)

    def set_again(self) -> Rule:
        """The rule of a setting that a later line replaces."""
        return self.not_taken(f"line {self.replaced_by} sets it again")

    def unproved(self, reason: str, *, legal: bool | None = None) -> Rule:
        """The rule of a setting of which nothing tells whether it is taken."""
        return Rule(self.line, self.text, legal, None, reason)

    def proved(self) -> Rule:
        """The rule of a setting that the MPI takes."""
        return Rule(self.line, self.text, True, True)


def read_settings(text: str) -> tuple[list[Setting], list[Rule]]:
    """The settings of a file, and the lines that are none."""
    settings, others = [], []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _SETTING.match(line)
        if match is None:
            others.append(wrong(number, quoted(line.strip()), "it is no NAME=VALUE"))
        else:
            settings.append(Setting(number, match[1], match[2]))
    last = {setting.name: setting.line for setting in settings}
    return [
        replace(setting, replaced_by=last[setting.name])
        if last[setting.name] != setting.line
        else setting
        for setting in settings
    ], others


def looks_like_settings(text: str) -> bool:
    """Is the first line that says something NAME=VALUE?"""
    for line in text.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            return _SETTING.match(line) is not None
    return False
