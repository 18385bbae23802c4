"""Numbers of the command line: finite, and no larger than what the commands calculate with."""

from __future__ import annotations

from functools import partial
from typing import Any

from chiplog.outside import as_float, as_integer

READERS = {
    "integer": (as_integer, "an integer of at most 63 bits"),
    "float": (as_float, "a finite number"),
}
"""By the name of the type that an option is declared with, what reads its text, and what that accepts."""


def check_numbers(command: Any) -> None:
    """Lets the numbers of a command, and of those below it, be read as all text from outside is."""
    for parameter in command.params:
        if parameter.type.name in READERS:
            parameter.type.convert = partial(_convert, parameter.type)
    for below in getattr(command, "commands", {}).values():
        check_numbers(below)


def _convert(kind: Any, value: object, parameter: Any, context: Any) -> object:
    if not isinstance(value, str):
        return value
    read, accepts = READERS[kind.name]
    number = read(value.strip())
    if number is None:
        kind.fail(f"'{value[:40]}' is not {accepts}.", parameter, context)
    return number
