"""`chiplog changes`."""

from __future__ import annotations

from typing import Annotated

import typer

from chiplog.cli.arguments import RunArgument
from chiplog.cli.output import JsonOption, write_json


def changes(
    run: RunArgument,
    json_file: JsonOption = None,
    details: Annotated[
        bool, typer.Option("--details", help="Show the changes of every series, too.")
    ] = False,
) -> None:
    """Find the protocol changes of a run: the consensus of all its series."""
    from chiplog.dataset.run_file import read_run
    from chiplog.fit.changes import changes_to_json, find_changes

    parts = read_run(run).by_way()
    found = {way: find_changes(part) for way, part in parts.items()}
    if json_file:
        write_json(json_file, changes_to_json(found))
    else:
        from chiplog.cli.tables import print_changes

        print_changes(found, details=details)
