"""Which time of a collective operation is meant: benchmarks print another one than a common start gives."""

from __future__ import annotations

from enum import StrEnum

from chiplog.errors import UsageError


class TimeConvention(StrEnum):
    """What a time of a collective operation is."""

    COMMON_START = "common-start"
    """From a common start of all ranks until the last one is done."""
    OSU = "osu"
    """The mean over ranks of each one's own time since it left a barrier, as the OSU micro-benchmarks print it."""

    @property
    def in_words(self) -> str:
        """What such a time is, for the head of a table."""
        return _IN_WORDS[self]


_IN_WORDS = {
    TimeConvention.COMMON_START: "from a common start until the last rank is done",
    TimeConvention.OSU: "mean over ranks of own clocks, all leaving a barrier at once (osu)",
}


def convention_of(name: str, option: str) -> TimeConvention:
    """The convention of that name; UsageError, naming the option, says which there are."""
    if name not in list(TimeConvention):
        raise UsageError(f"{option}: is '{name[:40]}'; it accepts {', '.join(TimeConvention)}.")
    return TimeConvention(name)
