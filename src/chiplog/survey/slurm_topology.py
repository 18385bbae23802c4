"""The topology that Slurm has at hand, for a survey to which no file was given."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from chiplog.errors import ChiplogError, CorruptFile, UsageError
from chiplog.survey.topology import Topology, leaf_numbers, parse_topology, read_topology

if TYPE_CHECKING:
    from collections.abc import Sequence

ASK = ("scontrol", "show", "topology")
MOST_SECONDS = 10.0
"""A controller that doesn't answer sooner is not waited for."""
USUAL_FOLDERS = ("/etc/slurm", "/etc/slurm-llnl")
FILE = "topology.conf"


def is_under_slurm(launcher: str | None, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the ranks are those of a Slurm job: srun starts them, or this is one.

    >>> is_under_slurm("srun -N 4", {}), is_under_slurm("mpirun -n 4", {})
    (True, False)
    """
    try:
        words = shlex.split(launcher or "")
    except ValueError:
        words = []
    return "SLURM_JOB_ID" in environment or os.path.basename("".join(words[:1])) == "srun"


def topology_of_slurm(
    nodes: Sequence[str], environment: Mapping[str, str] = os.environ
) -> tuple[Topology | None, str | None]:
    """What `scontrol show topology` declares, else topology.conf; None where neither declares any of the `nodes`.

    The sentence says why a file that is there was not used. Nothing is raised: nobody asked for a topology.
    """
    asked = _asked(environment)
    if asked is not None and _declares(asked, nodes):
        return asked, None
    path = _file(environment)
    if path is None:
        return None, None
    try:
        declared = read_topology(path)
        leaf_numbers(declared, tuple(nodes))
    except ChiplogError as error:
        return None, f"{path} was not used: {error}"
    return declared, None


def _asked(environment: Mapping[str, str]) -> Topology | None:
    """What scontrol prints; None without it, without an answer, and where Slurm has no tree of switches."""
    try:
        done = subprocess.run(
            ASK,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=MOST_SECONDS,
            env=dict(environment),
            check=True,
        )
        return parse_topology(done.stdout.decode(), " ".join(ASK))
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError, CorruptFile):
        return None


def _declares(topology: Topology, nodes: Sequence[str]) -> bool:
    try:
        leaf_numbers(topology, tuple(nodes))
    except UsageError:
        return False
    return True


def _file(environment: Mapping[str, str]) -> Path | None:
    """topology.conf in the folder of Slurm's configuration."""
    named = environment.get("SLURM_CONF")
    folders = [os.path.dirname(named)] if named else USUAL_FOLDERS
    return next((path for folder in folders if (path := Path(folder, FILE)).is_file()), None)
