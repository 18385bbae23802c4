"""The commands, put together. Only signatures are imported here: what a command needs, it imports when it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module

import click

from chiplog import __version__
from chiplog.cli.options import names_help
from chiplog.cli.parameters import Group, command_of, group_of

COMMANDS = {
    "run": "run",
    "measure": "measure",
    "survey": "survey",
    "history": "history",
    "import": "import_file",
    "fit": "fit",
    "changes": "changes",
    "compare": "compare",
    "predict": "predict",
    "schedule": "schedule",
    "simulate": "simulate",
    "trace": "trace",
    "app": "application",
    "tune": "tune",
    "check-tuning": "check_tuning",
    "bench": "bench",
    "export": "export",
    "report": "report",
    "share": "share",
    "list": "list_names",
    "doctor": "doctor",
}
"""Commands, and the functions of that name in modules of that name.

A module's function `epilog` gives the end of the command's help, such as the names that an option accepts.
"""
GROUPS = {"probe": "probe_group", "library": "library_group"}
"""Modules with commands of their own, and their groups."""
BELOW = {
    ("tune", "lint"): "tune_lint",
    ("history", "add"): "history_add",
    ("survey", "verdict"): "survey_verdict",
}
"""Commands below a command that takes arguments itself, and the functions of that name in modules of that name.

A file of the second name is written with its folder: `chiplog tune ./lint`, `chiplog history ./add`.
"""


@dataclass(frozen=True)
class BelowCommand:
    """A command below another one, as a help names it."""

    name: str
    summary: str


OPTIONAL_NUMBERS = {("survey", "--sparse"): "10"}
"""Options of commands whose number may be left out, and what it is then."""
HELP = "Measure how a machine really communicates, fit the LogP family of models, show how far each is off."
HELP_OPTIONS = ("-h", "--help")
MORE_HELP = (
    "All of one command: chiplog help COMMAND, or chiplog COMMAND --help. "
    "Defaults of options: chiplog.toml, which --print-config shows."
)


def with_numbers(words: Sequence[str]) -> list[str]:
    """The words of a command line, with the numbers that may be left out.

    >>> with_numbers(["survey", "tcp", "--sparse", "-o", "x"])
    ['survey', 'tcp', '--sparse=10', '-o', 'x']
    """
    completed = list(words)
    for at, word in enumerate(words):
        number = OPTIONAL_NUMBERS.get((words[0], word))
        has_number = at + 1 < len(words) and words[at + 1].lstrip("-").isdecimal()
        if number is not None and not has_number:
            completed[at] = f"{word}={number}"
    return completed


def app_for(words: Sequence[str]) -> Group:
    """The command that the first of the `words` names, else all of them.

    To import and describe all takes longer than a short measurement.
    """
    app = Group(
        "chiplog",
        params=list(_options()),
        help=HELP,
        no_args_is_help=True,
        context_settings={"help_option_names": list(HELP_OPTIONS)},
        epilog=f"{_below_text()}\n\n{MORE_HELP}"
        if words[:1] and words[0] in HELP_OPTIONS
        else None,
    )
    below = BELOW.get((words[0], words[1])) if len(words) > 1 else None
    if below is not None:
        function = getattr(import_module(f"chiplog.cli.{below}"), below)
        app.add_command(group_of(words[0], "Commands below a command.", {words[1]: function}))
        return app
    helps = any(word in HELP_OPTIONS for word in words[1:])
    named = [word for word in words[:1] if word in COMMANDS or word in GROUPS]
    for name in named or (*COMMANDS, *GROUPS):
        if name in GROUPS:
            app.add_command(getattr(import_module(f"chiplog.cli.{name}"), GROUPS[name]))
        else:
            app.add_command(_command(name, helps=helps))
    return app


def _command(name: str, *, helps: bool) -> click.Command:
    """One of COMMANDS; with the end of its help if that is asked for."""
    module = import_module(f"chiplog.cli.{COMMANDS[name]}")
    epilog = getattr(module, "epilog", None) if helps else None
    texts = [epilog() if epilog else "", _below_text(name) if helps else ""]
    function = getattr(module, COMMANDS[name])
    return command_of(name, function, "\n\n".join(filter(None, texts)) or None)


def _below_text(*above: str) -> str:
    """The end of a help: the commands below the commands that begin so, with what they do; empty without any."""
    known = []
    for words, function in BELOW.items():
        if words[: len(above)] == above:
            summary = getattr(import_module(f"chiplog.cli.{function}"), function).__doc__
            known.append(BelowCommand(" ".join(words), summary.partition("\n")[0]))
    return (
        names_help("Commands below it" if above else "Commands below these", known) if known else ""
    )


def _options() -> Iterator[click.Option]:
    """The options of chiplog itself: each prints something and ends."""
    for name, function, summary in (
        ("--version", _version, "Show the version."),
        (
            "--print-config",
            _configuration,
            "Show the defaults in force, with the file that each comes from.",
        ),
    ):
        yield click.Option(
            [name],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=partial(_print_and_end, function),
            help=summary,
        )


def _print_and_end(
    text: Callable[[], str], context: click.Context, _: click.Parameter, asked: bool
) -> None:
    if asked and not context.resilient_parsing:
        print(text())
        context.exit()


def _version() -> str:
    return f"chiplog {__version__}"


def _configuration() -> str:
    from chiplog.cli.configured import configuration_lines

    return "\n".join(configuration_lines()).rstrip()
