"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

import click

from chiplog.cli.output import COLUMNS, wrapped
from chiplog.cli.parameters import OPTION, SECONDS, Argument, Option, OutputFile
from chiplog.errors import UsageError

Parsed = TypeVar("Parsed")

RunArgument = Annotated[Path, Argument(metavar="RUN", help="A run file (.jsonl).")]

SurveyArgument = Annotated[
    Path,
    Argument(metavar="RUN", help="What `chiplog survey -o` wrote: a folder or a file."),
]

JsonOption = Annotated[
    str | None,
    OutputFile(
        "--json",
        metavar="FILE",
        help="Write the results as JSON, too; - is standard output, alone.",
    ),
]

TargetOption = Annotated[
    str | None,
    Option("--target", metavar="NAME", help="Which target of a file that holds several."),
]

ModelNameOption = Annotated[
    str | None,
    Option("--model", "--models", metavar="NAME", help="Which of the file's models to use."),
]

AnywayOption = Annotated[
    bool,
    Option("--anyway", help="Use a fit that its own check rejects; every output says so."),
]

ProgramOption = Annotated[
    str, Option("--for", metavar="PROGRAM", help="Whose tuning file it is: see below.")
]

MpiOption = Annotated[
    str | None,
    Option(metavar="MPICXX", help="The C++ compiler of the MPI to use."),
]

FoundMpiOption = Annotated[
    str | None, Option(metavar="MPICXX", help="The MPI's C++ compiler; found by default.")
]

RendezvousOption = Annotated[
    str | None,
    Option(metavar="HOST:PORT", help="Where launched ranks meet; by default rank 0 is found."),
]

TimeLimitOption = Annotated[
    float, Option(metavar=SECONDS, help="How long a rank waits for another.")
]


DEFAULT_SEED, DEFAULT_RANKS = 1, 2
"""Given: a seed like any other, and the fewest ranks that have anything to say to each other."""
DEFAULT_TIME_LIMIT = 30.0
"""Given: seconds, the default of `chiplog.measurement.start.Start`."""
DEFAULT_SEGMENT, DEFAULT_DIMENSIONS = 8192, 2
"""Given: the defaults of `chiplog.collectives.algorithm.Task`."""
NOT_RELIABLE, UNDECIDED = 3, 4
"""Given: exit codes of an answer that is no, and of one that can't be given."""
SIZES, RANKS, COMMAND = "FIRST:LAST|SIZE,...", "N", "COMMAND"
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
        raise click.BadParameter(str(error).partition(": ")[2]) from error


BytesOption = Annotated[
    int,
    Option(
        "--bytes",
        metavar="SIZE",
        parser=size,
        help="Size of the message, or of one rank's block: 8, 64KiB.",
    ),
]

SegmentOption = Annotated[int, Option(metavar="SIZE", parser=size, help="Of a segment of a chain.")]
DimensionsOption = Annotated[int, Option(help="Of a halo's grid: 1, 2 or 3.")]


def option(default: Any = None, *names: str, **settings: Any) -> Any:
    """A field of a group of options: its default, its names where the field's is not meant, and Option's settings."""
    return field(default=default, metadata={OPTION: Option(*names, **settings)})


@dataclass(frozen=True)
class ModelResults:
    """Which fits of a model file results come from, and where they go besides the terminal."""

    target: TargetOption = None
    anyway: AnywayOption = False
    report: Annotated[
        Path | None,
        OutputFile(metavar="FILE.html|FILE.md", help="Write a page with a picture, too."),
    ] = None
    json_file: JsonOption = None


HELP_INDENT = 2
"""Given: by how much a help indents its end."""


def names_help(option: str, summaries: Mapping[str, str]) -> str:
    """The end of a command's help: each name that `option` accepts, with its summary."""
    width = max(map(len, summaries))
    indent, columns = " " * (HELP_INDENT + width + HELP_INDENT), COLUMNS - HELP_INDENT
    lines = [
        wrapped(f"  {name:<{width}}  {summary}", indent, columns)
        for name, summary in summaries.items()
    ]
    return "\n".join(["\b", f"{option}:", *lines])


def names(text: str, option: str) -> tuple[str, ...]:
    """The names in a comma-separated list, each once; UsageError where there is none."""
    parts = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not parts:
        raise UsageError(f"{option}: is empty; it accepts names separated by commas.")
    return parts
