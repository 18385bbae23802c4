"""Intel MPI's variable for the barrier: `I_MPI_ADJUST_BARRIER=NUMBER:SIZES@RANKS;...`.

Source: Intel MPI Library, Developer Reference, "I_MPI_ADJUST Family".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from chiplog.errors import UsageError
from chiplog.tune.choice import Tuning
from chiplog.tune.formats.one_radix import lines, read_lines
from chiplog.tune.version import Version
from chiplog.tune.writer import TuningFormat, TuningWriter, only_format

NUMBERS = {"dissemination": 1, "recursive-doubling": 2}


def offered(operation: str, _: Version) -> Collection[str]:
    """Barriers only."""
    if operation != "barrier":
        raise UsageError(
            f"--operation {operation}: Intel MPI's variable is written for barrier only."
        )
    return NUMBERS


def text(tuning: Tuning, _: Version) -> str:
    """Only what leaves the default."""
    rules = [
        f"{NUMBERS[one.algorithm]}:0-0@{one.ranks}-{one.ranks}"
        for one in tuning.choices
        if one.is_changed
    ]
    return lines({"I_MPI_ADJUST_BARRIER": ";".join(rules)}, f"by the fit of {tuning.model}")


def settings(path: Path, _: Version) -> Mapping[str, str]:
    """What the file says."""
    return read_lines(path)


TUNING_WRITER = TuningWriter(
    name="intelmpi-barrier",
    summary="Intel MPI: barrier by dissemination or recursive doubling",
    format_for=only_format(TuningFormat(offered, text, settings)),
)
