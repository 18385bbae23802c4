"""Files of settings, NAME=VALUE a line: Open MPI's MCA parameters, MPICH's control variables, UCC's.

They may be exported by a shell script, whose other lines are the shell's. Each name and value is given to the MPI
itself, which says whether it knows it.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from pathlib import Path

from chiplog.errors import RunFailed
from chiplog.measurement.run_to_end import run_to_end
from chiplog.tune.lint.rule import MOST_NAME, Rule, quoted, shown, wrong
from chiplog.tune.settings import ANSWER_SECONDS

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|#.*")
_SETTING = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$")
_EXPORT = re.compile(r"\s*(?:export|declare\s+-x)\s+(?=[A-Za-z_][A-Za-z0-9_]*=)")
_COMMAND = re.compile(r"(?:^|[;&]|\bthen\b|\bdo\b|\belse\b)(?=\s*(?:export|declare)\s)")
"""Where a command of a shell's line may begin to export."""


@dataclass(frozen=True)
class MpiSetting:
    """One line of the file."""

    line: int
    name: str
    value: str
    replaced_by: int | None = None
    """A later line that sets the same name."""

    @property
    def text(self) -> str:
        """As it is shown."""
        return f"{shown(self.name, MOST_NAME)}={shown(self.value)}"

    def wrong(self, reason: str) -> Rule:
        """The rule of a setting that the MPI does not have, or not with this value."""
        return wrong(self.line, self.text, reason)

    def not_taken(self, reason: str) -> Rule:
        """The rule of a setting that another one outranks."""
        return Rule(self.line, self.text, True, False, reason)

    def without_file(self, effect: str) -> Rule | None:
        """The rule of a setting whose value should be a file, where there is none; None where there is."""
        if Path(self.value).is_file():
            return None
        return self.not_taken(f"there is no file {quoted(self.value, MOST_NAME)}: {effect}")

    def set_again(self) -> Rule:
        """The rule of a setting that a later line replaces."""
        return self.not_taken(f"line {self.replaced_by} sets it again")

    def unproved(self, reason: str, *, legal: bool | None = None) -> Rule:
        """The rule of a setting of which nothing tells whether it is taken."""
        return Rule(self.line, self.text, legal, None, reason)

    def proved(self) -> Rule:
        """The rule of a setting that the MPI takes."""
        return Rule(self.line, self.text, True, True)


def read_settings(
    text: str, prefixes: tuple[str, ...] = ("",)
) -> tuple[list[MpiSetting], list[Rule]]:
    """The settings of a file, and the lines that are none.

    Of a shell script those whose names begin with one of the `prefixes`: it sets variables of other programs, too.
    """
    settings, others = [], []
    is_script = _is_script(text.split("\n"))
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if is_script:
            named = [pair for pair in _in_script(line) if pair[0].startswith(prefixes)]
        else:
            match = _SETTING.match(line)
            named = [(match[1], match[2])] if match else []
        settings += [MpiSetting(number, name, value) for name, value in named]
        if not named and not is_script:
            others.append(wrong(number, quoted(line.strip()), "it is no NAME=VALUE"))
    last = {setting.name: setting.line for setting in settings}
    return [
        replace(setting, replaced_by=last[setting.name])
        if last[setting.name] != setting.line
        else setting
        for setting in settings
    ], others


def _is_script(lines: Sequence[str]) -> bool:
    return any(_EXPORT.match(command) for line in lines for command in _commands(line))


def _commands(line: str) -> list[str]:
    """A line, divided where a command begins that may export; what stands in quotes is no command."""
    bare = _QUOTED.sub(lambda quotes: "-" * len(quotes[0]), line)
    starts = [match.end() for match in _COMMAND.finditer(bare)]
    return [line[first:last] for first, last in pairwise([0, *starts, len(line)])]


def _in_script(line: str) -> list[tuple[str, str]]:
    """Names and values that a line of a shell script exports, or sets for a name that may be exported elsewhere."""
    named = []
    for command in _commands(line):
        exported = _EXPORT.match(command)
        match = _SETTING.match(command)
        words = _words(command[exported.end() :]) if exported else []
        if exported is None and match:
            words = _words(command)[:1]
        pairs = (word.partition("=") for word in words)
        named += [(name, value) for name, equals, value in pairs if equals]
    return named


def _words(command: str) -> list[str]:
    """The words of a shell's command up to its end, without quotes."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=";&|")
    lexer.whitespace_split, lexer.commenters = True, "#"
    try:
        words = list(lexer)
    except ValueError:  # a quote that goes on in the next line
        return command.split()
    return list(takewhile(lambda word: not set(word) <= set(";&|"), words))


def looks_like_settings(text: str) -> bool:
    """Is the first line that says something NAME=VALUE, or does any export one?"""
    lines = [
        line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")
    ]
    return bool(lines) and (_SETTING.match(lines[0]) is not None or _is_script(lines))


def lint_ucc(text: str) -> list[Rule]:
    """Each variable, by the names that `ucc_info` lists; nothing proves that UCC takes it."""
    settings, rules = read_settings(text, ("UCC_",))
    known = _known()
    for setting in settings:
        if known is None:
            rules.append(setting.unproved("not proved: there is no ucc_info here to ask"))
        elif setting.name not in known:
            rules.append(setting.wrong(f"UCC has no variable {setting.name}"))
        elif setting.replaced_by is not None:
            rules.append(setting.set_again())
        else:
            reason = "not proved: no run tells which variables UCC takes"
            rules.append(setting.unproved(reason, legal=True))
    return rules


def _known() -> set[str] | None:
    program = shutil.which("ucc_info")
    if program is None:
        return None
    try:
        done = run_to_end([program, "-caf"], {}, ANSWER_SECONDS)
    except RunFailed:
        return None
    names = {
        line.partition("=")[0].lstrip("# ") for line in done.stdout.splitlines() if "=" in line
    }
    return {name for name in names if name.startswith("UCC_")} or None
