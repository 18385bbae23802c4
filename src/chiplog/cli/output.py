"""Where results go: standard output or a file; progress and warnings go to standard error."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from chiplog.counts import counted
from chiplog.errors import ChiplogError
from chiplog.input_file import MOST_NAMED
from chiplog.messages import COLUMNS, SCREEN_ROWS, aligned, note, wrapped
from chiplog.output_file import write_text
from chiplog.quoting import for_terminal

if TYPE_CHECKING:
    from chiplog.fitting.result import Fit

LABEL = " " * 11
"""Given: what lines below a labelled one begin with: as wide as the label."""
__all__ = [
    "COLUMNS",
    "CROSSING_UNKNOWN",
    "INCAST_FOLLOWED",
    "SCREEN_ROWS",
    "aligned",
    "note",
    "say",
    "tell_states",
    "wrapped",
    "write_json",
]


CROSSING_UNKNOWN = (
    "no exchange was measured: messages that cross others count as if alone, and intervals go up to their bytes taking "
    "twice as long; chiplog measure --pattern prtt,exchange tells."
)

INCAST_FOLLOWED = "messages that meet at one receiver take what the measured incast adds for each."


def write_json(destination: str | None, content: Any) -> None:
    """Write `content` as JSON to the file `destination`, or to standard output for `-`; nothing without one."""
    if destination:
        write_text(destination, json.dumps(content, indent=2, allow_nan=False) + "\n")


def rejected_text(reason: str) -> str:
    """What is said of results from a fit that its own check rejects."""
    return f"not to be relied on (--anyway): {reason}."


def tell_states(fit: Fit) -> None:
    """Say that the machine was in several states while it was measured, where it was."""
    from chiplog.prediction.model_error import states_sentence

    sentence = states_sentence(fit)
    if sentence is not None:
        note(sentence)


def say(text: str) -> None:
    """Print a result, of whatever files, on standard output."""
    print(for_terminal(text))


def tell_left_out(errors: Sequence[ChiplogError]) -> None:
    """Say which files a result is made without, and end as the first of them says; nothing where there are none."""
    for error in errors[1:MOST_NAMED]:
        note(str(error))
    if len(errors) > MOST_NAMED:
        note(
            f"{counted(len(errors) - MOST_NAMED, 'more file is', 'more files are')} left out for such reasons."
        )
    if errors:
        raise errors[0]


def note_build(sentence: str) -> None:
    """Say on standard error how a build goes on; not each file that is compiled."""
    if not sentence.startswith("compiled"):
        note(sentence)
