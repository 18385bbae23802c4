r"""The titles of the OSU micro-benchmarks: which test a table is of, and why some can't be imported.

# OSU MPI-CUDA MANAGED Latency Test v7.4       since version 3; the accelerator where there is one
# OSU MPI Latency Test (Version 2.2)           before
# OMB-Py MPI Latency Test                      of Python
# OSU Latency Test                             of Java
# MPI Latency Test                             of mpi4py's examples
 OSU MPI Latency Test v7.2                     where `#` was lost, or is `\#`, on the way through a web page
"""

from __future__ import annotations

import re
from typing import NamedTuple

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
    is_old = bool(numbers) and numbers < (5, 4)
    return 32 if is_old and name.startswith("MPI_") else 64


def why_not(title: str) -> str:
    """Why a test with such a title can't be imported, as the end of a sentence; empty if not known."""
    for pattern, reason in _WHY:
        if re.search(pattern, title, re.IGNORECASE):
            return f": {reason}"
    return ""
