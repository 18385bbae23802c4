"""What an Open MPI says about its own coll/tuned: the operations it tunes, and the algorithms of each."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from chiplog.errors import RunFailed
from chiplog.measurement.run_to_end import run_to_end
from chiplog.tune.formats.openmpi_rules import FIRST_JSON
from chiplog.tune.settings import ANSWER_SECONDS
from chiplog.tune.version import InstalledRelease

TWO_RANKS_ONLY = re.compile(r"two_procs?(_only)?")
_COMPONENT = re.compile(r"^mca:coll:(\w+):version:", re.MULTILINE)
_ENUMERATOR = re.compile(
    r"^mca:coll:tuned:param:coll_tuned_(\w+)_algorithm:enumerator:value:(\d+):(.*)$", re.MULTILINE
)


@dataclass(frozen=True)
class OpenMpiRelease(InstalledRelease):
    """A release of Open MPI."""

    kind: str = field(default="openmpi", init=False)

    @property
    def has_header(self) -> bool:
        """Does it read the line "rule-file-version-N"?"""
        # Given: Open MPI began to in these releases.
        return (4, 1, 8) <= self.version < (5, 0) or self.version >= (5, 0, 7)

    @property
    def reads_json(self) -> bool:
        """Does it read JSON rules? Such a release also shifts classic rules by one entry."""
        return self.version >= FIRST_JSON

    @cached_property
    def algorithms(self) -> Mapping[str, Mapping[int, str]] | None:
        """By operation, the names by number, as `ompi_info` lists them; None where it can't be asked."""
        listing = self.ask("--param", "coll", "tuned", "--level", "9", "--parsable")
        names: dict[str, dict[int, str]] = {}
        for operation, number, name in _ENUMERATOR.findall(listing or ""):
            names.setdefault(operation, {})[int(number)] = name
        return names or None

    @cached_property
    def components(self) -> frozenset[str] | None:
        """Those of coll that are installed, as `ompi_info` lists them; None where it can't be asked."""
        listing = self.ask("--parsable", "--all", "--level", "1")
        return frozenset(_COMPONENT.findall(listing or "")) or None

    def ask(self, *arguments: str, environment: Mapping[str, str] | None = None) -> str | None:
        """What its `ompi_info` prints; None where there is none."""
        if self.mpi is None:
            return None
        program = shutil.which("ompi_info", path=str(self.mpi.mpicxx.parent))
        if program is None:
            return None
        try:
            settings = {**self.mpi.environment, **(environment or {})}
            done = run_to_end([program, *arguments], settings, ANSWER_SECONDS)
        except RunFailed:
            return None
        return done.stdout if done.code == 0 else None

    def wrong_algorithm(self, operation: str, number: int) -> str | None:
        """Why the release has no such algorithm; None where it has, or can't be asked."""
        known = (self.algorithms or {}).get(operation)
        if known is None or number in known:
            return None
        return (
            f"{self} has no algorithm {number} of {operation}: it has {min(known)} to {max(known)}"
        )

    def algorithm_name(self, operation: str, number: int) -> str:
        """Its name there, else the number."""
        return (self.algorithms or {}).get(operation, {}).get(number, f"algorithm {number}")
