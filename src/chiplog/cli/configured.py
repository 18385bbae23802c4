"""Defaults from `chiplog.toml`: where a command takes them, says so, and prints those that are in force."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from chiplog.configuration import KEYS, TAKEN, VARIABLES, Setting, settings_of, taken
from chiplog.messages import note

PARAMETERS = {("bench", "budget"): "budget_seconds"}
"""Names of parameters where they are not the options'."""


def with_defaults(context: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a command, with defaults from files for those that nobody gave; a note says which."""
    command = str(context.info_name)
    found, completed = {}, dict(given)
    repeatable = {
        option.name for option in context.command.params if getattr(option, "multiple", False)
    }
    for key, setting in settings_of(command).items() if command in KEYS else ():
        name = parameter_name(command, key)
        source = context.get_parameter_source(name)
        is_missing = key == "targets" and not given[name]  # click takes no words for an empty list
        if is_missing or (source is not None and source.name == "DEFAULT"):
            value = float(setting.value) if key == "budget" else setting.value
            completed[name] = [value] if name in repeatable else value
            found[key] = setting
    TAKEN.set(found)
    if found:
        files = ", ".join(dict.fromkeys(setting.source for setting in found.values()))
        note(f"from {files}: {shlex.join(_words(found))}")
    return completed


def parameter_name(command: str, key: str) -> str:
    """The parameter of a command's function that an option's key stands for."""
    return PARAMETERS.get((command, key), key)


def command_words() -> list[str]:
    """The command line that does the same where there is no file."""
    return ["chiplog", *sys.argv[1:], *_words(taken())]


def _words(settings: Mapping[str, Setting]) -> list[str]:
    words: list[str] = []
    for key, setting in settings.items():
        words += setting.value if key == "targets" else [f"--{key}", str(setting.value)]
    return words


def configuration_lines() -> Iterator[str]:
    """What is in force as a file that says the same, with where each value comes from."""
    from chiplog.cli.app import app_for

    for command, keys in KEYS.items():
        settings = settings_of(command)
        parameters = app_for((command,)).commands[command].params
        defaults = {parameter.name: parameter.default for parameter in parameters}
        yield f"[{command}]"
        for key in sorted(keys):
            value, source = defaults[parameter_name(command, key)], "default"
            if key in settings:
                value, source = settings[key].value, settings[key].source
            elif os.environ.get(VARIABLES.get(key, "")):
                value, source = os.environ[VARIABLES[key]], f"${VARIABLES[key]}"
            yield (
                f"# {key}: none"
                if value is None
                else f"{key} = {json.dumps(value, ensure_ascii=False)}  # {source}"
            )
        yield ""
