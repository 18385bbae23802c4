"""`chiplog bench` as a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from chiplog.benchmarking.launched import VERBOSE, Launched, read_launch, write_samples
from chiplog.benchmarking.result import Bench, summarise
from chiplog.counts import MOST_RANKS, seed_within, within
from chiplog.errors import RunFailed, UsageError
from chiplog.input_file import read_text
from chiplog.measurement.datatypes import BYTE, find_datatype, whole_datatypes
from chiplog.measurement.first_words import first_words
from chiplog.measurement.launchers import LaunchCommand, SimulatedPlatform, launch_command
from chiplog.measurement.library import AT_ONCE, find_library
from chiplog.measurement.mpi_at_hand import find_mpi, launcher_words
from chiplog.measurement.programs import BENCH, build_program
from chiplog.measurement.run_to_end import preloaded, run_to_end
from chiplog.measurement.start_again import NoStart, has_crashed, has_spoken, start_again
from chiplog.plan.sizes import MAX_MESSAGE_BYTES
from chiplog.plugins import did_you_mean

OPERATIONS = (
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "gather",
    "scatter",
    "allgather",
    "alltoall",
    "reduce_scatter",
)
DEFAULT = "default"
RANKS_WORD = "{ranks}"
"""What stands for the number of ranks in a launcher's words."""
SECONDS = 300.0
"""Given: a launch that takes longer hangs."""


@dataclass(frozen=True)
class BenchOptions:
    """How much is measured, of which calls."""

    launches: int = 5
    """Given: so many tell how much launches differ."""
    samples: int = 200
    """Given: of each mode and variant in each launch."""
    calls: int = 100
    """Given: of a round-time sample, which is of many clock steps then."""
    message_bytes: int = 8
    """Given: one number."""
    budget_seconds: float = 10.0
    """Given: of one launch; no further block of samples begins after it."""
    lead_seconds: float | None = None
    seed: int = 1
    """Given: any will do."""
    datatype: str = BYTE
    limit_seconds: float = SECONDS
    """Of one launch, after which it is ended."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Further variables of the ranks, such as those by which an MPI takes an algorithm."""

    def __post_init__(self) -> None:
        within("--launches", self.launches)
        within("--samples", self.samples)
        within("--calls", self.calls)
        within("--bytes", self.message_bytes, 0, MAX_MESSAGE_BYTES)
        seed_within("--seed", self.seed)
        whole_datatypes([find_datatype(self.datatype)], self.message_bytes)

    def arguments(self, launch: int) -> list[str]:
        """Those of the program, for one launch."""
        lead = [] if self.lead_seconds is None else ["--lead-ns", str(self.lead_seconds * 1e9)]
        return [
            *("--bytes", str(self.message_bytes), "--type", self.datatype),
            *("--samples", str(self.samples)),
            *("--calls", str(self.calls), "--budget-ns", str(self.budget_seconds * 1e9)),
            *("--seed", str(self.seed + launch), *lead),
        ]


def bench(
    operation: str,
    *,
    ranks: int = 2,
    launcher: str | None = None,
    mpi: str | None = None,
    library: str | None = None,
    tuning: str | None = None,
    options: BenchOptions | None = None,
    samples_file: Path | None = None,
    simulated: SimulatedPlatform | None = None,
    tell: Callable[[str], None] | None = None,
) -> Bench:
    """Medians of `operation` (of OPERATIONS) over several launches, in three modes.

    With `library`, the path of libchiplog_coll.so, that library is held against the MPI's own in the same launches,
    in turn; `tuning` is the file it reads, `default` or None for its own default. `launcher` starts the ranks, else
    `ranks` of them are started on this host by the MPI's own. `simulated` is for SimGrid's SMPI. Raises UsageError,
    and RunFailed where a launch fails.
    """
    check_operation(operation)
    within("--ranks", ranks, 1, MOST_RANKS)
    asked = options or BenchOptions()
    launches, command = launches_of(
        operation,
        ranks,
        mpi=mpi,
        launcher=launcher,
        library=library,
        tuning=tuning,
        options=asked,
        simulated=simulated,
        tell=tell,
    )
    if samples_file is not None:
        write_samples(samples_file, launches, command)
    return summarise(launches, asked.seed)


def launches_of(
    operation: str,
    ranks: int,
    *,
    options: BenchOptions,
    launcher: str | None = None,
    mpi: str | None = None,
    library: str | None = None,
    tuning: str | None = None,
    simulated: SimulatedPlatform | None = None,
    tell: Callable[[str], None] | None = None,
) -> tuple[list[Launched], Sequence[str]]:
    """All launches that `bench` takes its medians over, and the command of the last one; raises as `bench`.

    `{ranks}` in the launcher's words stands for the number of ranks.
    """
    settings = _tuning_settings(tuning)
    chosen = find_mpi(None, mpi, launcher)
    is_compared = library is not None or tuning is not None
    preload = str(find_library(library, chosen.mpicxx)) if is_compared else None
    program = build_program(BENCH, str(chosen.mpicxx), tell=tell)
    words = (
        [word.replace(RANKS_WORD, str(ranks)) for word in launcher_words(launcher)]
        if launcher is not None
        else []
    )
    says = {VERBOSE: "1", **AT_ONCE} if preload else {}
    fixed = ("--operation", operation, "--compare", "1" if preload else "0")

    def command_of(number: int) -> LaunchCommand:
        arguments = (*fixed, *options.arguments(number))
        started = launch_command(program, ranks, arguments, launcher=words, simulated=simulated)
        command = started.command
        if preload:
            command = tuple(preloaded(command, str(program.path), preload))
        return LaunchCommand(
            command, {**started.environment, **options.environment, **settings, **says}
        )

    launches = []
    for number in range(options.launches):
        if tell is not None:
            tell(f"launch {number + 1} of {options.launches}")
        launches.append(
            start_again(partial(_launch, partial(command_of, number), options.limit_seconds))
        )
    return launches, command_of(options.launches - 1).command


def check_operation(operation: str) -> None:
    """UsageError unless the operation is one of OPERATIONS."""
    if operation not in OPERATIONS:
        raise UsageError(
            f"there is no operation '{operation}' here; there are {', '.join(OPERATIONS)}."
            f"{did_you_mean(operation, list(OPERATIONS))}"
        )


def _tuning_settings(tuning: str | None) -> Mapping[str, str]:
    if tuning is None or tuning == DEFAULT:
        return {}
    if not Path(tuning).is_file():
        raise UsageError(f"--library: '{tuning}' is no file; it accepts default or a tuning file.")
    read_text(tuning)  # the library would go on without it
    return {"CHIPLOG_TUNING": str(Path(tuning).absolute())}


def _launch(command_of: Callable[[], LaunchCommand], limit_seconds: float) -> Launched:
    start = command_of()  # each start of Open MPI's has a folder of its own
    done = run_to_end(start.command, start.environment, limit_seconds)
    if done.code != 0:
        lines = done.stderr.splitlines()
        others = [line for line in lines if not line.startswith("chiplog: barrier of ")]
        said = first_words("\n".join(others or lines)) or "nothing"
        words = done.stdout, done.stderr
        is_early = has_crashed(done.code, "\n".join(words)) and not has_spoken(BENCH, *words)
        kind = NoStart if is_early else RunFailed
        raise kind(f"{start.command[0]} ended with code {done.code} and said: {said}.")
    return read_launch(done.stdout, done.stderr)
