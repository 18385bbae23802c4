"""How many ranks a launcher will start, as far as its words and the environment tell."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping

from chiplog.outside import as_integer

TASKS = ("-n", "-np", "--ntasks", "--n")
NODES = ("-N", "--nodes")
VARIABLES = ("SLURM_NTASKS", "SLURM_JOB_NUM_NODES")


def ranks_of(launcher: str | None, environment: Mapping[str, str] = os.environ) -> int | None:
    """The number of ranks that a launcher's words name; None where they name none.

    A number of tasks counts before one of nodes; a launcher of Slurm's without either takes those of its job.

    >>> ranks_of("srun -N 32")
    32
    >>> ranks_of("mpirun -np 4 --bind-to none")
    4
    """
    if launcher is None:
        return None
    try:
        words = shlex.split(launcher)
    except ValueError:
        return None
    for names in (TASKS, NODES):
        for name in names:
            count = _number_after(name, words)
            if count is not None:
                return count
    if words and os.path.basename(words[0]) == "srun":
        for variable in VARIABLES:
            number = as_integer(environment.get(variable, ""), 1)
            if number is not None:
                return number
    return None


def _number_after(name: str, words: list[str]) -> int | None:
    """The number that follows an option as the next word, behind `=`, or, for a letter, at once."""
    joint = "=" if name.startswith("--") else "=?"
    for at, word in enumerate(words):
        following = words[at + 1] if word == name and at + 1 < len(words) else ""
        match = re.fullmatch(rf"{name}{joint}(\d+)", word)
        text = match[1] if match else following
        number = as_integer(text, 0)
        if number is not None:
            return number
    return None
