"""What writes tuning files for a program; and for which programs there is one.

A new one is a module in `chiplog.tune.writers` and its name in `WRITERS`, or an entry point of another package.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chiplog.plugins import Registry

if TYPE_CHECKING:
    from pathlib import Path

    from chiplog.tune.check.proof import Trial
    from chiplog.tune.choice import Tuning
    from chiplog.tune.version import Version

NO_VERSION: Version = (0, 0)
"""Given: the release of a program whose files are the same for all."""


@dataclass(frozen=True)
class Companion:
    """A second file that a tuning file needs. Its name is that of the tuning file with `ending` added."""

    ending: str
    text: str
    settings: Callable[[Path], Mapping[str, str]]
    """What the environment needs for it, besides the settings of the first."""


@dataclass(frozen=True)
class TuningFormat:
    """One format of one program's tuning files; every function raises UsageError for what the release can't take."""

    offered: Callable[[str, Version], Collection[str]]
    """By operation and version: the algorithms, by our names, that a file can choose."""
    text: Callable[[Tuning, Version], str]
    """The file."""
    settings: Callable[[Path, Version], Mapping[str, str]]
    """The environment that makes the program read the file; the file has to be there already."""
    peers: Callable[[str, int], Sequence[int]] | None = None
    """By algorithm and number of ranks: the numbers of peers worth a look, of algorithms that take them.

    N-way dissemination is looked at with all of them. None where the program chooses none of others.
    """
    companions: Callable[[Tuning, Version], Sequence[Companion]] = lambda tuning, version: ()
    """Further files, for programs that need them."""

    def files(self, tuning: Tuning, version: Version) -> TuningFiles:
        """The file and all that goes with it."""
        return TuningFiles(
            self, version, self.text(tuning, version), self.companions(tuning, version)
        )


@dataclass(frozen=True)
class TuningFiles:
    """What is written for one tuning."""

    format: TuningFormat
    version: Version
    text: str
    companions: Sequence[Companion] = ()

    def texts(self, path: Path) -> Mapping[Path, str]:
        """Each path and what to write there: the tuning file is at `path`, its companions are in the same folder."""
        beside = {_beside(path, companion.ending): companion.text for companion in self.companions}
        return {path: self.text, **beside}

    def settings(self, path: Path) -> Mapping[str, str]:
        """The environment that puts them in force, once they are there."""
        environment = dict(self.format.settings(path, self.version))
        for companion in self.companions:
            environment |= companion.settings(_beside(path, companion.ending))
        return environment


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


@dataclass(frozen=True, kw_only=True)
class TuningWriter:
    """One program; its name is that of `chiplog tune --for NAME`."""

    name: str
    summary: str
    """What the files can choose, in a few words, for help and lists."""
    format_for: Callable[[Path, str | None, str | None], tuple[TuningFormat, Version]]
    """The format of a file to be written, and the release that it is for.

    From the file's name, `--version` and `--mpi`, each None where it is not given; UsageError where the program can't
    be asked for its release.
    """
    proof: Callable[[Trial], tuple[bool, str]] | None = None
    """Whether a file is in force, and how that was found out; None where `chiplog check-tuning` can't tell."""
    mpi: str | None = None
    """The kind of MPI that the proof needs, such as "openmpi"; None where any will do."""


def only_format(
    tuning_format: TuningFormat,
) -> Callable[[Path, str | None, str | None], tuple[TuningFormat, Version]]:
    """The `format_for` of a program with one format for all releases."""
    return lambda path, version, mpi: (tuning_format, NO_VERSION)


def release_of(kind: str, version: str | None, mpi: str | None) -> Version:
    """`version`, else that of the compiler wrapper `mpi`, else that of the first MPI of that kind found here.

    Raises UsageError where there is none.
    """
    from chiplog.errors import UsageError
    from chiplog.tune.version import installed, parse_version

    if version:
        return parse_version(version)
    mpis = installed(kind, mpi)
    if not mpis or mpis[0].kind != kind:
        raise UsageError(
            f"--version: there is no {kind} here to ask; give the release the file is for."
        )
    return parse_version(mpis[0].version)


WRITERS: Registry[TuningWriter] = Registry(
    "tuning writer",
    "chiplog.tune.writer:TuningWriter",
    folder="chiplog.tune.writers",
    built_in=("chiplog", "openmpi", "mpich", "intelmpi", "ucc"),
    unknown="--for: '{name}' is unknown; it accepts {known}.",
)
