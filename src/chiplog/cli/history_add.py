"""`chiplog history add`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from chiplog.cli.options import SurveyArgument
from chiplog.cli.output import note
from chiplog.cli.parameters import Argument, Option


def history_add(
    folder: Annotated[
        Path, Argument(metavar="FOLDER", help="The history; made if it is not there.")
    ],
    run: SurveyArgument,
    time: Annotated[
        str | None,
        Option(metavar="TIME", help="When it was measured, if a clock was wrong."),
    ] = None,
) -> None:
    """Add a finished survey to a history.

    It is one file of its own, which never changes again.
    """
    from chiplog.run_history.write import add_survey

    note(f"added as {add_survey(run, folder, time=time)}.")
