"""The limits that a transport or a library names in the header of a run, as places to ask for a change first.

What is asked is the same as anywhere: does the time jump from one byte to the next? A name makes a place more likely
beforehand, so it is asked for with more of the bytes, and one quantity that jumps there is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from chiplog.protocol_changes.ask.thresholds import THRESHOLDS
from chiplog.protocol_changes.detect.thresholds import CACHE_LINE_BYTES

_LIMIT = re.compile(r"inline|eager|rndv|chunk|segment", re.IGNORECASE)
"""What limits of messages are called, in the options of transports and in the settings of libraries."""


@dataclass(frozen=True)
class Limit:
    """A message size in bytes above which a transport says that it switches."""

    name: str
    last_bytes: int
    """The last size before the change, or one that the library's own header counts against."""
    is_exact: bool
    """Whether it counts the payload alone."""

    @property
    def window(self) -> tuple[int, int]:
        """Two sizes in bytes between which the payload's limit lies, whatever the header."""
        if self.is_exact:
            return self.last_bytes, self.last_bytes + 1
        # Libraries put headers of 0 to 80 B (Open MPI's rendezvous) before a payload, within two cache lines.
        header = min(2 * CACHE_LINE_BYTES, int(THRESHOLDS.header_share * self.last_bytes))
        return self.last_bytes - header, self.last_bytes + 1

    def covers(self, last_before: int) -> bool:
        """Whether a change after that size, in bytes, may be this limit's."""
        low, high = self.window
        return low <= last_before < high


def limits_of(header: Mapping[str, object], first_bytes: int, last_bytes: int) -> tuple[Limit, ...]:
    """The limits that a run's header names, each size once and ascending, within the sizes that were measured."""
    mpi = header.get("mpi")
    settings = mpi.get("settings") if isinstance(mpi, dict) else None
    limits = [*_named(header.get("options"), is_exact=True), *_named(settings, is_exact=False)]
    known = {limit.last_bytes: limit for limit in reversed(limits)}
    return tuple(
        known[size] for size in sorted(known) if first_bytes < size and 2 * size <= last_bytes
    )


def _named(options: object, *, is_exact: bool) -> Iterator[Limit]:
    if not isinstance(options, dict):
        return
    for name, value in options.items():
        text = str(value)
        if _LIMIT.search(name) and not isinstance(value, bool) and text.isdecimal() and int(text):
            yield Limit(name, int(text), is_exact)


def copy_limits(header: Mapping[str, object]) -> frozenset[int]:
    """The sizes in bytes at which the C library copies in another way: last ones before, and first ones after.

    Copying is no protocol; its own switches jump and last like one.
    """
    library = header.get("c_library")
    sizes = library.get("copy_limits_bytes") if isinstance(library, dict) else None
    limits = [size for size in sizes or () if isinstance(size, int)]
    return frozenset(size - less for size in limits for less in (0, 1))
