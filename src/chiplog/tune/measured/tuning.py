"""`chiplog tune --measure` as a function."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from chiplog.collectives.algorithm import Task
from chiplog.counts import MOST_RANKS, seed_within, within
from chiplog.errors import RunFailed, UsageError
from chiplog.fitting.model_file import read_model
from chiplog.fitting.origin import of_target
from chiplog.measurement.datatypes import BYTE, DATATYPE_BYTES, whole_datatypes
from chiplog.measurement.mpi_at_hand import find_mpi, launcher_words
from chiplog.measurement.mpis import Mpi
from chiplog.measurement.programs import RACE, build_program
from chiplog.tune.choose import predicted_seconds
from chiplog.tune.formats.mpich_device import flat_composition
from chiplog.tune.measured import intelmpi, mpich, openmpi
from chiplog.tune.measured.candidate import Candidate, Field
from chiplog.tune.measured.choices import SizeVerdict, as_if_confirmed, tuning_of, verdicts
from chiplog.tune.measured.in_force import files_in_force
from chiplog.tune.measured.launch import BUDGET_SECONDS, Cell, Effort, Launcher
from chiplog.tune.measured.mpi_launcher import LaunchedWorld, MpiLauncher
from chiplog.tune.measured.race import Race
from chiplog.tune.measured.raced import Raced, RaceOptions, SizeToConfirm
from chiplog.tune.measured.raw_file import About, SamplesFile, read_samples
from chiplog.tune.measured.shapes import JobShape, check_shape
from chiplog.tune.measured.summary import Summary, summarise
from chiplog.tune.mpich_tree import carried, device_tree
from chiplog.tune.version import parse_version
from chiplog.tune.writer import WRITERS, TuningFiles

OPERATIONS = (
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "allgather",
    "alltoall",
    "reduce_scatter",
)
KINDS = {"openmpi": "openmpi", "mpich": "mpich", "intelmpi": "intel"}
"""The kind of MPI of each program that --measure accepts."""
DEFAULT_SIZES = tuple(4**power for power in range(11))
"""Given: bytes, from 1 B to 1 MiB."""
WITH_PREDEFINED_ONLY = "mpich"
"""Its trees can tell operations of the program's own from predefined ones, so the file is for these only."""


@dataclass(frozen=True)
class Asked:
    """What `chiplog tune --measure` was asked for."""

    program: str
    operation: str
    out: Path
    ranks: int = 2
    sizes: tuple[int, ...] = (1,)
    communicators: tuple[int, ...] = ()
    """Numbers of ranks of communicators; none for all ranks."""
    launcher: str | None = None
    mpi: str | None = None
    budget_seconds: float = BUDGET_SECONDS
    seed: int = 1
    commutative: bool = False
    datatypes: tuple[str, ...] = tuple(DATATYPE_BYTES)
    model_file: Path | None = None
    model: str | None = None
    target: str | None = None
    shape: JobShape | None = None
    """Of the ranks that race, among those that are started; None for all or `communicators`."""


@dataclass(frozen=True)
class MeasuredTuning:
    """What was found out, and the file."""

    mpi: str
    raced: Raced
    verdicts: Sequence[SizeVerdict]
    summary: Summary
    left_out: Mapping[str, str]
    """Algorithms that did not race, or lost for another reason than time."""
    files: TuningFiles


def measure(asked: Asked, samples_file: Path, tell: Callable[[str], None]) -> MeasuredTuning:
    """Races the MPI's algorithms against its default; raw samples go to `samples_file`.

    Raises UsageError, and RunFailed where even the default fails.
    """
    _check(asked)
    kind = KINDS[asked.program]
    mpi = find_mpi(kind, asked.mpi, asked.launcher)
    if mpi.kind != kind:
        raise UsageError(f"--mpi: is {mpi}, not {asked.program}.")
    program = build_program(RACE, str(mpi.mpicxx), tell=tell)
    launcher = MpiLauncher(program, asked.ranks, launcher_words(asked.launcher))
    started = launcher.world()
    world = _world(asked, started)
    field = _field(asked, mpi, launcher, world)
    if not field.candidates:
        raise RunFailed(f"{mpi} has no algorithms of {asked.operation} that can be forced.")
    shaped = ("--shape", str(asked.shape)) if asked.shape else ()
    every = replace(launcher, environment=field.environment, options=(*field.options, *shaped))
    # Intel MPI takes a preset at its start only.
    racing: Launcher = intelmpi.SeparateLaunches(every) if asked.program == "intelmpi" else every
    options = RaceOptions(
        asked.operation,
        _communicators(asked, world.ranks),
        (1,) if asked.operation == "barrier" else asked.sizes,
        asked.budget_seconds,
        asked.seed,
        Effort(commutative=asked.commutative or asked.program == WITH_PREDEFINED_ONLY),
        (BYTE,) if asked.operation == "barrier" else asked.datatypes,
    )
    about = About(
        asked.operation, asked.program, str(mpi), mpi.version, field.candidates, world.hosts
    )
    samples = SamplesFile(samples_file, about)
    predicted = _predicted(asked, options, field.candidates) if asked.model_file else None
    with files_in_force(every, asked.out, partial(_files_of_points, asked, about)) as confirming:
        race = Race(
            racing,
            field.candidates,
            options,
            confirming=None if asked.program == "intelmpi" else confirming,
            predicted=predicted,
            tell=tell,
            log=samples.add,
        )
        raced = race.run()
    samples.end(raced)
    return _written(asked, about, raced, field.left_out)


def choose_again(asked: Asked, samples_file: Path) -> MeasuredTuning:
    """The same from a file of samples, without measuring."""
    about, raced = read_samples(samples_file)
    if (about.operation, about.program) != (asked.operation, asked.program):
        raise UsageError(
            f"--from: {samples_file} is about {about.operation} of {about.program}, not {asked.operation} of "
            f"{asked.program}."
        )
    return _written(asked, about, raced, {})


def _written(
    asked: Asked, about: About, raced: Raced, left_out: Mapping[str, str]
) -> MeasuredTuning:
    by_size = verdicts(raced)
    return MeasuredTuning(
        about.mpi,
        raced,
        by_size,
        summarise(raced, by_size),
        {**left_out, **raced.dropped},
        _files(asked, about, by_size),
    )


def _files(asked: Asked, about: About, by_size: Sequence[SizeVerdict]) -> TuningFiles:
    chosen, release = WRITERS.load(asked.program).format_for(asked.out, about.version, asked.mpi)
    tuning = replace(
        tuning_of(asked.operation, by_size),
        is_of_one_host=about.hosts == 1,
        shape=None if asked.shape is None else str(asked.shape),
    )
    return chosen.files(tuning, release)


def _files_of_points(asked: Asked, about: About, points: Sequence[SizeToConfirm]) -> TuningFiles:
    """As if all of them were confirmed."""
    return _files(asked, about, as_if_confirmed(points))


def _check(asked: Asked) -> None:
    within("--ranks", asked.ranks, 2, MOST_RANKS)
    seed_within("--seed", asked.seed)
    if asked.program not in KINDS:
        raise UsageError(f"--for {asked.program}: --measure accepts {', '.join(KINDS)}.")
    if asked.operation not in OPERATIONS:
        raise UsageError(
            f"--operation {asked.operation}: --measure accepts {', '.join(OPERATIONS)}."
        )
    if asked.program == "intelmpi" and len(set(asked.communicators)) > 1:
        raise UsageError("--ranks: Intel MPI takes one rule for all numbers of ranks; race one.")
    if asked.program == "mpich" and asked.out.suffix != ".json":
        raise UsageError(f"-o {asked.out}: choices by size need a tree; name the file *.json.")
    if not math.isfinite(asked.budget_seconds) or asked.budget_seconds <= 0:
        raise UsageError(f"--budget {asked.budget_seconds:g}: it accepts more than 0 seconds.")
    if not asked.sizes or asked.sizes[0] < 1:
        raise UsageError("--sizes: --measure accepts sizes of 1 byte and more.")
    for size in asked.sizes if asked.operation != "barrier" else ():
        whole_datatypes(asked.datatypes, size)


def _world(asked: Asked, started: LaunchedWorld) -> LaunchedWorld:
    """Those that race: of the shape, or all."""
    if asked.shape is None:
        return started
    check_shape(asked.shape, started)
    return asked.shape.world


def _communicators(asked: Asked, world: int) -> tuple[int, ...]:
    ranks = asked.communicators or (world,)
    if min(ranks) < 2 or max(ranks) > world:
        raise UsageError(
            f"--ranks: {world} ranks are started, so --measure accepts 2 to {world}, separated by commas."
        )
    return tuple(sorted(set(ranks)))


def _field(asked: Asked, mpi: Mpi, launcher: MpiLauncher, world: LaunchedWorld) -> Field:
    spans_hosts = 1 < world.hosts < world.ranks
    if asked.program == "openmpi":
        version = parse_version(mpi.version)
        return openmpi.field_of(asked.operation, version, launcher.cvars, spans_hosts=spans_hosts)
    if asked.program == "intelmpi":
        return intelmpi.field_of(asked.operation, launcher.says)
    words = carried(mpi).words
    leaves = {word.removeprefix("algorithm=") for word in words if word.startswith("algorithm=")}
    is_behind = spans_hosts and flat_composition(device_tree(mpi), asked.operation) is not None
    return mpich.field_of(asked.operation, launcher.cvars, leaves, is_behind_device=is_behind)


def _predicted(
    asked: Asked, options: RaceOptions, candidates: Sequence[Candidate]
) -> dict[tuple[Cell, str], float]:
    assert asked.model_file is not None
    fits = of_target(read_model(asked.model_file), asked.target, str(asked.model_file))
    names = {candidate.our_name for candidate in candidates if candidate.our_name}
    tasks = [Task(ranks, size) for ranks in options.ranks for size in options.sizes]
    seconds = predicted_seconds(fits, asked.operation, names, tasks)
    return {
        (options.cell(ranks, size), candidate.name): seconds[candidate.our_name, ranks, size]
        for candidate in candidates
        for ranks in options.ranks
        for size in options.sizes
        if candidate.our_name and (candidate.our_name, ranks, size) in seconds
    }
