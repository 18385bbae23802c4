"""The MPIs whose choices are known, by what they call themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from chiplog.collectives.mpis import mpich, openmpi
from chiplog.collectives.mpis.choice import Chooser, by_default
from chiplog.errors import UsageError

NAMES: Mapping[str, str] = {"openmpi": "Open MPI", "mpich": "MPICH"}
_AS_MPI_SAYS = re.compile(r"(Open MPI|MPICH)\D{0,12}(\d{1,4}(?:\.\d{1,4}){0,3})")
_AS_USERS_SAY = re.compile(r"(openmpi|mpich)-(\d{1,4}(?:\.\d{1,4}){0,3})")


@dataclass(frozen=True)
class MpiRelease:
    """A release of an MPI."""

    kind: str
    """Of NAMES."""
    version: tuple[int, ...]

    def __str__(self) -> str:
        return f"{NAMES[self.kind]} {'.'.join(map(str, self.version))}"

    @property
    def choose(self) -> Chooser:
        """Its own rules."""
        if self.kind == "mpich":
            return mpich.choose
        return partial(openmpi.choose, release=self.version)

    @property
    def caution(self) -> str | None:
        """What is not known of its rules."""
        first = openmpi.FIRST_KNOWN if self.kind == "openmpi" else mpich.FIRST_KNOWN
        if self.version >= first:
            return None
        later = MpiRelease(self.kind, first)
        return f"the rules of {self} are not known: collectives are replayed by those of {later}"


def release_in(text: str) -> MpiRelease | None:
    """The MPI that calls itself so in MPI_Get_library_version; None where chiplog knows no rules of it.

    >>> print(release_in("Open MPI v4.1.4, package: Debian OpenMPI"))
    Open MPI 4.1.4
    >>> print(release_in("MPICH Version: 4.0.2"))
    MPICH 4.0.2
    """
    match = _AS_MPI_SAYS.match(text)
    if match is None:
        return None
    kind = next(kind for kind, name in NAMES.items() if name == match[1])
    return MpiRelease(kind, _version(match[2]))


def release_named(name: str) -> MpiRelease:
    """Returns the release that a user names; raises UsageError where no such release is known.

    >>> print(release_named("mpich-4.0"))
    MPICH 4.0
    """
    match = _AS_USERS_SAY.fullmatch(name)
    if match is None:
        raise UsageError(
            f"--mpi {name[:40]}: is no release that chiplog knows; it accepts openmpi-RELEASE and "
            "mpich-RELEASE, such as openmpi-5.0."
        )
    return MpiRelease(match[1], _version(match[2]))


def chooser_of(release: MpiRelease | None) -> Chooser:
    """The rules of a release; chiplog's defaults where none is known."""
    return by_default if release is None else release.choose


def _version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))
