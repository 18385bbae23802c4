"""`chiplog tune lint`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from chiplog.cli.options import COMMAND, NOT_RELIABLE, UNDECIDED, FoundMpiOption, JsonOption, option
from chiplog.cli.output import say, wrapped, write_json
from chiplog.cli.parameters import Argument, Option
from chiplog.counts import counted

if TYPE_CHECKING:
    from chiplog.tune.lint.lint_file import Lint
    from chiplog.tune.lint.rule import Rule

MOST_WRONG, MOST_UNPROVED = 30, 3
"""Given: wrong rules, and reasons for rules that are not proved, that a screen has room for."""


@dataclass(frozen=True)
class AskedMpiOptions:
    """The MPI that is asked, and what starts its ranks."""

    launcher: str | None = option(
        metavar=COMMAND,
        help='Starts the ranks of the calls that prove rules, e.g. "mpirun -n 16".',
    )
    mpi: FoundMpiOption = None
    version: str | None = option(metavar="V", help="The release, also where it is not here.")


def tune_lint(
    file: Annotated[Path, Argument(metavar="FILE", help="A tuning file, yours or ours.")],
    target: Annotated[str, Option("--for", metavar="PROGRAM", help="openmpi, mpich or ucc.")],
    *,
    asked: AskedMpiOptions,
    strict: Annotated[
        bool, Option("--strict", help="Exit code 4 where a rule is not proved.")
    ] = False,
    details: Annotated[bool, Option("--details", help="All rules.")] = False,
    json_file: JsonOption = None,
) -> None:
    """Say whether each rule of a tuning file is legal and taken.

    The MPI at hand is asked; the exit code is 3 where a rule is wrong.
    """
    from chiplog.tune.lint.lint_file import lint

    outcome = lint(file, target, **asdict(asked))
    write_json(json_file, outcome.to_json(file))
    if json_file != "-":
        _print(file, outcome, details=details)
    if outcome.wrong:
        raise click.exceptions.Exit(NOT_RELIABLE)
    if strict and outcome.unproved:
        raise click.exceptions.Exit(UNDECIDED)


def _print(file: Path, outcome: Lint, *, details: bool) -> None:
    counts = [counted(len(outcome.rules), "rule"), f"{len(outcome.wrong)} wrong"]
    if outcome.unproved:
        counts.append(f"{len(outcome.unproved)} not proved")
    say(f"{file}: {', '.join(counts)}.")
    say(wrapped(f"{outcome.format}, for {outcome.mpi}."))
    for line_note in outcome.notes:
        say(wrapped(f"line {line_note.line}: note: {line_note.text}."))
    for rule in outcome.rules if details else outcome.wrong[:MOST_WRONG]:
        say(wrapped(_line(rule)))
    if details:
        return
    if len(outcome.wrong) > MOST_WRONG:
        say(f"{counted(len(outcome.wrong) - MOST_WRONG, 'more wrong rule')}: --details")
    reasons: dict[str, list[int]] = {}
    for rule in outcome.unproved:
        reasons.setdefault(rule.reason or "not proved", []).append(rule.line)
    for reason, lines in list(reasons.items())[:MOST_UNPROVED]:
        say(wrapped(f"{_places(lines)}: {reason}."))
    if len(reasons) > MOST_UNPROVED:
        say(f"{counted(len(reasons) - MOST_UNPROVED, 'more reason')}: --details")


def _places(lines: list[int]) -> str:
    if len(lines) == 1:
        return f"line {lines[0]}"
    return f"lines {lines[0]} to {lines[-1]} ({len(lines)} rules)"


def _line(rule: Rule) -> str:
    if rule.legal is False:
        verdict = "illegal"
    elif rule.taken is False:
        verdict = "not taken"
    elif rule.is_unproved:
        verdict = "not proved"
    else:
        return f"line {rule.line}: {rule.text}: taken"
    reason = (rule.reason or "").removeprefix("not proved: ")
    return f"line {rule.line}: {rule.text}: {verdict}: {reason}."
