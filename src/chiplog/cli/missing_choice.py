"""What is said where a choice is missing that a command needs: the choices that there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any


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


def _collectives(_: Mapping[str, Any]) -> Iterable[str]:
    from chiplog.collectives.registry import MODULES

    return MODULES


def _listed(what: str) -> Callable[[Mapping[str, Any]], Iterable[str]]:
    """The names that `chiplog list` shows of a kind."""

    def choices(_: Mapping[str, Any]) -> Iterable[str]:
        from chiplog.cli.list_names import TABLES

        return TABLES[what]()

    return choices


def _provable(_: Mapping[str, Any]) -> Iterable[str]:
    from chiplog.tune.check.in_force import provable

    return [program.name for program in provable()]


def _linted(_: Mapping[str, Any]) -> Iterable[str]:
    from chiplog.tune.lint.lint_file import PROGRAMS

    return PROGRAMS


def _tables(_: Mapping[str, Any]) -> Iterable[str]:
    from chiplog.cli.list_names import TABLES

    return TABLES


CHOICES: Mapping[tuple[str, str], Callable[[Mapping[str, Any]], Iterable[str]]] = {
    ("schedule", "--algorithm"): _algorithms,
    ("schedule", "operation"): _collectives,
    ("export", "--to"): _listed("exporters"),
    ("tune", "--for"): _listed("tuning-writers"),
    ("check-tuning", "--for"): _provable,
    ("lint", "--for"): _linted,
    ("import", "kind"): _listed("importers"),
    ("list", "what"): _tables,
}
"""By command and parameter, what there is, given the parameters that are known."""
