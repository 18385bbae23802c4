"""What a shell is told where an argument may also be the name of a command below."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def command_or_file(*commands: str) -> Callable[[str], list[str]]:
    """How an argument may go on that begins as given: the commands, then files and folders.

    The shell completes files by itself only where nothing else is offered.

    >>> command_or_file("lint")("li")
    ['lint']
    """

    def offered(incomplete: str) -> list[str]:
        folder, begin = _split(incomplete)
        names = [command for command in commands if command.startswith(incomplete)]
        try:
            files = sorted(
                f"{folder}{path.name}{'/' * path.is_dir()}"
                for path in Path(folder or ".").iterdir()
                if path.name.startswith(begin) and (begin or not path.name.startswith("."))
            )
        except OSError:
            files = []
        return names + files

    return offered


def _split(incomplete: str) -> tuple[str, str]:
    """The folder as typed, with its slash, and how the name in it begins."""
    folder, slash, begin = incomplete.rpartition("/")
    return folder + slash, begin
