"""A folder of compiled programs, and how each is run and judged: files `testlist` beside them, as in MPICH's own tests.

A line is `NAME RANKS KEY=VALUE...`. Read of it are `arg`, an argument; `env`, a variable as NAME=VALUE; `mpiexecarg`,
an option of MPICH's launcher; and `resultTest`, which tells how a program that does as it should ends.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from contained import Contained

LISTS = ("testlist.in", "testlist")
NO_ERRORS = re.compile("No [Ee]rrors|Test Skipped")
"""What another rank prints may stand in the same line: launchers do not wait for a line's end."""
ENDS_ABNORMALLY = ("TestStatus", "TestStatusNoErrors", "TestErrFatal")
"""Values of `resultTest` of programs that abort, or end with a status of their own."""
SAYS_NOTHING = ("TestStatus", "TestErrFatal", "TestBench")
"""Values of `resultTest` of programs that need not print `No Errors`."""


@dataclass(frozen=True)
class Judge:
    """What the end of a program must look like."""

    ends_with_zero: bool = True
    says_no_errors: bool = False

    @classmethod
    def named(cls, name: str) -> Judge:
        """By the value of `resultTest`, which is empty for most."""
        return cls(name not in ENDS_ABNORMALLY, name not in SAYS_NOTHING)

    def outcome(self, run: Contained) -> str:
        """`passed`, or what was wrong."""
        if run.code is None:
            return "did not end"
        if (run.code == 0) != self.ends_with_zero:
            return f"ended with {run.code}"
        if self.says_no_errors and not NO_ERRORS.search(run.output):
            return f"ended with {run.code} without 'No Errors'"
        return "passed"


@dataclass(frozen=True)
class Case:
    """A program, its arguments, its variables as NAME=VALUE, a number of ranks, and how it is judged."""

    program: str
    arguments: str
    ranks: int
    variables: str = ""
    launcher_options: tuple[str, ...] = field(default=(), compare=False)
    judge: Judge = field(default=Judge(), compare=False)

    @property
    def call(self) -> str:
        """The program with its variables and arguments."""
        return f"{self.variables} {self.program} {self.arguments}".strip()

    @property
    def environment(self) -> dict[str, str]:
        return dict(variable.split("=", 1) for variable in shlex.split(self.variables))

    def __str__(self) -> str:
        return f"{self.call} ({self.ranks} ranks)"


@dataclass(frozen=True)
class Suite:
    """Compiled programs below a folder."""

    folder: Path

    def cases(self, ranks: Sequence[int], only: Sequence[str]) -> Iterator[Case]:
        """Of the folders `only`, in this order, or of all."""
        for part in only or [""]:
            for path in sorted((self.folder / part).rglob("*")):
                if not path.is_file() or not os.access(path, os.X_OK):
                    continue
                program = str(path.relative_to(self.folder))
                for words, number in itertools.product(_lines_about(path), ranks):
                    yield _case(program, words, number)


def _lines_about(program: Path) -> list[list[str]]:
    """What the lists say of a program, without its ranks; one line without words where they say nothing."""
    read = ("arg=", "env=", "mpiexecarg=", "resultTest=")
    found: dict[tuple[str, ...], None] = {}
    for path in (program.parent / name for name in LISTS):
        for words in map(str.split, path.read_text().splitlines() if path.is_file() else []):
            if words[:1] == [program.name]:
                found[words[0], *(word for word in words[2:] if word.startswith(read))] = None
    return [list(words) for words in found] or [[]]


def _case(program: str, words: Sequence[str], ranks: int) -> Case:
    def values(key: str) -> list[str]:
        return [word.removeprefix(f"{key}=") for word in words if word.startswith(f"{key}=")]

    return Case(
        program,
        " ".join(values("arg")),
        ranks,
        " ".join(values("env")),
        tuple(values("mpiexecarg")),
        Judge.named("".join(values("resultTest"))) if words else Judge(),
    )
