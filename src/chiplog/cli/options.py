"""Options that several commands share, and the groups that a command takes its options in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeVar

import typer

from chiplog.cli.configured import with_defaults
from chiplog.cli.output import COLUMNS, wrapped
from chiplog.errors import UsageError
from chiplog.outside import as_float, as_integer

Parsed = TypeVar("Parsed")

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run file (.jsonl).")]

SurveyArgument = Annotated[
    Path,
    typer.Argument(metavar="RUN", help="What `chiplog survey -o` wrote: a folder or a file."),
]

JsonOption = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write the results as JSON, too; - is standard output, alone.",
    ),
]

TargetOption = Annotated[
    str | None,
    typer.Option("--target", metavar="NAME", help="Which target of a file that holds several."),
]

ModelNameOption = Annotated[
    str | None,
    typer.Option("--model", "--models", metavar="NAME", help="Which of the file's models to use."),
]

AnywayOption = Annotated[
    bool,
    typer.Option("--anyway", help="Use a fit that its own check rejects; every output says so."),
]

ProgramOption = Annotated[
    str, typer.Option("--for", metavar="PROGRAM", help="Whose tuning file it is: see below.")
]

MpiOption = Annotated[
    str | None,
    typer.Option(metavar="MPICXX", help="The C++ compiler of the MPI to use."),
]

FoundMpiOption = Annotated[
    str | None, typer.Option(metavar="MPICXX", help="The MPI's C++ compiler; found by default.")
]

RendezvousOption = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT", help="Where launched ranks meet; by default rank 0 is found."
    ),
]

TimeLimitOption = Annotated[
    float, typer.Option(metavar="SECONDS", help="How long a rank waits for another.")
]


SIZES, RANKS, COMMAND, SECONDS = "FIRST:LAST|SIZE,...", "N", "COMMAND", "SECONDS"
"""What options of several commands take, as helps show it."""


def size(given: str | int) -> int:
    """A size as typed, or the default as it is."""
    from chiplog.plan.units import parse_bytes

    return given if isinstance(given, int) else _parsed(parse_bytes, given)


def time(given: str) -> str:
    """A time as typed, or the default, as a decimal number of nanoseconds."""
    from chiplog.plan.units import parse_nanoseconds

    return _parsed(parse_nanoseconds, given)


def _parsed(parse: Callable[[str, str], Parsed], given: str) -> Parsed:
    """What an option's text means; the error names the option by itself."""
    try:
        return parse(given, "")
    except UsageError as error:
        raise typer.BadParameter(str(error).partition(": ")[2]) from error


BytesOption = Annotated[
    int,
    typer.Option(
        "--bytes",
        metavar="SIZE",
        parser=size,
        help="Size of the message, or of one rank's block: 8, 64KiB.",
    ),
]

SegmentOption = Annotated[
    int, typer.Option(metavar="SIZE", parser=size, help="Of a segment of a chain.")
]
DimensionsOption = Annotated[int, typer.Option(help="Of a halo's grid: 1, 2 or 3.")]


OPTION = "option"
"""The name of a field's command-line option in its metadata."""


def option(default: Any = None, *names: str, **settings: Any) -> Any:
    """A field of a group of options: its default, its names where the field's is not meant, and Typer's settings."""
    return field(default=default, metadata={OPTION: typer.Option(*names, **settings)})


@dataclass(frozen=True)
class ModelResults:
    """Which fits of a model file results come from, and where they go besides the terminal."""

    target: TargetOption = None
    anyway: AnywayOption = False
    report: Path | None = option(
        metavar="FILE.html|FILE.md", help="Write a page with a picture, too."
    )
    json_file: JsonOption = None


def with_single_options(function: Callable[..., None]) -> Callable[..., None]:
    """The command with each field of its groups of options as a parameter of its own, as Typer reads them.

    A group is a parameter whose type is a dataclass; groups may hold groups.
    """

    def command(context: typer.Context, **given: Any) -> None:
        _called(function, with_defaults(context, given))

    command.__name__, command.__doc__ = function.__name__, function.__doc__
    context = Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)
    command.__signature__ = Signature([context, *_single_options(function)])  # type: ignore[attr-defined]
    return command


def _single_options(taker: Callable[..., Any]) -> Iterator[Parameter]:
    for parameter, group in _parameters(taker):
        if group is None:
            yield parameter.replace(kind=Parameter.KEYWORD_ONLY)
        else:
            yield from _single_options(group)


def _called(taker: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """Calls a function or makes a group with those of the options that it takes."""
    return taker(
        **{
            parameter.name: given[parameter.name] if group is None else _called(group, given)
            for parameter, group in _parameters(taker)
        }
    )


def _parameters(taker: Callable[..., Any]) -> Iterator[tuple[Parameter, type | None]]:
    """Each parameter of a function or a group, with the group that it is."""
    members = fields(taker) if is_dataclass(taker) else ()
    options = {member.name: member.metadata.get(OPTION) for member in members}
    for parameter in signature(taker, eval_str=True).parameters.values():
        kind, setting = parameter.annotation, options.get(parameter.name)
        if setting is not None:
            yield parameter.replace(annotation=Annotated[kind, setting]), None
        else:
            yield parameter, kind if isinstance(kind, type) and is_dataclass(kind) else None


class Summarised(Protocol):
    """What a list of names tells of each."""

    @property
    def name(self) -> str:
        """The name on the command line."""

    @property
    def summary(self) -> str:
        """What it is, in a few words."""


HELP_INDENT = 2
"""By how much a help indents its end."""


def names_help(option: str, known: Iterable[Summarised]) -> str:
    """The end of a command's help: each name that `option` accepts, with its summary."""
    rows = [(summarised.name, summarised.summary) for summarised in known]
    width = max(len(name) for name, _ in rows)
    columns = COLUMNS - HELP_INDENT
    lines = [
        wrapped(f"  {name:<{width}}  {summary}", " " * (width + 4), columns)
        for name, summary in rows
    ]
    return "\n".join(["\b", f"{option}:", *lines])


def names(text: str, option: str) -> tuple[str, ...]:
    """The names in a comma-separated list, each once; UsageError where there is none."""
    parts = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not parts:
        raise UsageError(f"{option}: is empty; it accepts names separated by commas.")
    return parts


READERS = {
    "integer": (as_integer, "one integer of at most 63 bits"),
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
