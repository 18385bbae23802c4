"""Manual pages from the commands themselves: `python site/man.py FOLDER` writes chiplog.1, chiplog-measure.1 ..."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from click_man.core import generate_man_page
from commands import all_commands

from chiplog import __version__
from chiplog.cli.app import app_for


def write_man_pages(folder: Path) -> list[Path]:
    """A page of each command, those below others included, and one of all; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    top = app_for([])
    for command in top.commands.values():
        _say_in_one_sentence(command)
    written = [_write(folder, "chiplog", top)]
    for words, command in all_commands():
        written.append(_write(folder, f"chiplog {words}", command))
    return written


def _write(folder: Path, name: str, command: click.Command) -> Path:
    _say_in_one_sentence(command)
    path = folder / f"{name.replace(' ', '-')}.1"
    path.write_text(generate_man_page(click.Context(command, info_name=name), __version__))
    return path


def _say_in_one_sentence(command: click.Command) -> None:
    """Lists take the whole first sentence; click would cut it after 45 characters."""
    first = (command.help or "").split("\n\n")[0].replace("\n", " ").strip()
    command.short_help = first.split(". ")[0].rstrip(".")


if __name__ == "__main__":
    print(*write_man_pages(Path(sys.argv[1])), sep="\n")
