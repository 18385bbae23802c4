"""How the ranks of a built probe are started by its own MPI's launcher."""

from __future__ import annotations

import atexit
import functools
import itertools
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from chiplog.errors import RunFailed, UsageError
from chiplog.measurement.probes import BuiltProbe
from chiplog.measurement.run_to_end import run_to_end

OPEN_MPI_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
OPEN_MPI_SESSION = ("PRTE_MCA_prte_tmpdir_base", "OMPI_MCA_orte_tmpdir_base")
"""Where Open MPI's launcher keeps its files: release 5's and release 4's name."""
SLURM_ENDS_ALL = "SLURM_KILL_BAD_EXIT"
"""Whether a rank's failure ends all ranks of a step."""
_session_numbers = itertools.count()
SLURM_SECONDS = 10.0
"""Given: how long srun may take to list its interfaces."""
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
    launcher: Sequence[str] = (),
    simulated: SimulatedPlatform | None = None,
) -> LaunchCommand:
    """The command that runs `ranks` ranks of `probe` on this host; standard input goes to rank 0.

    No launcher binds the ranks: the probe pins itself. `simulated` is required by a probe built with smpicxx, and
    only accepted by one. A `launcher` of the user's starts as many ranks as its words say, wherever they say. Raises
    UsageError for that, RunFailed where the MPI came without a launcher.
    """
    if launcher:
        return LaunchCommand((*launcher, str(probe.path), *arguments), ending_together())
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


def ending_together() -> Mapping[str, str]:
    """The environment in which srun ends all ranks once one of them fails, as MPIs' own launchers do.

    Ranks of an MPI wait for ever for one that has crashed, and srun lets them. What the user has set remains.
    """
    return {} if SLURM_ENDS_ALL in os.environ else {SLURM_ENDS_ALL: "1"}


def _smpirun_options(simulated: SimulatedPlatform) -> tuple[str, ...]:
    places = ("-platform", str(simulated.platform), "-hostfile", str(simulated.hostfile))
    return (*places, *SMPI_NEUTRAL, *simulated.options)


def _options(kind: str, ranks: int) -> tuple[tuple[str, ...], dict[str, str]]:
    if kind == "openmpi":
        oversubscribe = ("--map-by", ":OVERSUBSCRIBE") if ranks > usable_cores() else ()
        as_root = OPEN_MPI_AS_ROOT if os.geteuid() == 0 else {}
        return ("--bind-to", "none", *oversubscribe), {**open_mpi_session(), **as_root}
    if kind == "intel":
        return (), {"I_MPI_PIN": "off"}
    return (), {}


def open_mpi_session() -> dict[str, str]:
    """A session directory for one launch of Open MPI's, unless the environment names one.

    Its own is named after the launcher's process: where that number comes again, what a killed launch has left there
    keeps the next one from starting.
    """
    names = [name for name in OPEN_MPI_SESSION if name not in os.environ]
    if not names:
        return {}
    return dict.fromkeys(names, str(_sessions() / str(next(_session_numbers))))


@functools.cache
def _sessions() -> Path:
    """A directory that goes when this process ends."""
    directory = tempfile.mkdtemp(prefix="chiplog-mpi-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return Path(directory)


def explain_start(words: Sequence[str], probe: BuiltProbe, sentence: str) -> str:
    """The sentence of a failed start, with what to do where the launcher and the MPI may not understand each other.

    Where its launcher, `words`, speaks another process management interface, each process of an MPI takes itself for
    the only rank, or ends before it says anything.
    """
    alone = "there is 1" in sentence
    if Path(words[0]).name == "srun":
        chosen = "SLURM_MPI_TYPE" in os.environ or any(word.startswith("--mpi") for word in words)
        silent = "(the probe" not in sentence
        if not alone and (chosen or not silent):
            return sentence
        why = (
            "Each process took itself for the only rank"
            if alone
            else "This MPI may not speak Slurm's default interface"
        )
        return f"{sentence} {why}: try srun --mpi=pmix{_offered_by_slurm(words[0])}."
    if not alone:
        return sentence
    launcher = f" ({probe.mpi.launcher})" if probe.mpi.launcher else ""
    return (
        f"{sentence} Each process took itself for the only rank if {words[0]} belongs to another MPI than the "
        f"probe's, {probe.mpi}: use that one's launcher{launcher}."
    )


def _offered_by_slurm(srun: str) -> str:
    """The interfaces that this Slurm has, in parentheses after a space; empty where it does not tell them."""
    try:
        listed = run_to_end([srun, "--mpi=list"], {}, SLURM_SECONDS)
    except RunFailed:
        return ""
    lines = (listed.stdout + listed.stderr).splitlines()
    names = [line.split()[-1] for line in lines if line.startswith(("\t", " ", "srun: "))]
    plugins = [name for name in names if re.fullmatch(r"[a-z0-9_]+", name) and name != "none"]
    return f" (this Slurm offers: {', '.join(plugins)})" if plugins else ""


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
