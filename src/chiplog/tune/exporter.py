"""What a writer of tuning files is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from chiplog.tune.choice import Tuning
from chiplog.tune.version import Version


@dataclass(frozen=True)
class Exporter:
    """One format of one program's tuning files; every function raises UsageError for what the release can't take."""

    offered: Callable[[str, Version], Collection[str]]
    """By operation and version: the algorithms, by our names, that a file can choose."""
    text: Callable[[Tuning, Version], str]
    """The file."""
    settings: Callable[[Path, Version], Mapping[str, str]]
    """The environment that makes the program read the file; the file has to be there already."""
