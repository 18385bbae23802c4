"""A probe can be built with every MPI that chiplog promises, and answers while its ranks stay up."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable

import pytest
from requests_by_hand import request

from chiplog.errors import ChiplogError
from chiplog.measurement.launchers import LaunchCommand, SimulatedPlatform, launch_command
from chiplog.measurement.probes import BuiltProbe
from chiplog.measurement.session import Session
from chiplog.plan.request import SeriesRequest

LIBRARY_NAMES = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel", "smpi": "SMPI"}

Launcher = Callable[..., LaunchCommand]

pytestmark = pytest.mark.alone


@pytest.fixture
def launch(probe: BuiltProbe, simulated_platform: Callable[..., SimulatedPlatform]) -> Launcher:
    platform = simulated_platform() if probe.mpi.simulated else None

    def command(target: str = "mpi", ranks: int = 2) -> LaunchCommand:
        arguments = ["--target", target, *(["--pin", "none"] if probe.mpi.simulated else [])]
        return launch_command(probe, ranks, arguments, simulated=platform)

    return command


@pytest.fixture
def session(launch: Launcher) -> Session:
    started = launch()
    return Session(started.command, environment=started.environment)


def test_a_second_request_is_answered_after_the_answer_to_the_first(
    probe: BuiltProbe, session: Session
) -> None:
    with session as running:
        first = running.measure(request(1, SeriesRequest("ping_pong", 1024)))
        second = running.measure(
            request(2, SeriesRequest("prtt", 1024), SeriesRequest("prtt", 1024, 10, "rtt"))
        )
    assert '"payload":"ok"' in first and '"payload":"ok"' in second
    assert '"direction":"round-trip"' in second
    mpi = session.header["mpi"]
    assert LIBRARY_NAMES[probe.mpi.kind] in mpi["library"]
    assert probe.mpi.version in mpi["library"]
    assert mpi["standard"][0] in "345"
    assert session.header["clock"]["name"] == "virtual" if probe.mpi.simulated else "tsc"


def test_sends_are_posted_as_a_list_again_and_again(session: Session) -> None:
    asked = (
        SeriesRequest("one_to_many", 4096, posting="list"),
        SeriesRequest("send_overhead", 4096, posting="list"),
    )
    with session as running:
        for number in (1, 2):
            answer = running.measure(request(number, *asked))
            assert answer.count('"posting":"list"') == len(asked)


def test_the_header_keeps_what_tunes_the_library_and_nothing_of_the_launchers_own(
    launch: Launcher,
) -> None:
    started = launch()
    environment = {**started.environment, "UCX_CHIPLOG_TEST": "7"}
    with Session(started.command, environment=environment) as running:
        settings = running.header["mpi"]["settings"]
    assert settings["UCX_CHIPLOG_TEST"] == "7"
    words = ("URI", "SECRET", "RANK", "HOSTNAME", "JOBID")
    assert not [name for name in settings if any(word in name.upper() for word in words)]


def test_an_option_that_mpi_does_not_have_ends_with_one_sentence_and_no_hang(
    launch: Launcher,
) -> None:
    started = launch("mpi:nonsense=1")
    session = Session(started.command, environment=started.environment)
    with pytest.raises(ChiplogError), session:
        pass


def test_a_rank_that_is_killed_ends_the_whole_run(probe: BuiltProbe, session: Session) -> None:
    if probe.mpi.simulated:
        pytest.skip("simulated ranks share one process")
    with pytest.raises(ChiplogError), session as running:
        running.measure(request(1, SeriesRequest("ping_pong", 8)))
        os.kill(ranks_below(running.process_group, probe)[-1], signal.SIGKILL)
        for number in range(2, 1000):
            running.measure(request(number, SeriesRequest("ping_pong", 8)))
    assert not ranks_below(session.process_group, probe)


def ranks_below(launcher: int, probe: BuiltProbe) -> list[int]:
    """The ids of the ranks among the descendants of a launcher, the oldest first."""
    listing = subprocess.run(
        ["ps", "-ww", "-eo", "pid=,ppid=,stat=,args="], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split(None, 3) for line in listing.splitlines()]
    family = {launcher}
    for _ in range(5):
        family |= {int(pid) for pid, parent, _, _ in rows if int(parent) in family}
    return sorted(
        int(pid)
        for pid, _, state, arguments in rows
        if int(pid) in family and state[0] != "Z" and arguments.startswith(str(probe.path))
    )
