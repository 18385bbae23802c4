"""The options and arguments of a command, from the signature of its function; click makes a command of them.

A parameter says by `Annotated[type, Option(...)]` or `Annotated[type, Argument(...)]` how it is typed; a parameter
whose type is a dataclass is a group of options, and groups may hold groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from inspect import Parameter, cleandoc, signature
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args, get_origin

import click

from chiplog.cli.configured import with_defaults
from chiplog.counts import seconds_within
from chiplog.errors import UsageError
from chiplog.output_file import refuse_unwritable
from chiplog.outside import as_float, as_integer


@dataclass(frozen=True)
class Argument:
    """How an argument is shown."""

    metavar: str | None = None
    help: str | None = None


class Option:
    """An option's names, where --the-parameter's is not meant, how it is shown, and what reads its text."""

    def __init__(
        self,
        *names: str,
        metavar: str | None = None,
        help: str | None = None,
        parser: Callable[[str], Any] | None = None,
    ) -> None:
        self.names, self.metavar, self.help, self.parser = names, metavar, help, parser


class OutputFile(Option):
    """An option that names a file, which the command makes or replaces at its end."""


SECONDS = "SECONDS"
"""What stands for the value of an option in seconds."""
OPTION = "option"
"""The name of a field's command-line option in its metadata."""


class Number(click.ParamType):  # type: ignore[type-arg]  # click before 8.4 takes none
    """A number, read as all text from outside is."""

    def __init__(self, name: str, read: Callable[[str], float | None], accepts: str) -> None:
        self.name, self.read, self.accepts = name, read, accepts

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float | None:
        """Returns the number that a text holds; raises click.BadParameter where it holds no number."""
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]  # the default
        number = self.read(value.strip())
        is_duration = param is not None and param.metavar == SECONDS
        if number is None:
            accepts = "a number of seconds, without a unit" if is_duration else self.accepts
            self.fail(f"'{value[:40]}' is not {accepts}.", param, ctx)
        if is_duration:
            _refuse_seconds(number)
        return number


def _refuse_seconds(number: float) -> None:
    """Raises click.BadParameter, to which click adds the option, where nothing can be measured in so many seconds."""
    try:
        seconds_within("", number)
    except UsageError as error:
        raise click.BadParameter(str(error).removeprefix(": ")) from error


TYPES: Mapping[type, click.ParamType[Any]] = {
    int: Number("integer", as_integer, "a whole number (an integer of at most 63 bits)"),
    float: Number("float", as_float, "a finite number"),
    str: click.STRING,
    bool: click.BOOL,
    Path: click.Path(path_type=Path),
}
"""What reads the text of a parameter, by the type that it is declared with."""


class DescribedArgument(click.Argument):
    """An argument with a help, which click's have from 8.5 on."""

    def __init__(self, name: str, described: Argument, **settings: Any) -> None:
        super().__init__([name], **settings)
        self.help = described.help

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """Returns the name and the help, which says whether the argument is required."""
        help_text = f"{self.help or ''}{'  [required]' if self.required else ''}"
        return (self.metavar or self.human_readable_name), help_text


class Command(click.Command):
    """A command whose help shows its arguments as it shows its options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Arguments first, then options."""
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            shown = [each for each in self.get_params(ctx) if each.param_type_name == kind]
            rows = [row for each in shown if (row := each.get_help_record(ctx)) is not None]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Nothing: click 8.5 would list them in other words here."""


class Group(click.Group):
    """Commands in the order in which they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands."""
        return list(self.commands)


def command_of(name: str, function: Callable[..., None], epilog: str | None = None) -> Command:
    """The command that calls a function with the options and arguments of its signature."""

    def run(**given: Any) -> None:
        completed = with_defaults(click.get_current_context(), given)
        for output in _outputs(function):
            if completed[output] is not None:
                refuse_unwritable(completed[output])
        _called(function, completed)

    return Command(
        name,
        params=list(_click_parameters(function)),
        callback=run,
        help=cleandoc(function.__doc__ or ""),
        epilog=epilog,
    )


def group_of(name: str, summary: str, functions: Mapping[str, Callable[..., None]]) -> Group:
    """A group of commands by their names."""
    group = Group(name, help=summary, no_args_is_help=True)
    for below, function in functions.items():
        group.add_command(command_of(below, function))
    return group


def _called(taker: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """Calls a function or makes a group with those of the options that it takes."""
    return taker(
        **{
            parameter.name: given[parameter.name] if group is None else _called(group, given)
            for parameter, group in _parameters(taker)
        }
    )


def _click_parameters(taker: Callable[..., Any]) -> Iterator[click.Parameter]:
    for parameter, group in _parameters(taker):
        if group is None:
            yield _click_parameter(parameter)
        else:
            yield from _click_parameters(group)


def _outputs(taker: Callable[..., Any]) -> Iterator[str]:
    """The names of the parameters that name files to write at the end."""
    for parameter, group in _parameters(taker):
        if group is not None:
            yield from _outputs(group)
        elif any(isinstance(each, OutputFile) for each in get_args(parameter.annotation)):
            yield parameter.name


@cache
def _parameters(taker: Callable[..., Any]) -> tuple[tuple[Parameter, type | None], ...]:
    """Each parameter of a function or a group, with the group that it is."""
    members = fields(taker) if is_dataclass(taker) else ()
    options = {member.name: member.metadata.get(OPTION) for member in members}
    parameters: list[tuple[Parameter, type | None]] = []
    for parameter in signature(taker, eval_str=True).parameters.values():
        kind, setting = parameter.annotation, options.get(parameter.name)
        if setting is not None:
            parameters.append((parameter.replace(annotation=Annotated[kind, setting]), None))
        else:
            is_group = isinstance(kind, type) and is_dataclass(kind)
            parameters.append((parameter, kind if is_group else None))
    return tuple(parameters)


def _click_parameter(parameter: Parameter) -> click.Parameter:
    """What click reads a parameter by; TypeError where it is neither an option nor an argument."""
    kind, *described = get_args(parameter.annotation) or (None,)
    is_required = parameter.default is Parameter.empty
    settings: dict[str, Any] = {"required": is_required}
    if not is_required:
        settings["default"] = parameter.default
    kind, is_list = _single(kind)
    if is_list:
        settings["callback"] = _list_or_none
    match described:
        case [Option() as shown]:
            names = shown.names or (f"--{parameter.name.replace('_', '-')}",)
            return click.Option(
                [parameter.name, *names],
                type=shown.parser or TYPES[kind],
                is_flag=kind is bool,
                multiple=is_list,
                metavar=shown.metavar,
                help=shown.help,
                show_default=True,
                **settings,
            )
        case [Argument() as shown]:
            metavar = shown.metavar or parameter.name.upper()
            if not is_required and not metavar.startswith("["):
                metavar = f"[{metavar}]"
            nargs = -1 if is_list else 1
            settings |= {"type": TYPES[kind], "nargs": nargs, "metavar": metavar}
            return DescribedArgument(parameter.name, shown, **settings)
    raise TypeError(f"{parameter.name}: is neither an Option nor an Argument.")


def _single(kind: Any) -> tuple[Any, bool]:
    """The type without `| None` and without list, and whether it is a list."""
    if get_origin(kind) is not list and (others := set(get_args(kind)) - {NoneType}):
        (kind,) = others
    if get_origin(kind) is list:
        return get_args(kind)[0], True
    return kind, False


def _list_or_none(_: click.Context, __: click.Parameter, words: Any) -> list[Any] | None:
    return list(words) if words else None
