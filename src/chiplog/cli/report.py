"""`chiplog report`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from chiplog.cli.output import note, tell_left_out
from chiplog.cli.parameters import Argument, Option, OutputFile
from chiplog.errors import ChiplogError, CorruptFile, UsageError


def report(
    files: Annotated[
        list[Path],
        Argument(metavar="FILE ...", help="Run files and model files, or one survey."),
    ],
    out: Annotated[
        Path,
        OutputFile("-o", "--output", metavar="REPORT.html|REPORT.md", help="The file to write."),
    ],
    history: Annotated[
        Path | None,
        Option(metavar="FOLDER", help="With a survey: the history to draw beside it."),
    ] = None,
    topology: Annotated[
        Path | None,
        Option(metavar="FILE", help="With a survey: Slurm's topology.conf, to hold it against."),
    ] = None,
) -> None:
    """Write a report on runs and models, or on a survey."""
    from chiplog.machine_survey.page.page import is_survey

    command = ("chiplog", *sys.argv[1:])
    left_out: Sequence[ChiplogError]
    if any(is_survey(file) for file in files):
        left_out = _survey(files, out, history, topology, command)
    else:
        for name, given in (("--history", history), ("--topology", topology)):
            if given is not None:
                raise UsageError(f"{name} goes with a survey, and {files[0]} is none.")
        from chiplog.jobs.report import report as write_report

        _, left_out = write_report(files, out, command=command)
    note(f"the report is {out}.")
    tell_left_out(left_out)


def _survey(
    files: list[Path],
    out: Path,
    history: Path | None,
    topology: Path | None,
    command: tuple[str, ...],
) -> list[ChiplogError]:
    """Writes the page, and returns what was left out of the history."""
    from chiplog.machine_survey.page import survey_page
    from chiplog.machine_survey.page.page import page_of_file
    from chiplog.report.write import check_suffix, write_document

    check_suffix(out)
    if len(files) > 1:
        raise UsageError("a survey has a page of its own: name one survey and nothing else.")
    page = page_of_file(files[0], topology=topology, command=command)
    unread: tuple[str, ...] = ()
    if history is not None:
        from dataclasses import replace

        from chiplog.run_history.months import months_of

        months, unread = months_of(history, page.result.target)
        page = replace(page, months=months)
    write_document(survey_page(page), out)
    return [CorruptFile(reason) for reason in unread]
