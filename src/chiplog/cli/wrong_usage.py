"""What is said of a command line that no command takes: what is wrong, and how the line goes on."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from chiplog.cli.missing_choice import missing_choice_sentence
from chiplog.plugins import did_you_mean

MEANT = {
    "-n": ("--ranks",),
    "-np": ("--ranks",),
    "-m": ("--model", "--models"),
    "-v": ("--version", "--details"),
    "--verbose": ("--details",),
    "--size": ("--sizes", "--bytes"),
    "--sizes": ("--bytes",),
    "--bytes": ("--sizes",),
    "--out": ("--output",),
    "--help-all": ("--help",),
    "--processes": ("--ranks",),
    "--time": ("--budget",),
}
"""Options of other programs, and what they are called here, where a command has it."""
_EXTRA = re.compile(r"^Got unexpected extra arguments? \((.*)\)$", re.DOTALL)
_NO_COMMAND = re.compile(r"^No such command '(.*?)'", re.DOTALL)


def usage_sentence(error: click.UsageError) -> str:
    """The sentence for what click refuses; its own words where it is nothing of what is known."""
    context = error.ctx
    if isinstance(error, click.BadOptionUsage):
        is_flag = "does not take" in error.message
        return f"{error.option_name}: {'takes no value' if is_flag else 'needs a value after it'}."
    if context is None:
        return error.format_message()
    match error:
        case click.MissingParameter():
            return missing_choice_sentence(error) or _missing(error, context)
        case click.NoSuchOption():
            return f"there is no option {error.option_name}{_meant(error.option_name, context)}"
        case click.BadParameter() if error.param is not None:
            return f"{_name(error.param)}: {error.message}"
    return _of_message(error.message, context)


def _of_message(message: str, context: click.Context) -> str:
    """Of errors that click tells apart by their words only."""
    if extra := _EXTRA.match(message):
        what = "is an argument" if " " not in extra[1] else "are arguments"
        return f"{extra[1]} {what} too many; the command is {_usage(context)}."
    if (unknown := _NO_COMMAND.match(message)) and isinstance(context.command, click.Group):
        names = context.command.list_commands(context)
        near = did_you_mean(unknown[1], [*names, "--version", "--help"])
        listed = f"{context.command_path} --help"
        return f"there is no command '{unknown[1]}'; {listed} lists all.{near}"
    return message


def _missing(error: click.MissingParameter, context: click.Context) -> str:
    parameter = error.param
    if parameter is None:
        return error.format_message()
    if isinstance(parameter, click.Option):
        return f"{_name(parameter)}: is missing; add {_with_value(parameter)}."
    return f"{_name(parameter)}: is missing; the command is {_usage(context)}."


def _meant(option: str, context: click.Context) -> str:
    """The rest of a sentence on an unknown option."""
    if any(isinstance(p, click.Argument) and p.name == "command" for p in context.command.params):
        return f"; options of the program follow --: {context.command_path} -- PROGRAM {option}."
    names = [name for parameter in _options(context) for name in parameter.opts]
    known = next((name for name in MEANT.get(option, ()) if name in names), None)
    near = f" Did you mean '{known}'?" if known else did_you_mean(option, names)
    return f"; {context.command_path} --help lists all.{near}"


def _options(context: click.Context) -> Sequence[click.Option]:
    return [each for each in context.command.get_params(context) if isinstance(each, click.Option)]


def _name(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Option):
        return parameter.opts[0]
    return (parameter.metavar or parameter.human_readable_name).strip("[]").split()[0]


def _with_value(option: click.Option) -> str:
    return f"{option.opts[0]} {option.metavar or option.type.name.upper()}"


def _usage(context: click.Context) -> str:
    """How the command is typed: what it cannot do without."""
    arguments = [
        parameter.metavar or parameter.human_readable_name
        for parameter in context.command.params
        if isinstance(parameter, click.Argument)
    ]
    options = [_with_value(option) for option in _options(context) if option.required]
    return " ".join((context.command_path, *arguments, *options))
