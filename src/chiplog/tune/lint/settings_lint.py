"""Files of settings, NAME=VALUE a line: Open MPI's MCA parameters, MPICH's control variables, UCC's.

They may be exported by a shell script, whose other lines are the shell's. Each name and value is given to the MPI
itself, which says whether it knows it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chiplog.tune.lint.rule import Rule, quoted, shown, wrong

_SETTING = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$")
_EXPORT = re.compile(r"\s*export\s+(?=[A-Za-z_][A-Za-z0-9_]*=)")


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
    is_script = any(map(_EXPORT.match, text.split("\n")))
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _in_line(line)
        settings += [Setting(number, name, value) for name, value in found]
        if not found and not is_script:
            others.append(wrong(number, quoted(line.strip()), "it is no NAME=VALUE"))
    last = {setting.name: setting.line for setting in settings}
    return [
        replace(setting, replaced_by=last[setting.name])
        if last[setting.name] != setting.line
        else setting
        for setting in settings
    ], others


def _in_line(line: str) -> Sequence[tuple[str, str]]:
    """Names and values of a line; a shell's export may have several, and quotes around values."""
    exported = _EXPORT.match(line)
    if exported is None:
        match = _SETTING.match(line)
        return [(match[1], match[2])] if match else []
    try:
        words = shlex.split(line[exported.end() :], comments=True)
    except ValueError:  # a quote that goes on in the next line
        words = line[exported.end() :].split()
    return [
        (name, value) for name, equals, value in (word.partition("=") for word in words) if equals
    ]


def looks_like_settings(text: str) -> bool:
    """Is the first line that says something NAME=VALUE, or does any export one?"""
    lines = [
        line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")
    ]
    return bool(lines) and (_SETTING.match(lines[0]) is not None or any(map(_EXPORT.match, lines)))
