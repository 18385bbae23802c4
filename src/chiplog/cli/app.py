"""The commands, put together. Only signatures are imported here: what a command needs, it imports when it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated

import typer

from chiplog import __version__
from chiplog.cli.options import names_help, with_single_options

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
    "ucx": "ucx",
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
GROUPS = {"probe": "probe_app", "library": "library_app"}
"""Modules with commands of their own, and their Typer."""
BELOW = {
    ("tune", "lint"): "tune_lint",
    ("tune", "nccl"): "tune_nccl",
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
HELP = ("-h", "--help")
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


def app_for(words: Sequence[str]) -> typer.Typer:
    """The command that the first of the `words` names, else all of them.

    To import and describe all takes longer than a short measurement.
    """
    app = typer.Typer(
        name="chiplog",
        help=chiplog.__doc__,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": list(HELP)},
        epilog=f"{_below_text()}\n\n{MORE_HELP}" if words[:1] and words[0] in HELP else None,
    )
    app.callback()(chiplog)
    below = BELOW.get((words[0], words[1])) if len(words) > 1 else None
    if below is not None:
        group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
        group.callback()(_group)
        function = getattr(import_module(f"chiplog.cli.{below}"), below)
        group.command(words[1])(with_single_options(function))
        app.add_typer(group, name=words[0])
        return app
    helps = any(word in HELP for word in words[1:])
    named = [word for word in words[:1] if word in COMMANDS or word in GROUPS]
    for name in named or (*COMMANDS, *GROUPS):
        if name in GROUPS:
            app.add_typer(getattr(import_module(f"chiplog.cli.{name}"), GROUPS[name]), name=name)
        else:
            module = import_module(f"chiplog.cli.{COMMANDS[name]}")
            epilog = getattr(module, "epilog", None) if helps else None
            texts = [epilog() if epilog else "", _below_text(name) if helps else ""]
            command = with_single_options(getattr(module, COMMANDS[name]))
            app.command(name, epilog="\n\n".join(filter(None, texts)) or None)(command)
    return app


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


def _group() -> None:
    """Commands below a command."""


def _show_version(asked: bool) -> None:
    if asked:
        print(f"chiplog {__version__}")
        raise typer.Exit


def _print_configuration(asked: bool) -> None:
    if asked:
        from chiplog.cli.configured import configuration_lines

        print("\n".join(configuration_lines()).rstrip())
        raise typer.Exit


def chiplog(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
    print_config: Annotated[
        bool,
        typer.Option(
            "--print-config",
            callback=_print_configuration,
            is_eager=True,
            help="Show the defaults in force, with the file that each comes from.",
        ),
    ] = False,
) -> None:
    """Measure how a machine really communicates, fit the LogP family of models, show how far each is off."""
