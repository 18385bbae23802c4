"""Versions of MPIs, as numbers that can be compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from chiplog.collectives.mpis.known import MpiRelease
from chiplog.errors import UsageError
from chiplog.measurement.mpis import Mpi, find_mpis, identify_mpi

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


def installed(kind: str, mpi: str | None = None) -> list[Mpi]:
    """The MPI of the compiler wrapper `mpi`, of whatever kind it is; without one, those of `kind` found here."""
    return [identify_mpi(mpi)] if mpi else [here for here in find_mpis() if here.kind == kind]


def of_version(mpis: Sequence[Mpi], version: Version | None) -> Mpi | None:
    """The first MPI whose version begins with these numbers, or the first one where none are given."""
    wanted = version or ()
    matching = (
        mpi for mpi in mpis if not wanted or parse_version(mpi.version)[: len(wanted)] == wanted
    )
    return next(matching, None)


@dataclass(frozen=True)
class InstalledRelease(MpiRelease):
    """A release of an MPI, and its installation where it is here."""

    mpi: Mpi | None = None

    @classmethod
    def at(cls, mpi: Mpi | None, version: Version | None) -> Self:
        """The release of an installation, or one that is not here."""
        known = (version or (0, 0)) if mpi is None else parse_version(mpi.version)
        return cls(version=known, mpi=mpi)  # type: ignore[call-arg]  # each class knows its kind
