"""The tuning file of chiplog's own collectives library: JSON of the schema chiplog.tuning/1."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

from chiplog import _native
from chiplog.errors import UsageError
from chiplog.json_values import members
from chiplog.measurement.library import AT_ONCE, find_library
from chiplog.tune.check.proof import Trial
from chiplog.tune.choice import Choice, Tuning
from chiplog.tune.version import Version
from chiplog.tune.writer import TuningFormat, TuningWriter, only_format

SCHEMA = "chiplog.tuning/1"
VARIABLE = "CHIPLOG_TUNING"


def offered(operation: str, _: Version) -> Collection[str]:
    """The barriers of the library's table that a closed form is known of."""
    if operation != "barrier":
        raise UsageError(f"--operation {operation}: chiplog's library has a barrier only.")
    return _native.barrier_algorithms()


def text(tuning: Tuning, _: Version) -> str:
    """One choice a line, so that two files can be compared by eye."""
    lines = ",\n".join(
        f"    {json.dumps(_choice(choice), allow_nan=False)}" for choice in tuning.choices
    )
    head = {"schema": SCHEMA, "operation": tuning.operation, "model": tuning.model}
    if tuning.rejected is not None:
        head["rejected"] = tuning.rejected
    members = "".join(
        f"  {json.dumps(name)}: {json.dumps(value)},\n" for name, value in head.items()
    )
    return "{\n" + members + '  "choices": [\n' + lines + "\n  ]\n}\n"


def _choice(choice: Choice) -> dict[str, object]:
    return {
        **members(choice, "ranks", "algorithm", "peers", "rounds", "seconds", "baseline_seconds"),
        **members(choice, "verdict", "best", "best_peers", "gain", "gain_low", "gain_high"),
        "extrapolated": choice.extrapolated is not None,
    }


def settings(path: Path, _: Version) -> Mapping[str, str]:
    """The library reads the file that this variable names."""
    return {VARIABLE: str(path.absolute())}


def proof(trial: Trial) -> tuple[bool, str]:
    """Whether the library, which says with CHIPLOG_VERBOSE=1 where its choice is from, names the file.

    The library is the one that is named, else what $CHIPLOG_COLL_LIBRARY names, else one built with the MPI; UsageError
    where the one that is named is no file. Ranks exchange messages even on one node: shared memory has no choice.
    """
    file = str(trial.path.absolute())
    settings = {VARIABLE: file, "CHIPLOG_VERBOSE": "1", "CHIPLOG_BARRIER_SHARED": "0", **AT_ONCE}
    ended = trial.runner.run(settings, preload=str(find_library(trial.library, trial.mpi.mpicxx)))
    if not ended.is_done:
        return False, f"the barrier fails with it: {ended.said}"
    said = [line for line in ended.output.splitlines() if line.startswith("chiplog: ")]
    for line in said:
        if f"from {file}" in line:
            return True, line.removeprefix("chiplog: ")
    return False, said[0].removeprefix("chiplog: ") if said else "the library says nothing"


FORMAT = TuningFormat(offered, text, settings, peers=_native.barrier_trials)
CHIPLOG = TuningWriter(
    name="chiplog",
    summary="chiplog's barrier library: the algorithm for each number of ranks",
    format_for=only_format(FORMAT),
    proof=proof,
)
