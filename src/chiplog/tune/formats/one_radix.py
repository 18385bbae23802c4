"""Settings that name one radix for all numbers of ranks: lines NAME=VALUE, to be put into the environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from chiplog.errors import CorruptFile, UsageError
from chiplog.input_file import read_text
from chiplog.quoting import for_line
from chiplog.tune.choice import Tuning
from chiplog.tune.version import Version


def radix(tuning: Tuning) -> int:
    """N + 1 of all choices; UsageError where they differ."""
    peers = sorted({choice.peers for choice in tuning.choices if choice.peers is not None})
    if len(peers) != 1:
        raise UsageError(
            f"--ranks: n* is {peers[0]} to {peers[-1]} there, and these settings hold one radix for all numbers of "
            "ranks; give one number of ranks."
        )
    return peers[0] + 1


def lines(settings: Mapping[str, object], *remarks: str) -> str:
    """The file."""
    return "".join(
        [f"# {for_line(remark)}\n" for remark in remarks]
        + [f"{k}={v}\n" for k, v in settings.items()]
    )


def settings(path: Path, _: Version) -> Mapping[str, str]:
    """What such a file says, which is what the program finds in its environment."""
    return read_lines(path)


def read_lines(path: Path) -> Mapping[str, str]:
    """The settings in such a file; CorruptFile where a line is none, UsageError where it can't be opened."""
    settings = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, equals, value = line.strip().partition("=")
        if not equals or not name.isidentifier():
            raise CorruptFile(f"{path}, line {number}: '{line[:40]}' is no NAME=VALUE.")
        settings[name] = value
    return settings
