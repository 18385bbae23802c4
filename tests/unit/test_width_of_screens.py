"""What people read fits in 80 columns, and long sentences wrap at words."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from all_commands import commands

import chiplog
from chiplog.cli import main
from chiplog.cli.app import BELOW, COMMANDS, GROUPS
from chiplog.cli.output import note
from chiplog.measurement import doctor
from chiplog.measurement.doctor import DoctorFact

COLUMNS = 80
SOURCES = Path(chiplog.__file__).parent
HELPS = [(), *((name,) for name in (*COMMANDS, *GROUPS)), *BELOW, *commands()]
LONG = "a sentence of many words that has no end in sight " * 5


def fits(text: str) -> None:
    assert text
    assert max(map(len, text.splitlines())) <= COLUMNS, max(text.splitlines(), key=len)


@pytest.mark.parametrize("words", sorted(set(HELPS)), ids=" ".join)
def test_each_help_fits(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words, "--help"]) == 0
    fits(capsys.readouterr().out)


def test_no_summary_is_cut_off_in_the_list_of_commands(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--help"])
    shown = capsys.readouterr().out
    assert "..." not in shown.partition("Commands:")[2]
    assert "Measure every two nodes of a machine, and say who is slow." in shown


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_alone_shows_its_help_and_cuts_no_summary(
    group: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([group]) == 2
    said = capsys.readouterr().err
    assert said.startswith("Usage: ")
    assert "..." not in said.partition("Commands:")[2]


@pytest.mark.parametrize("words", BELOW, ids=" ".join)
def test_a_command_below_another_is_named_where_it_lives(
    words: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    for asked in (["--help"], [words[0], "--help"]):
        main(asked)
        assert " ".join(words) in capsys.readouterr().out, asked


@pytest.mark.parametrize("command", ["run", "measure", "survey"])
def test_each_command_that_takes_a_target_explains_it(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main([command, "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "transport[:options], e.g." in said and "chiplog list transports" in said


def test_the_doctor_wraps_what_it_finds_below_itself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = (DoctorFact("clock", LONG), DoctorFact("huge pages", LONG, LONG))
    monkeypatch.setattr(doctor, "examine", lambda: facts)
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    fits(shown)
    begins = [len(line) - len(line.lstrip()) for line in shown.splitlines()[1:4]]
    assert begins == [14, 14, 14]


def test_a_plan_wraps_its_patterns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", "sim", "--ranks", "8", "--pattern", "all", "--dry-run"]) == 0
    fits(capsys.readouterr().out)


PROCESSES_OF_THEIR_OWN = {"tracing/otf2_reading.py"}
"""Programs whose words chiplog reads, and says itself."""


def test_nothing_but_note_prints_to_standard_error() -> None:
    """So that errors, notes, warnings and progress wrap alike."""
    printing = [
        str(file.relative_to(SOURCES))
        for file in sorted(SOURCES.rglob("*.py"))
        if "file=sys.stderr" in file.read_text()
    ]
    assert {*printing} - PROCESSES_OF_THEIR_OWN == {"messages.py"}


@pytest.mark.parametrize(("is_terminal", "lines"), [(True, 4), (False, 1)])
def test_a_message_wraps_on_a_terminal_and_is_one_line_for_programs(
    is_terminal: bool,
    lines: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    note(LONG.strip())
    said: Any = capsys.readouterr().err
    assert len(said.splitlines()) == lines
    assert " ".join(said.split()) == f"chiplog: {LONG.strip()}"
    if is_terminal:
        fits(said)


def test_a_microsecond_is_us_wherever_something_is_printed() -> None:
    reads_it_too = {"plan/units.py", "simulation/noise_text.py", "dataset/import_osu_tables.py"}
    files = [*SOURCES.rglob("*.py"), *SOURCES.rglob("*.js")]
    having = {str(file.relative_to(SOURCES)) for file in files if "µ" in file.read_text()}
    assert having == reads_it_too
