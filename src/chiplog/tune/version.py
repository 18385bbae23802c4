"""Versions of MPIs, as numbers that can be compared."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from chiplog.errors import UsageError
from chiplog.measurement.mpis import Mpi

Version = tuple[int, ...]


def parse_version(text: str) -> Version:
    """Major, minor and release number; what follows them, such as rc1, is left out.

    >>> parse_version("5.0.7rc1"), parse_version("4.1")
    ((5, 0, 7), (4, 1))
    """
    match = re.match(r"\s*v?([0-9]{1,9})\.([0-9]{1,9})(?![0-9])(?:\.([0-9]{1,9})(?![0-9]))?", text)
    if match is None:
        raise UsageError(
            f"--version: '{text[:40]}' is not understood; it accepts numbers such as 5.0.7."
        )
    return tuple(int(part) for part in match.groups() if part is not None)


def version_text(version: Version) -> str:
    """The numbers with dots between them."""
    return ".".join(map(str, version))


@dataclass(frozen=True)
class Release:
    """A release of an MPI, and its installation where it is here."""

    version: Version
    mpi: Mpi | None
    program: ClassVar[str]
    """What the MPI is called."""

    def __str__(self) -> str:
        return f"{self.program} {version_text(self.version)}"

    @classmethod
    def at(cls, mpi: Mpi | None, version: Version | None) -> Self:
        """The release of an installation, or one that is not here."""
        return cls(version or (0, 0), None) if mpi is None else cls(parse_version(mpi.version), mpi)
