"""How the ranks of a built probe are started by its own MPI's launcher."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from chiplog.errors import RunFailed, UsageError
from chiplog.measure.probes import BuiltProbe

OPEN_MPI_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
SMPI_NEUTRAL = (
    "--log=root.thres:warning",
    "--cfg=smpi/simulate-computation:no",
    "--cfg=smpi/wtime:0",
    "--cfg=smpi/iprobe:0",
    "--cfg=smpi/test:0",
    "--cfg=surf/precision:1e-12",
    "--cfg=maxmin/precision:1e-9",
    "--cfg=smpi/bw-factor:0:1",
    "--cfg=smpi/lat-factor:0:1",
    "--cfg=network/crosstraffic:0",
    "--cfg=network/weight-S:0",
    "--cfg=smpi/async-small-thresh:65536",
)
"""SimGrid's defaults change bandwidths and latencies by size and add the host's own speed; these take that out."""


@dataclass(frozen=True)
class SimulatedPlatform:
    """The machine that SMPI simulates: SimGrid's platform file, a host file, and further `--cfg=...` options."""

    platform: Path
    hostfile: Path
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class LaunchCommand:
    """What starts the ranks: the command, and what it needs in its environment beside what is there."""

    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


def launch_command(
    probe: BuiltProbe,
    ranks: int,
    arguments: Sequence[str],
    *,
    simulated: SimulatedPlatform | None = None,
) -> LaunchCommand:
    """The command that runs `ranks` ranks of `probe` on this host; standard input goes to rank 0.

    No launcher binds the ranks: the probe pins itself. `simulated` is required by a probe built with smpicxx, and
    only accepted by one. Raises UsageError for that, RunFailed where the MPI came without a launcher.
    """
    mpi = probe.mpi
    if mpi.launcher is None:
        raise RunFailed(
            f"{mpi} has no launcher beside {mpi.mpicxx}; start the probe with --launcher."
        )
    if mpi.simulated != (simulated is not None):
        raise UsageError(
            "a simulated platform is for a probe built with smpicxx, and such a probe needs one."
        )
    if simulated is not None:
        options = _smpirun_options(simulated)
        return LaunchCommand(
            (str(mpi.launcher), "-np", str(ranks), *options, str(probe.path), *arguments),
            mpi.environment,
        )
    options, environment = _options(mpi.kind, ranks)
    command = (str(mpi.launcher), "-n", str(ranks), *options, str(probe.path), *arguments)
    return LaunchCommand(command, {**mpi.environment, **environment})


def _smpirun_options(simulated: SimulatedPlatform) -> tuple[str, ...]:
    places = ("-platform", str(simulated.platform), "-hostfile", str(simulated.hostfile))
    return (*places, *SMPI_NEUTRAL, *simulated.options)


def _options(kind: str, ranks: int) -> tuple[tuple[str, ...], dict[str, str]]:
    if kind == "openmpi":
        oversubscribe = ("--map-by", ":OVERSUBSCRIBE") if ranks > usable_cores() else ()
        return ("--bind-to", "none", *oversubscribe), dict(
            OPEN_MPI_AS_ROOT
        ) if os.geteuid() == 0 else {}
    if kind == "intel":
        return (), {"I_MPI_PIN": "off"}
    return (), {}


def usable_cores() -> int:
    """Physical cores that this process may use: what Open MPI takes for its number of slots."""
    usable = os.sched_getaffinity(0)
    siblings = {_siblings(cpu) for cpu in usable}
    return len(siblings)


def _siblings(cpu: int) -> str:
    path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    try:
        return re.sub(r"\s", "", path.read_text())
    except OSError:
        return str(cpu)
