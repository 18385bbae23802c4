"""`chiplog bench --guidelines` as a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from chiplog.counts import MOST_RANKS, seconds_within, seed_within, within
from chiplog.errors import RunFailed, UsageError
from chiplog.measurement.datatypes import BYTE, find_datatype, whole_datatypes
from chiplog.measurement.mpi_at_hand import find_mpi, launcher_words
from chiplog.measurement.programs import RACE, build_program
from chiplog.plan.sizes import MAX_MESSAGE_BYTES
from chiplog.tune.guidelines.guideline import EMULATIONS, Guideline, guidelines_of
from chiplog.tune.guidelines.judge import GuidelineJudgement, JudgeOptions, judge
from chiplog.tune.guidelines.result import SamplesLog
from chiplog.tune.measured.mpi_launcher import MpiLauncher

DEFAULT_SIZES = tuple(8**power for power in range(1, 7))
"""Given: bytes, from a word to what fills any buffer."""


@dataclass(frozen=True)
class GuidelineOptions:
    """Which calls are measured, and how much."""

    sizes: tuple[int, ...] = DEFAULT_SIZES
    """In bytes, of the message or of one rank's block."""
    datatype: str = BYTE
    amount: JudgeOptions = field(default_factory=JudgeOptions)

    def __post_init__(self) -> None:
        find_datatype(self.datatype)
        within("--launches", self.amount.launches, 2)
        within("--samples", self.amount.samples)
        seed_within("--seed", self.amount.seed)
        seconds_within("--budget", self.amount.budget_seconds)
        if not self.sizes or min(self.sizes) < 1:
            raise UsageError("--sizes: --guidelines accepts sizes of 1 byte and more.")
        for size in self.sizes:
            whole_datatypes([self.datatype], size)


def guidelines(
    operations: Sequence[str] = (),
    *,
    ranks: int = 2,
    launcher: str | None = None,
    mpi: str | None = None,
    options: GuidelineOptions | None = None,
    samples_file: Path | None = None,
    tell: Callable[[str], None] | None = None,
) -> GuidelineJudgement:
    """Which self-consistent performance guidelines the MPI violates, of these operations or of all.

    Of all the ranks, which `launcher` starts, else `ranks` of them on this host; and of one fewer, where that is two or
    more. Raises UsageError, and RunFailed where a launch fails.
    """
    within("--ranks", ranks, 2, MOST_RANKS)
    asked = options or GuidelineOptions()
    _check_operations(operations)
    chosen = find_mpi(None, mpi, launcher)
    program = build_program(RACE, str(chosen.mpicxx), tell=tell)
    starter = MpiLauncher(program, ranks, launcher_words(launcher) if launcher else ())
    world = starter.world().ranks
    every = _every(operations or tuple(EMULATIONS), world, asked)
    samples = SamplesLog()
    judgement = judge(starter, every, asked.amount, tell=tell, log=samples.add)
    source = f"{chosen}, {world} ranks"
    if samples_file is not None:
        samples.write(samples_file, source)
    return replace(judgement, source=source)


def _check_operations(operations: Sequence[str]) -> None:
    for operation in operations:
        if operation not in EMULATIONS:
            raise UsageError(
                f"there is no operation '{operation}' here; there are {', '.join(EMULATIONS)}."
            )


def _every(operations: Sequence[str], world: int, asked: GuidelineOptions) -> list[Guideline]:
    """All guidelines of so many ranks; UsageError where there is none, or messages are too large."""
    if world < 2:
        raise RunFailed("the launcher started one rank; guidelines are about two or more.")
    sizes = tuple(sorted(set(asked.sizes)))
    if sizes[-1] * world > MAX_MESSAGE_BYTES:
        raise UsageError(
            f"--sizes: blocks of {sizes[-1]} B of {world} ranks are too large together; they accept at most "
            f"{MAX_MESSAGE_BYTES // world} B each."
        )
    counts = [count for count in (world - 1, world) if count > 1]
    every = guidelines_of(operations, counts, sizes, asked.datatype)
    if not every:
        raise UsageError(
            f"--sizes: {operations[0]} has no guideline at one size; give two or more."
        )
    return every
