"""The commands, put together. Only signatures are imported here: what a command needs, it imports when it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module

import click

from chiplog import __version__
from chiplog.cli.options import names_help
from chiplog.cli.parameters import Group, command_of, group_of

Listed = tuple[str, str]
"""A function of that name in a module of that name, and the first line of its docstring."""
COMMANDS: Mapping[str, Listed] = {
    "run": ("run", "Measure this machine, fit all models and write a report."),
    "measure": ("measure", "Measure TARGET and write every raw sample to a run file."),
    "survey": ("survey", "Measure every two nodes of a machine, and say who is slow."),
    "history": ("history", "Say what changed on a machine since when, and by how much."),
    "import": ("import_file", "Import another tool's measurements as a run file."),
    "fit": ("fit", "Fit models to a run."),
    "changes": ("changes", "Find the protocol changes of a run."),
    "compare": ("compare", "Compare two runs, or models on points not fitted to."),
    "predict": ("predict", "Say how long a collective operation takes."),
    "calibrate": ("calibrate", "Say how far predictions of measured collectives are off."),
    "schedule": ("schedule", "Write a collective operation's schedule as GOAL text."),
    "simulate": ("simulate", "Say when each rank of a schedule is done, under LogGOPS."),
    "trace": ("trace", "Trace an MPI program: who calls what, when, and with whom."),
    "app": ("application", "Say what an application's communication costs."),
    "tune": ("tune", "Write a tuning file from a model, or from measurements."),
    "check-tuning": ("check_tuning", "Prove that a tuning file is in force with the MPI here."),
    "ucx": ("ucx", "Find UCX's thresholds by measurement."),
    "bench": ("bench", "Time an MPI collective operation, in three ways."),
    "export": ("export", "Write a run or a model in another program's format."),
    "report": ("report", "Write a report on runs and models, or on a survey."),
    "share": ("share", "Write a machine as one small file that others may see."),
    "list": ("list_names", "List the models, transports and so on that there are."),
    "doctor": ("doctor", "Say what is usable here, and what makes numbers noisy."),
}
"""Commands.

Summaries stand here, too, so that the list of commands needs none of their modules. A module's function `epilog`
gives the end of the command's help, such as the names that an option accepts.
"""
GROUPS = {
    "probe": ("probe", "Build the probe with a site's own MPI, or list probes."),
    "library": ("library", "Build the barrier library for a site's own MPI."),
}
"""Groups: the modules whose COMMANDS they are, and what they are for."""
BELOW: Mapping[tuple[str, ...], Listed] = {
    ("tune", "lint"): ("tune_lint", "Say whether each rule of a tuning file is legal and taken."),
    ("tune", "nccl"): (
        "tune_nccl",
        "Choose NCCL's algorithms and protocols from runs of nccl-tests.",
    ),
    ("history", "add"): ("history_add", "Add a finished survey to a history."),
    ("survey", "verdict"): (
        "survey_verdict",
        "Say which nodes of a survey are slow, for operators.",
    ),
}
"""Commands below a command that takes arguments itself.

A file of the second name is written with its folder: `chiplog tune ./lint`, `chiplog history ./add`.
"""


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
    """The command that the first of the `words` names; without one, what lists all of them.

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
    for name, command in _commands(words):
        app.add_command(command, name)
    return app


def _commands(words: Sequence[str]) -> Iterator[tuple[str, click.Command]]:
    first, *others = words or ("",)
    if below := BELOW.get(tuple(words[:2])):
        functions = {words[1]: _function(below[0])}
        yield first, group_of(first, "Commands below a command.", functions)
    elif first in COMMANDS or first in GROUPS:
        yield first, _command(first, helps=any(word in HELP_OPTIONS for word in others))
    elif first.startswith("-") and first not in HELP_OPTIONS:  # a command may follow
        for name in (*COMMANDS, *GROUPS):
            yield name, _command(name, helps=False)
    else:
        for name, (_, summary) in (*COMMANDS.items(), *GROUPS.items()):
            yield name, click.Command(name, help=summary)


def _command(name: str, *, helps: bool) -> click.Command:
    """One of COMMANDS or GROUPS; with the end of its help if that is asked for."""
    if name in GROUPS:
        module, summary = GROUPS[name]
        return group_of(name, summary, import_module(f"chiplog.cli.{module}").COMMANDS)
    function = _function(COMMANDS[name][0])
    epilog = getattr(import_module(function.__module__), "epilog", None) if helps else None
    texts = [epilog() if epilog else "", _below_text(name) if helps else ""]
    return command_of(name, function, "\n\n".join(filter(None, texts)) or None)


def _function(name: str) -> Callable[..., None]:
    function: Callable[..., None] = getattr(import_module(f"chiplog.cli.{name}"), name)
    return function


def _below_text(*above: str) -> str:
    """The end of a help: the commands below the commands that begin so, with what they do; empty without any."""
    below = {
        " ".join(words): summary
        for words, (_, summary) in BELOW.items()
        if words[: len(above)] == above
    }
    title = "Commands below it" if above else "Commands below these"
    return names_help(title, below) if below else ""


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
