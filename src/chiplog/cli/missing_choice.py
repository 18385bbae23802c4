"""What is said where a choice is missing that a command needs: the choices that there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

from chiplog.cli.list_names import TABLES

Choices = Callable[[Mapping[str, Any]], Iterable[str]]
"""What a parameter accepts, given the parameters that are known."""


def missing_choice_sentence(error: Any) -> str | None:
    """Returns the sentence for click's error of a missing parameter; None where it is no choice from a list."""
    parameter, context = getattr(error, "param", None), getattr(error, "ctx", None)
    if parameter is None or context is None:
        return None
    name, command = parameter.opts[0], context.command.name
    choices = CHOICES.get((command, name))
    if choices is None:
        return None
    what = name if name.startswith("-") else parameter.metavar.strip("[]")
    known = ", ".join(choices(context.params))
    return f"{what}: is missing; it accepts {known}." if known else None


def _algorithms(given: Mapping[str, Any]) -> Iterable[str]:
    from chiplog.collectives.registry import algorithms

    operation = given.get("operation")
    return algorithms(operation) if operation else ()


def constants(module: str, name: str) -> Choices:
    """The names that a constant of a module has, which is imported when they are asked for."""

    def choices(_: Mapping[str, Any]) -> Iterable[str]:
        names: Iterable[str] = getattr(import_module(module), name)
        return names

    return choices


def listed(what: str) -> Choices:
    """The names that `chiplog list` shows of a kind."""
    return lambda _: TABLES[what]()


def _provable(_: Mapping[str, Any]) -> Iterable[str]:
    from chiplog.tune.check.in_force import provable

    return [program.name for program in provable()]


CHOICES: Mapping[tuple[str, str], Choices] = {
    ("schedule", "--algorithm"): _algorithms,
    ("schedule", "operation"): constants("chiplog.collectives.registry", "MODULES"),
    ("export", "--to"): listed("exporters"),
    ("tune", "--for"): listed("tuning-writers"),
    ("check-tuning", "--for"): _provable,
    ("lint", "--for"): constants("chiplog.tune.lint.lint_file", "PROGRAMS"),
    ("import", "kind"): listed("importers"),
    ("list", "what"): lambda _: TABLES,
}
"""By command and parameter, what there is, given the parameters that are known."""
