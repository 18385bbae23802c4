"""`chiplog tune --from` as a function: files of jobs become a tuning file."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chiplog.collectives.mpis import openmpi
from chiplog.errors import UsageError
from chiplog.json_values import members, plain
from chiplog.tune.choice import Native
from chiplog.tune.from_jobs.choose import JobChoices, choose_from
from chiplog.tune.from_jobs.job import MeasuredJob, all_cells
from chiplog.tune.from_jobs.job_files import read_jobs
from chiplog.tune.from_jobs.plan import JobPlan, plan_next
from chiplog.tune.measured.choices import tuning_of
from chiplog.tune.measured.mistakes import mistakes
from chiplog.tune.measured.openmpi import CHAINS
from chiplog.tune.measured.summary import SCHEMA, mean_gain, mistake_to_json, verdict_to_json
from chiplog.tune.writer import WRITERS, TuningFiles

PROGRAMS = ("openmpi", "mpich")
RIGHT_FOR_ALL: Mapping[str, frozenset[str]] = {
    "reduce": frozenset({"linear", "in-order_binary"}),
    "allreduce": frozenset({"basic_linear", "nonoverlapping", "recursive_doubling"}),
    "reduce_scatter": frozenset({"non-overlapping", "butterfly"}),
}
"""Open MPI's algorithms that are right for operations that don't commute, too; a race checks that, and jobs don't."""
MPIS = {"OMPI": "openmpi", "MPICH": "mpich", "openmpi": "openmpi", "mpich": "mpich"}
"""By the first word of what a job says of its MPI: the program whose release it is."""


@dataclass(frozen=True)
class AskedFromJobs:
    """What `chiplog tune --from` was asked for."""

    program: str
    operation: str
    out: Path
    files: tuple[Path, ...]
    version: str | None = None
    mpi: str | None = None
    commutative: bool = False
    plan_seconds: float | None = None
    """For which time to plan the next measurements; None for no plan."""


@dataclass(frozen=True)
class JobTuning:
    """What jobs say, and the file."""

    mpi: str
    choices: JobChoices
    left_out: Mapping[str, str]
    """Algorithms that no rule is written for, with the reason."""
    files: TuningFiles
    plan: JobPlan | None = None
    """Where one was asked for."""

    @property
    def changed(self) -> int:
        """How many sizes leave the default."""
        return sum(verdict.is_changed for verdict in self.choices.verdicts)

    @property
    def gain(self) -> float:
        """Geometric mean over all sizes of the default's time over that with the file."""
        return mean_gain(self.choices.verdicts)


def tune_from(asked: AskedFromJobs) -> JobTuning:
    """Chooses from the jobs in the files.

    Raises UsageError for what no file can choose, and where the files are of another operation or of several MPIs;
    CorruptFile for damaged files.
    """
    if asked.program not in PROGRAMS:
        raise UsageError(f"--for {asked.program}: --from accepts {', '.join(PROGRAMS)}.")
    plan_seconds = asked.plan_seconds
    if plan_seconds is not None and not (math.isfinite(plan_seconds) and plan_seconds > 0):
        raise UsageError(f"--plan {plan_seconds:g}: it accepts more than 0 seconds.")
    jobs = read_jobs(asked.files, asked.operation)
    of_operation = [job for job in jobs if _has(job, asked.operation)]
    if not of_operation:
        known = sorted({cell.place.operation for job in jobs for cell in job.times})
        raise UsageError(
            f"--operation {asked.operation}: the files of --from hold "
            f"{', '.join(known) or 'no collective operation'}."
        )
    mpi = _mpi(of_operation)
    release = asked.version or _release(mpi, asked.program)
    chosen, version = WRITERS.load(asked.program).format_for(asked.out, release, asked.mpi)
    natives, left_out = _natives(asked, of_operation)
    choices = choose_from(jobs, asked.operation, natives)
    tuning = tuning_of(asked.operation, choices.verdicts, between_measured=True)
    plan = None if plan_seconds is None else plan_next(choices, natives, plan_seconds)
    return JobTuning(mpi or "an MPI", choices, left_out, chosen.files(tuning, version), plan)


def _has(job: MeasuredJob, operation: str) -> bool:
    return any(cell.place.operation == operation for cell in job.times)


def _mpi(jobs: Sequence[MeasuredJob]) -> str | None:
    """The MPI of all jobs; None where none of them says it, UsageError where they are of several."""
    mpis = sorted({job.mpi for job in jobs if job.mpi})
    if len(mpis) > 1:
        raise UsageError(
            f"--from: the jobs are of {', '.join(mpis)}; give the files of one of them, since each has its own default."
        )
    return mpis[0] if mpis else None


def _release(mpi: str | None, program: str) -> str | None:
    """The release of the jobs' MPI, where it is that of the program; else None."""
    name, _, release = (mpi or "").partition(" ")
    return release if release[:1].isdigit() and MPIS.get(name) == program else None


def _natives(
    asked: AskedFromJobs, jobs: Sequence[MeasuredJob]
) -> tuple[dict[str, Native], dict[str, str]]:
    """The algorithms that a file can choose, and why it can't choose the others."""
    natives: dict[str, Native] = {}
    left_out: dict[str, str] = {}
    for name in sorted(
        {c.algorithm for c in all_cells(jobs) if c.place.operation == asked.operation}
    ):
        native = native_name(asked.program, asked.operation, name)
        if native is None:
            left_out[name] = f"{asked.program} is not known to have it"
        elif _needs_commuting(asked, native):
            left_out[name] = (
                "it may be wrong for operations that do not commute; --commutative, if your programs have none"
            )
        else:
            natives[name] = native
    return natives, left_out


def _needs_commuting(asked: AskedFromJobs, native: Native) -> bool:
    """Open MPI's rules hold for all reductions; MPICH's trees can tell them apart."""
    if asked.commutative or asked.program != "openmpi" or asked.operation not in RIGHT_FOR_ALL:
        return False
    return native.name not in RIGHT_FOR_ALL[asked.operation]


def jobs_to_json(tuned: JobTuning) -> dict[str, Any]:
    """The object of the schema of measured tunings; what is unknown is null."""
    choices = tuned.choices
    return {
        "schema": SCHEMA,
        "operation": choices.operation,
        "mpi": tuned.mpi,
        "cells": len(choices.verdicts),
        "changed": tuned.changed,
        "geometric_mean_gain": tuned.gain,
        "held_out": 0,
        "held_out_in_ranges": 0,
        "worst_held_out_ratio": None,
        "seconds": 0.0,
        "share_of_everything": None,
        "budget_ran_out": False,
        "wanted_budget_seconds": None,
        "left_out": dict(tuned.left_out),
        "default_mistakes": [mistake_to_json(mistake) for mistake in mistakes(choices.verdicts)],
        "choices": [verdict_to_json(verdict) for verdict in choices.verdicts],
        "jobs": [job.name for job in choices.jobs],
        "missing": [
            {
                "ranks": missing.place.ranks,
                "part": missing.place.part or None,
                "bytes": list(missing.message_bytes),
                "what": missing.what,
            }
            for missing in choices.missing
        ],
        "job_scatter": plain(None if choices.scatter is None else choices.scatter.variance**0.5),
        "plan": None if tuned.plan is None else _plan(tuned.plan),
    }


def _plan(plan: JobPlan) -> dict[str, Any]:
    return {
        **members(plan, "seconds", "expected_regret", "regret_left"),
        "cells": [
            {
                "ranks": planned.cell.place.ranks,
                "part": planned.cell.place.part or None,
                "bytes": planned.cell.message_bytes,
                "candidate": planned.cell.algorithm,
                **members(planned, "jobs", "seconds", "expected_gain"),
            }
            for planned in plan.cells
        ],
    }


FAN_OUT = 4
"""Given: of chains, where nothing is said: coll/tuned's own default."""
SPELLED: Mapping[str, Mapping[str, str]] = {
    "bcast": {"linear": "basic_linear", "binary": "binary_tree", "split_binary": "split_binary_tree"},
    "reduce": {"in_order": "in-order_binary", "in_order_binary": "in-order_binary"},
    "gather": {"linear": "basic_linear", "linear_synch": "linear_sync"},
    "scatter": {"linear": "basic_linear"},
    "allreduce": {
        "linear": "basic_linear", "ring_segmented": "segmented_ring", "non_overlapping": "nonoverlapping",
    },
    "alltoall": {"linear_synch": "linear_sync", "bruck": "modified_bruck"},
    "reduce_scatter": {"non_overlapping": "non-overlapping", "nonoverlapping": "non-overlapping"},
}  # fmt: skip
"""PICO's names of Open MPI's algorithms, without their ending, where they are not Open MPI's own."""
MPICH: Mapping[str, Mapping[str, str]] = {
    "allreduce": {"rabenseifner": "reduce_scatter_allgather"},
    "reduce": {"rabenseifner": "reduce_scatter_gather"},
}
"""PICO's names of MPICH's algorithms, without their ending, where they are not MPICH's own."""
_NUMBERED = re.compile(r"algorithm-(\d{1,3})", re.ASCII)
"""How ompi-collectives-tuning's numbers are imported."""


def native_name(program: str, operation: str, algorithm: str) -> Native | None:
    """How the program's tuning files name an algorithm of a job; None where they can't, or the name is not known.

    A segment's bytes stand behind a slash.

    >>> native_name("openmpi", "bcast", "pipeline_ompi/8192")
    Native(name='pipeline', number=3, segment_bytes=8192, fan_out=0)
    """
    name, _, segment = algorithm.partition("/")
    segment_bytes = _bytes(segment)
    if program == "mpich":
        plain = name.removesuffix("_mpich")
        if plain == name or segment_bytes:
            return None
        leaf = MPICH.get(operation, {}).get(plain, plain)
        return Native(f"MPIR_{operation.capitalize()}_intra_{leaf}")
    numbers = openmpi.numbers_of(operation) if program == "openmpi" else {}
    plain = name.removesuffix("_ompi")
    plain = SPELLED.get(operation, {}).get(plain, plain)
    if match := _NUMBERED.fullmatch(plain):
        plain = next((name for name, number in numbers.items() if number == int(match[1])), plain)
    if plain not in numbers:
        return None
    fan_out = FAN_OUT if plain in CHAINS else 0
    return Native(plain, numbers[plain], segment_bytes, fan_out)


def _bytes(segment: str) -> int:
    """The segment's bytes; a race writes 8K."""
    return int(segment.removesuffix("K")) * (1024 if segment.endswith("K") else 1) if segment else 0
