"""What shells offer where a line goes on: commands, and the values of options and arguments."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from chiplog.cli import COMPLETION
from chiplog.cli.app import BELOW, app_for
from chiplog.cli.missing_choice import CHOICES, Choices, constants, listed
from chiplog.errors import UsageError

ANSWERED = tuple(
    f"{shell}_{asked}" for asked in ("source", "complete") for shell in ("bash", "zsh", "fish")
)
"""What it may ask: for its script, or how the line of COMP_WORDS goes on."""
SUFFIXES = {
    "RUN": (".jsonl",),
    "[RUN_B]": (".jsonl",),
    "MODEL.json": (".json",),
    "[MODEL.json]": (".json",),
    "FILE.json": (".json",),
    "FILE.goal": (".goal",),
    "RUN-OR-MODEL": (".jsonl", ".json"),
    "FOLDER": (),
}
"""How the files end that a parameter takes, by its metavar; folders are offered with all of them."""


def answer_shell() -> int:
    """Prints a shell's script, or how the line goes on that it gives."""
    from click.shell_completion import shell_complete

    asked = os.environ[COMPLETION]
    if asked not in ANSWERED:
        raise UsageError(f"{COMPLETION}: is '{asked[:40]}'; it accepts {', '.join(ANSWERED)}.")
    _keep_commas_for_fish()
    command = app_for(os.environ.get("COMP_WORDS", "").split()[1:])
    _offer_values(command)
    return shell_complete(command, {}, "chiplog", COMPLETION, asked)


def _keep_commas_for_fish() -> None:
    """Lets fish's script take a value whole: click's takes what is before a comma."""
    from click.shell_completion import FishComplete, add_completion_class

    class FishWithCommas(FishComplete):
        source_template = FishComplete.source_template.replace(
            'string split ","', 'string split --max 1 ","'
        )

    add_completion_class(FishWithCommas)


def _offer_values(command: Any) -> None:
    """Lets each parameter of a command, and of those below it, offer what it accepts."""
    for below in getattr(command, "commands", {}).values():
        _offer_values(below)
    for parameter in command.params:
        name = next((name for name in parameter.opts if name.startswith("--")), parameter.name)
        parameter.shell_complete = partial(_complete, parameter, VALUES.get((command.name, name)))


def _complete(parameter: Any, values: Choices | None, context: Any, incomplete: str) -> list[Any]:
    from click.shell_completion import CompletionItem

    listed, comma, begin = incomplete.rpartition(",")
    names = [
        f"{listed}{comma}{name}"
        for name in (values({**context.params, WORDS: context.args}) if values else ())
        if name.startswith(begin)
    ]
    is_argument = parameter.param_type_name == "argument"
    if is_argument:
        below = (words[1] for words in BELOW if words[0] == context.command.name)
        names = [*(name for name in below if name.startswith(incomplete)), *names]
    metavar = parameter.metavar or ""
    folders = []
    if metavar in SUFFIXES and (is_argument or metavar not in OUTPUTS.get(parameter.name, ())):
        names += _files(incomplete, SUFFIXES[metavar])
        folders = [CompletionItem(incomplete, type="dir")] if _is_zsh() else []
    return [*(CompletionItem(name) for name in names), *folders]


OUTPUTS = {"out": tuple(SUFFIXES), "folder": ("FOLDER",)}
"""Files that a command writes: the shell offers those that there are."""


def _files(incomplete: str, suffixes: tuple[str, ...]) -> list[str]:
    """The files that end so, and folders, which zsh adds by itself."""
    folder, slash, begin = incomplete.rpartition("/")
    try:
        return sorted(
            f"{folder}{slash}{path.name}{'/' * path.is_dir()}"
            for path in Path(folder + slash or ".").iterdir()
            if path.name.startswith(begin)
            and (begin or not path.name.startswith("."))
            and (not _is_zsh() if path.is_dir() else path.name.endswith(suffixes))
        )
    except OSError:
        return []


def _is_zsh() -> bool:
    return os.environ.get(COMPLETION, "").startswith("zsh")


WORDS = "words"
"""Beside the parameters that are known: the words that are not yet those of parameters."""


def _words(*names: str) -> Choices:
    return lambda _: names


def _algorithms(known: Mapping[str, Any]) -> Iterable[str]:
    """Those of the operation among the words: click reads none of them where the last option lacks its value."""
    from chiplog.collectives.registry import MODULES, algorithms

    words = (known.get("operation"), *known[WORDS])
    operation = next((word for word in words if word in MODULES), None)
    return algorithms(operation) if operation else ()


def _predicted(_: Mapping[str, Any]) -> Iterable[str]:
    from chiplog.collectives.registry import MODULES
    from chiplog.prediction.to_many import OPERATION

    return (*MODULES, OPERATION)


_DIRECTIONS = _words("round-trip", "one-way")
_TYPES = _words("int", "double", "byte")
VALUES: Mapping[tuple[str, str], Choices] = {
    **CHOICES,
    ("run", "targets"): listed("transports"),
    ("measure", "target"): listed("transports"),
    ("survey", "target"): listed("transports"),
    ("measure", "--pattern"): listed("patterns"),
    ("measure", "--operation"): constants("chiplog.dataset.operations", "OPERATIONS"),
    ("measure", "--posting"): constants("chiplog.dataset.operations", "POSTINGS"),
    ("measure", "--placement"): constants("chiplog.plan.plan", "PLACEMENTS"),
    ("measure", "--direction"): _DIRECTIONS,
    ("import", "--pattern"): listed("patterns"),
    ("import", "--direction"): _DIRECTIONS,
    ("import", "--transport"): listed("transports"),
    ("fit", "--model"): listed("models"),
    ("fit", "--method"): listed("methods"),
    ("fit", "--statistic"): _words("median", "minimum", "mean"),
    ("compare", "--models"): listed("models"),
    ("compare", "--method"): listed("methods"),
    ("predict", "operation"): _predicted,
    ("schedule", "--algorithm"): _algorithms,
    ("predict", "--algorithm"): _algorithms,
    ("predict", "--as"): _words("osu", "common-start"),
    ("tune", "--operation"): CHOICES["schedule", "operation"],
    ("tune", "--type"): _TYPES,
    ("bench", "--type"): _TYPES,
    ("verdict", "--to"): _words("prometheus", "nhc"),
}
"""By command and parameter, what it accepts, given the parameters that are known."""
