r"""The tables of the OSU micro-benchmarks: which test a title begins, why some can't be imported, and their columns.

# OSU MPI-CUDA MANAGED Latency Test v7.4       since version 3; the accelerator where there is one
# OSU MPI Latency Test (Version 2.2)           before
# OMB-Py MPI Latency Test                      of Python
# OSU Latency Test                             of Java
# MPI Latency Test                             of mpi4py's examples
 OSU MPI Latency Test v7.2                     where `#` was lost, or is `\#`, on the way through a web page

# Size          Latency (us)                                             C, Java
# Size       Avg Latency(us)   P50 Tail Lat(us)   P90 Tail Lat(us)       since version 7.3, with -z
# Size [B]  Latency [us]                                                 mpi4py's examples

Source: the output of the OSU micro-benchmarks, versions 2 to 7, and of their forks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chiplog.dataset.import_text import is_number
from chiplog.dataset.import_values import MICROSECOND, MILLISECOND, NANOSECOND, number, time
from chiplog.dataset.lines import Where

_NAME = r"(?:(?:\\?#+\s*)?\**(?:OSU|OMB-Py|OMB Python)\s+|\\?#+\s*(?=MPI\s))(\S.*?\bTest)\b\**"
TITLE = re.compile(
    rf"{_NAME}\s*(?:\(?\bv(?:ersion)?\s*(\d[^)\s]*)\)?(?:(?!\bSize\b).)*|\(.*\))?",
    re.IGNORECASE,
)
"""A line that begins a test; its groups are the title without tool and version, and the version."""
BEGIN = re.compile(rf"(?<![^\s|>]){_NAME}(?=[\s|*]|$)", re.IGNORECASE)
"""The begin of a title somewhere in a line."""
_MPI = re.compile(
    r"(?:One Sided )?(?:Open )?MPI(?:_(\w+))?(?:-([A-Z]+(?: MANAGED| KERNEL)?))? (.*)",
    re.IGNORECASE,
)
DEFAULT_WINDOW = 64
"""Given: messages of a window without -W."""
_OLD_WINDOW, _NEW_WINDOW_SINCE = 32, (5, 4)
"""Given: messages of a window of one-sided calls before that version."""
_WHY = (
    (r"mpi_|one sided", "no pattern of chiplog times this one-sided operation with its completion"),
    (r"multi-(threaded|process)", "several threads or processes share each end"),
    (r"persistent|partitioned", "it times persistent requests, which no pattern of chiplog uses"),
    (r"hello|init|congestion|fan.?(in|out)", "it times no messages between pairs of ranks"),
)


class Title(NamedTuple):
    """What a title says."""

    name: str
    """The test, with the call before it where it is one-sided: "Latency Test", "MPI_Get latency Test"."""
    accelerator: str | None


def parsed(title: str) -> Title:
    """The parts of a title as TITLE finds it.

    >>> parsed("MPI-CUDA Latency Test")
    Title(name='Latency Test', accelerator='CUDA')
    >>> parsed("One Sided MPI_Get Latency Test").name, parsed("Bandwidth Test").name
    ('MPI_Get Latency Test', 'Bandwidth Test')
    """
    match = _MPI.fullmatch(title)
    if match is None:
        return Title(title, None)
    return Title(f"MPI_{match[1]} {match[3]}" if match[1] else match[3], match[2])


def window(name: str, version: str | None) -> int:
    """The window of a bandwidth test that was run without -W: 64 messages, but 32 of one-sided calls before 5.4.

    >>> [window("MPI_Put Bandwidth Test", version) for version in ("5.3.2", "5.4", None)]
    [32, 64, 64]
    """
    numbers = tuple(map(int, re.findall(r"\d+", version or "")[:2]))
    is_old = bool(numbers) and numbers < _NEW_WINDOW_SINCE
    return _OLD_WINDOW if is_old and name.startswith("MPI_") else DEFAULT_WINDOW


def why_not(title: str) -> str:
    """Why a test with such a title can't be imported, as the end of a sentence; empty if not known."""
    for pattern, reason in _WHY:
        if re.search(pattern, title, re.IGNORECASE):
            return f": {reason}"
    return ""


HEADER = re.compile(r"(?:\\?#+\s*)?Size\b\s*(?:[(\[]([^)\]]*)[)\]])?(\s.*)", re.IGNORECASE)
"""The header of a table; its groups are the unit of the size and the names of the other columns."""
HEADERS = re.compile(
    r"(?<![^\s|>])(?:\\?#+\s*)?Size\b(?=[^|\n]*(?:Latency|Overall|Bandwidth|B/s))", re.IGNORECASE
)
"""The begin of each header in a line."""
_COLUMN = re.compile(
    r"(?:(?P<statistic>Avg|Min|Max) )?"
    r"(?P<name>Latency|Overall|Compute|Coll\. Init|MPI_Test|MPI_Wait|Pure Comm\.|Comm\.|Overlap|Bandwidth|"
    r"[KMG]i?B/s|Messages/s|Iterations|Validation|Transmit Size|"
    r"P(?P<percent>\d{1,2}) Tail (?:Lat|BW))\s?(?:[(\[](?P<unit>[^)\]]*)[)\]])?(?=\s|$)",
    re.IGNORECASE,
)
_OTHER = re.compile(r"\S+(?: \S+)*")
_PARTS = ("overall", "compute", "coll. init", "mpi_test", "mpi_wait")
"""What a test of operations that don't block prints beside their pure time."""
_UNITS: Mapping[str, float] = {
    "s": 1.0,
    "ms": MILLISECOND,
    "us": MICROSECOND,
    "µs": MICROSECOND,
    "usec": MICROSECOND,
    "ns": NANOSECOND,
}
_RATES: Mapping[str, float] = {
    "KB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "MiB/s": 2.0**20, "GiB/s": 2.0**30, "Mb/s": 1.25e5, "Gb/s": 1.25e8,
}  # fmt: skip
"""Given: bytes a second."""
_TIMES = {
    "latency": "latency",
    "comm.": "latency",
    **{name: name for name in (*_PARTS, "pure comm.")},
}
"""The kind of each column that is a time."""
DEFAULTS: Mapping[str, float] = {
    "latency": _UNITS["us"],
    "bandwidth": _RATES["MB/s"],
    "messages": 1.0,
    "pure comm.": _UNITS["us"],
}
"""What a number in a column of each kind means where the table has no header: seconds, bytes/s, messages/s."""


@dataclass(frozen=True)
class OsuColumn:
    """One column behind the size."""

    kind: str
    """latency, bandwidth, messages, iterations, validation, transmit-size or other."""
    name: str
    """As the header has it."""
    factor: float = 1.0
    """Seconds, bytes/s or messages/s that a 1 in the column means."""
    statistic: str | None = None
    """min, max or a quantile such as 0.99; None of the mean."""


def read_columns(unit: str | None, names: str, where: Where) -> tuple[OsuColumn, ...]:
    """The columns of a header as HEADER finds it; CorruptFile where it is no header that can be understood."""
    if unit is not None and unit.lower() not in ("b", "byte", "bytes"):
        raise where.corrupt("Size", f"the sizes are in {unit[:20]!r}, not in bytes")
    columns: list[OsuColumn] = []
    rest = names.strip()
    while rest:
        match = _COLUMN.match(rest) or _OTHER.match(rest)
        assert match is not None
        columns.append(_column(match, where))
        rest = rest[match.end() :].strip()
    means = [column.kind for column in columns if column.statistic is None]
    for kind in DEFAULTS:
        if means.count(kind) > 1:
            raise where.corrupt(None, f"the header names two columns of {kind}: give each a table")
    return tuple(columns)


def _column(match: re.Match[str], where: Where) -> OsuColumn:
    text = match[0].strip()
    if match.re is _OTHER:
        if is_number(text.split()[-1]):
            raise where.corrupt(None, f"numbers stand in the line of the header: {text[:40]!r}")
        return OsuColumn("other", text)
    name = match["name"].lower()
    percent, unit = match["percent"], (match["unit"] or "").strip()
    statistic = f"{int(percent) / 100:g}" if percent else (match["statistic"] or "avg").lower()
    shown = None if statistic == "avg" else statistic
    if name in _TIMES or name.endswith("tail lat"):
        kind = _TIMES.get(name, "latency")
        return OsuColumn(kind, text, _factor(_UNITS, unit or "us", text, where), shown)
    if name != "messages/s" and name.endswith(("bandwidth", "/s", "tail bw")):
        rate = match["name"] if name.endswith("/s") else unit or "MB/s"
        return OsuColumn("bandwidth", text, _factor(_RATES, rate, text, where), shown)
    return OsuColumn(
        {"messages/s": "messages", "transmit size": "transmit-size"}.get(name, name), text
    )


def _factor(units: Mapping[str, float], unit: str, column: str, where: Where) -> float:
    if unit not in units:
        raise where.corrupt(
            column, f"the unit {unit[:20]!r} is unknown; known are {', '.join(units)}"
        )
    return units[unit]


def is_known(names: str) -> bool:
    """Does a line with these words behind the size name a column that is known?"""
    return any(_COLUMN.match(names, at) for at in range(len(names)) if names[at - 1 : at].isspace())


def value_columns(columns: Sequence[OsuColumn], kinds: Sequence[str], where: Where) -> list[int]:
    """Where in a row the means of these kinds stand, the size being 0; CorruptFile where there is no such column."""
    first_places: list[int] = []
    for kind in kinds:
        places = [
            at
            for at, column in enumerate(columns, 1)
            if (column.kind, column.statistic) == (kind, None)
        ]
        if not places:
            raise where.corrupt(kind, f"the header has no column of {kind} that is known")
        first_places.append(places[0])
    return first_places


def extras(columns: Sequence[OsuColumn], words: Sequence[str], where: Where) -> dict[str, object]:
    """What a row says beside its mean: `quantiles_seconds`, `min_seconds`, `iterations`, … as far as it has them."""
    extra_values: dict[str, object] = {}
    for column, word in zip(columns, words[1:], strict=False):
        if not is_number(word):
            continue
        unit = {"latency": "seconds", "bandwidth": "bytes_per_second"}.get(column.kind)
        if unit is not None and column.statistic is not None:
            read = time if unit == "seconds" else number
            value = read(word, column.name, where, factor=column.factor)
            if column.statistic in ("min", "max"):
                extra_values[f"{column.statistic}_{unit}"] = value
            else:
                quantiles = extra_values.setdefault(f"quantiles_{unit}", {})
                assert isinstance(quantiles, dict)
                quantiles[column.statistic] = value
        elif column.kind in _PARTS:
            extra_values[f"{column.kind.replace('. ', '_')}_seconds"] = time(
                word, column.name, where, factor=column.factor
            )
        elif column.kind == "iterations":
            extra_values["iterations"] = round(number(word, column.name, where))
    return extra_values
