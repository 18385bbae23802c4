"""Intel MPI's I_MPI_ADJUST variables: a preset by its number, for ranges of sizes and of ranks.

`I_MPI_ADJUST_ALLREDUCE=5:0-512@2-4;2:513-1024@2-4`: bounds are inclusive; what no condition fits, Intel MPI decides by
itself. Only operations whose message size is the same on every rank are written: of the others Intel doesn't document
whether a size counts one rank's block or all.

Source: I_MPI_ADJUST Family in Intel's developer reference; `impi_info -v I_MPI_ADJUST_ALLREDUCE` for the presets.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from chiplog.errors import UsageError
from chiplog.tune.choice import Tuning
from chiplog.tune.formats.one_radix import lines, read_lines
from chiplog.tune.ranges import RankRule, rules
from chiplog.tune.version import Version
from chiplog.tune.writer import TuningFormat

PREFIX = "I_MPI_ADJUST_"
OPERATIONS = ("barrier", "bcast", "reduce", "allreduce")
LARGEST_BYTES = 2**31 - 1
"""The last size of a rule without an end."""


def variable_of(operation: str) -> str:
    """The operation's variable; UsageError where its sizes are not known."""
    if operation not in OPERATIONS:
        raise UsageError(
            f"--operation {operation}: how Intel MPI counts its sizes is not documented; rules are written for "
            f"{', '.join(OPERATIONS)}."
        )
    return PREFIX + operation.upper()


def offered(operation: str, _: Version) -> Collection[str]:
    """Nothing by a model: presets have numbers, no names."""
    variable_of(operation)
    raise UsageError(
        "--for intelmpi: Intel MPI's presets are numbers, whose times no model knows; race them with --measure."
    )


def text(tuning: Tuning, _: Version) -> str:
    """One variable, with a condition a range; comments only where nothing leaves the default."""
    entries = rules(tuning)
    ends = [entry.first_ranks - 1 for entry in entries[1:]]
    conditions = [
        f"{condition}@{entry.first_ranks}-{last}"
        for entry, last in zip(entries, ends, strict=False)
        for condition in _sizes(entry)
    ]
    settings = {variable_of(tuning.operation): ";".join(conditions)} if conditions else {}
    return lines(settings, f"Intel MPI: {tuning.operation}, by {tuning.model}")


def _sizes(entry: RankRule) -> list[str]:
    """The conditions of sizes that have a preset."""
    conditions = []
    for place, rule in enumerate(entry.sizes):
        native = rule.key.native if rule.key else None
        if native is None or native.number is None:
            continue
        following = entry.sizes[place + 1 :]
        last = following[0].first_bytes - 1 if following else LARGEST_BYTES
        conditions.append(f"{native.number}:{rule.first_bytes}-{last}")
    return conditions


def settings(path: Path, _: Version) -> Mapping[str, str]:
    """What the file says."""
    return read_lines(path)


FORMAT = TuningFormat(offered, text, settings)
