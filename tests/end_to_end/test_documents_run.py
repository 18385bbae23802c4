"""What the documents tell a reader to type is understood by the commands, runs, page by page, in an empty folder, and
prints what the documents show.

To take seconds, commands that measure get a budget that the reader does not type.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import click
import pytest
from console_blocks import ROOT, blocks_of, chiplog_calls, missing_line, pages

from chiplog.cli.app import BELOW, GROUPS, app_for
from chiplog.measurement.launchers import OPEN_MPI_AS_ROOT

BLOCKS = [block for page in pages() for block in blocks_of(page)]
PAGES_THAT_RUN = sorted({block.page for block in BLOCKS if block.reason is None})
BUDGETS = {"measure": "5", "run": "20"}
"""Seconds, by command: little, but enough where other tests keep the cores busy."""
GATE = (0, 3, 4)
"""The exit codes of a comparison with a threshold: passed, hit, not to be told."""
REFUSAL = "With --anyway the fit is used all the same."
"""The end of what a command says that refuses a fit: whether this machine's fits stand, no document can promise."""
MOST_NOT_RUN = 28
BIN = Path(sys.executable).parent


def understood(words: list[str]) -> None:
    """Raises click.UsageError where a command has no such option, or takes no such argument."""
    below = tuple(words[:2]) in BELOW or words[0] in GROUPS
    command: click.Command = app_for(words)
    for name in words[: 2 if below else 1]:
        command = command.commands[name]  # type: ignore[attr-defined]
    arguments = words[2 if below else 1 :]
    command.make_parser(click.Context(command)).parse_args(list(arguments))
    known = {word for one in command.params for word in (*one.opts, *one.secondary_opts)}
    own = itertools.takewhile(lambda word: word != "--", arguments)
    given = {word.partition("=")[0] for word in own if word.startswith("--")}
    assert given <= known | {"--help"}, given - known


def test_every_command_that_is_shown_has_the_options_that_are_shown() -> None:
    calls = [
        (block.name, words)
        for block in BLOCKS
        for words in chiplog_calls(block)
        if words != ["--print-config"]
    ]
    assert len(calls) > 40
    for name, words in calls:
        try:
            understood(words)
        except (click.UsageError, KeyError) as error:
            pytest.fail(f"{name}: chiplog {shlex.join(words)}: {error}")


def test_the_commands_of_the_start_pages_table_are_understood() -> None:
    text = (ROOT / "docs" / "i-have-i-want.md").read_text()
    calls = re.findall(r"`chiplog ([^`]*)` \|$", text, flags=re.MULTILINE)
    assert len(calls) >= 8
    for call in calls:
        understood(shlex.split(call))


def test_what_can_not_be_run_is_said_and_is_little() -> None:
    print(*(f"{block.name}: {block.reason}" for block in BLOCKS if block.reason), sep="\n")
    assert sum(block.reason is not None for block in BLOCKS) <= MOST_NOT_RUN


@pytest.mark.parametrize("page", PAGES_THAT_RUN, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_runs_command_by_command(page: Path, tmp_path: Path) -> None:
    for program in (ROOT / "examples").glob("*.c"):
        shutil.copy(program, tmp_path)
    for block in (one for one in blocks_of(page) if one.reason is None):
        for command, shown in block.steps():
            command = typed(command)
            done = run_in_folder(command, tmp_path)
            if done.returncode == 2 and REFUSAL in done.stderr:
                command = f"{command} --anyway"
                done = run_in_folder(command, tmp_path)
            expected = GATE if " --fail-on " in command else (0,)
            assert done.returncode in expected, f"{block.name}: {command}\n{done.stderr}"
            assert "Traceback" not in done.stderr
            said = f"{done.stdout}{done.stderr}"
            lost = missing_line(shown, said.replace(socket.gethostname(), "vm"))
            assert lost is None, f"{block.name}: {command}: '{lost}' is not in\n{said}"


def run_in_folder(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What the shell does with it, with this environment's programs first."""
    as_root = OPEN_MPI_AS_ROOT if os.geteuid() == 0 else {}
    environment = {**os.environ, **as_root, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    # The page's own chiplog.toml counts, and no other.
    environment["XDG_CONFIG_HOME"] = str(folder)
    environment.pop("CHIPLOG_CONFIG", None)
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def typed(command: str) -> str:
    """It with a budget, where it measures this machine."""
    words = command.split()
    has_budget = "--budget" in words or (len(words) > 2 and words[2].startswith("sim"))
    budget = None if words[0] != "chiplog" or has_budget else BUDGETS.get(words[1])
    return f"{command} --budget {budget}" if budget else command
