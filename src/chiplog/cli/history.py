"""`chiplog history`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from chiplog.cli.options import JsonOption, TargetOption, option
from chiplog.cli.output import say, tell_left_out, write_json
from chiplog.cli.parameters import Argument, Option
from chiplog.errors import CorruptFile


@dataclass(frozen=True)
class QuestionOptions:
    """Which figures of a history are asked for, and what they are held against."""

    node: str | None = option(metavar="NAME", help="This node only; by default all of them.")
    pair: str | None = option(
        metavar="A,B", help="The figures of this pair, against the median pair."
    )
    link_class: str | None = option(
        None,
        "--class",
        metavar="NAME",
        help="The median of a class of pairs: leaf (within one), spine (between two) or all.",
    )
    against: str = option(
        "30d", metavar="TIME", help="Hold each run against so long before it: 30d, 2w, 12h."
    )
    target: TargetOption = None


def history(
    folder: Annotated[
        Path,
        Argument(metavar="FOLDER", help="What `chiplog history add` writes to."),
    ],
    *,
    question: QuestionOptions,
    json_file: JsonOption = None,
    details: Annotated[
        bool, Option("--details", help="Print all nodes, not a screen of them.")
    ] = False,
) -> None:
    """Say what changed on a machine since when, and by how much.

    Of nodes, of a pair, or of a class of links.
    """
    from chiplog.cli.history_text import history_text
    from chiplog.run_history.result import judge_history

    result = judge_history(folder, **asdict(question))
    if json_file:
        write_json(json_file, result.to_json())
    if json_file != "-":
        say(history_text(result, most=None if details else 20))
    tell_left_out([CorruptFile(sentence) for sentence in result.unread])
