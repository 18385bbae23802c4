"""Intel MPI: I_MPI_ADJUST variables, which it complains about at its start where it can't take them."""

from __future__ import annotations

from chiplog.errors import CorruptFile
from chiplog.tune.check.proof import Trial
from chiplog.tune.formats.intel_adjust import FORMAT, PREFIX
from chiplog.tune.formats.one_radix import read_lines
from chiplog.tune.writer import TuningWriter, only_format

SAYS = {"I_MPI_DEBUG": "4"}
"""With it Intel MPI says which of these variables it ignores."""
COMPLAINT = "Incorrect "
NO_PRESET = "9999"


def proof(trial: Trial) -> tuple[bool, str]:
    """Whether Intel MPI takes every variable as it is, and complains about each where its preset is none."""
    try:
        settings = read_lines(trial.path)
    except CorruptFile as error:
        return False, str(error)
    if not settings or not all(name.startswith(PREFIX) for name in settings):
        return False, f"it sets nothing, or other variables than {PREFIX}*"
    with_file = trial.runner.run({**settings, **SAYS})
    if not with_file.is_done:
        return False, f"the MPI does not start with it: {with_file.said}"
    complaints = [line for line in with_file.output.splitlines() if COMPLAINT in line]
    if complaints:
        return False, complaints[0].strip()
    marked = trial.runner.run({**dict.fromkeys(settings, NO_PRESET), **SAYS})
    for name in settings:
        if f"{name.removeprefix(PREFIX)}={NO_PRESET}" not in marked.output:
            return False, f"the MPI says nothing about {name}={NO_PRESET}, so it ignores {name}"
    return True, (
        f"the MPI starts with it and ignores nothing of it, while of {next(iter(settings))}={NO_PRESET} it says that "
        "there is no such preset"
    )


INTELMPI = TuningWriter(
    name="intelmpi",
    summary="Intel MPI, --measure only: presets of barrier, bcast, reduce, allreduce by ranks and sizes",
    format_for=only_format(FORMAT),
    proof=proof,
    mpi="intel",
)
