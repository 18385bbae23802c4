"""All commands with their options, as the command line has them, and the files that they need."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from command import SIM

from chiplog.cli import main
from chiplog.cli.app import BELOW, COMMANDS, GROUPS, app_for

Option = tuple[str, str]
"""A command, such as "survey verdict", and an option, such as "--json"."""


ALONE = [(name,) for name in (*COMMANDS, *GROUPS)]


def options() -> Iterator[tuple[str, Any]]:
    """Each parameter of each command that is an option."""
    return _parameters("option")


def arguments() -> Iterator[tuple[str, Any]]:
    """Each parameter of each command that is an argument."""
    return _parameters("argument")


def commands() -> list[tuple[str, ...]]:
    """The words of each command that is in a group or alone; without those below commands with arguments."""
    named = (command for name in ALONE for command, _ in _below(app_for(name), ()))
    return [tuple(command.split()) for command in dict.fromkeys(named)]


def _parameters(kind: str) -> Iterator[tuple[str, Any]]:
    for words in (*ALONE, *BELOW):
        for command, parameter in _below(app_for(words), ()):
            if parameter.param_type_name == kind:
                yield command, parameter


def _below(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for name, one in getattr(command, "commands", {}).items():
        yield from _below(one, (*words, name))
    if words:
        for parameter in command.params:
            yield " ".join(words), parameter


def quietly(*arguments: object) -> None:
    """Runs a command that has to succeed."""
    assert main([str(one) for one in arguments]) == 0, arguments


class Inputs:
    """A file of each kind that commands read, in a folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.run = folder / "run.jsonl"
        self.model = folder / "model.json"
        self.goal = folder / "ring.goal"
        self.survey = folder / "survey"
        self.history = folder / "history"
        self.csv = folder / "times.csv"
        self.rules = folder / "rules.conf"
        quietly("measure", SIM + ",noise=0.01", "--sizes", "1:4KiB:1", "-o", self.run)
        quietly("fit", self.run, "-o", self.model)
        quietly(
            "schedule", "barrier", "--algorithm", "dissemination", "--ranks", 4, "-o", self.goal
        )
        quietly("survey", SIM, "--ranks", 4, "-o", self.survey)
        quietly("export", self.run, "--to", "csv", "-o", self.csv)
        self.rules.write_text("coll_tuned_use_dynamic_rules = 1\n")

    def calibrated(self, folder: Path) -> Path:
        """A folder with the model file and a measured collective."""
        folder.mkdir()
        shutil.copy(self.model, folder)
        (folder / "job.csv").write_text(
            "operation,algorithm,ranks,message_bytes,seconds\nbarrier,dissemination,4,1,1e-5\n"
        )
        return folder
