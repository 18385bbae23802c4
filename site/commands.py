"""Pages of the commands, from the commands themselves."""

from __future__ import annotations

from collections.abc import Iterator

import click

from chiplog.cli.app import BELOW, COMMANDS, GROUPS, app_for


def all_commands() -> Iterator[tuple[str, click.Command]]:
    """Every command by the words that call it, those below others included."""
    for name in COMMANDS:
        yield name, _command((name, "--help"))
    for name in GROUPS:
        group = _command((name, "--help"))
        assert hasattr(group, "commands")
        for below, command in sorted(group.commands.items()):
            yield f"{name} {below}", command
    for words in BELOW:
        group = _command((*words, "--help"))
        yield " ".join(words), group.commands[words[1]]  # type: ignore[attr-defined]


def _command(words: tuple[str, ...]) -> click.Command:
    return app_for(words).commands[words[0]]


def command_page(name: str, command: click.Command) -> str:
    """A page: what the command does, its usage, arguments and options."""
    context = click.Context(command, info_name=f"chiplog {name}")
    parts = [f"# chiplog {name}", "", _prose(command.help or ""), "", "```console"]
    parts += [f"$ chiplog {name} {' '.join(command.collect_usage_pieces(context))}", "```", ""]
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option"]
    for title, parameters in (("Arguments", arguments), ("Options", options)):
        rows = [_row(each, context) for each in parameters if not getattr(each, "hidden", False)]
        if rows:
            parts += [f"## {title}", "", "| name | meaning |", "|---|---|", *rows, ""]
    if command.epilog:
        parts += ["## Names", "", _prose(command.epilog), ""]
    return "\n".join(parts)


def option_names(command: click.Command) -> list[str]:
    """All names of a command's options that its help shows."""
    shown = [each for each in command.params if not getattr(each, "hidden", False)]
    return [
        name for each in shown if each.param_type_name == "option"
        for name in (*each.opts, *each.secondary_opts)
    ]  # fmt: skip


def _row(parameter: click.Parameter, context: click.Context) -> str:
    help_text = getattr(parameter, "help", None) or ""
    if parameter.param_type_name == "argument":
        return f"| `{parameter.make_metavar(context)}` | {_cell(help_text)} |"
    record = parameter.get_help_record(context)
    names, described = record or (", ".join(parameter.opts), help_text)
    return f"| `{names.replace('|', '/')}` | {_cell(described)} |"


def _cell(text: str) -> str:
    return _escaped(" ".join(text.split())).replace("|", "\\|")


def _prose(text: str) -> str:
    return _escaped(text.replace("\b", ""))


def _escaped(text: str) -> str:
    """Text in which nothing is Markdown or HTML."""
    for mark in "<>*_[]`":
        text = text.replace(mark, f"&#{ord(mark)};")
    return text
