"""`chiplog history`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chiplog.cli.output import JsonOption, TargetOption, note, write_json
from chiplog.errors import CorruptFile


def history(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="What `chiplog history add` writes to.")
    ],
    node: Annotated[
        str | None, typer.Option(metavar="NAME", help="This node only; by default all of them.")
    ] = None,
    against: Annotated[
        str,
        typer.Option(metavar="TIME", help="Hold each run against so long before it: 30d, 2w, 12h."),
    ] = "30d",
    target: TargetOption = None,
    json_file: JsonOption = None,
    details: Annotated[
        bool, typer.Option("--details", help="Print all nodes, not a screen of them.")
    ] = False,
) -> None:
    """Say which nodes changed, since when and by how much; `chiplog history add` adds a survey."""
    from chiplog.cli.history_text import history_text
    from chiplog.history.result import judge_history

    result = judge_history(folder, node=node, against=against, target=target)
    if json_file:
        write_json(json_file, result.to_json())
    if json_file != "-":
        print(history_text(result, most=None if details else 20))
    for sentence in result.unread[1:]:
        note(sentence)
    if result.unread:
        raise CorruptFile(result.unread[0])
