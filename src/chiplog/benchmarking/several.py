"""An operation over several numbers of ranks, with several MPIs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chiplog.benchmarking.benchmark import (
    RANKS_WORD,
    BenchOptions,
    check_operation,
    launches_of,
)
from chiplog.benchmarking.launched import Launched, write_samples
from chiplog.benchmarking.result import Bench, bench_to_json, summarise
from chiplog.counts import counted
from chiplog.errors import RunFailed, UsageError

SCHEMA = "chiplog.benches/1"


@dataclass(frozen=True)
class BenchSeries:
    """Results by numbers of ranks, then by MPIs, and why others are missing."""

    results: tuple[Bench, ...]
    failures: tuple[RunFailed, ...]

    @property
    def is_alone(self) -> bool:
        """Was one number of ranks, with one MPI, asked for?"""
        return len(self.results) + len(self.failures) == 1

    def to_json(self) -> dict[str, Any]:
        """The object of chiplog.bench/1, or one of chiplog.benches/1 that holds several."""
        documents = [bench_to_json(bench) for bench in self.results]
        return documents[0] if self.is_alone else {"schema": SCHEMA, "benches": documents}


def bench_each(
    operation: str,
    ranks: Sequence[int],
    mpis: Sequence[str | None] = (None,),
    *,
    options: BenchOptions,
    samples_file: Path | None = None,
    tell: Callable[[str], None],
    **start: Any,
) -> BenchSeries:
    """As `bench`, for each of `ranks` and, of these, each of `mpis`; `start` is what else `launches_of` takes.

    Where launches of one fail, the others go on. Raises UsageError for a launcher, or a library's file, of several
    MPIs, and for a launcher that does not say where each number of ranks belongs.
    """
    check_operation(operation)
    _refuse_several(ranks, mpis, start.get("launcher"), start.get("library"))
    results: list[Bench] = []
    failures: list[RunFailed] = []
    every: list[Launched] = []
    command: Sequence[str] = ()
    is_alone = len(ranks) * len(mpis) == 1
    for count, mpi in ((count, mpi) for count in ranks for mpi in mpis):
        name = counted(count, "rank") + ("" if mpi is None else f" with {mpi}")
        if not is_alone:
            tell(name)
        try:
            launches, command = launches_of(
                operation, count, mpi=mpi, options=options, tell=tell, **start
            )
            results.append(summarise(launches, options.seed))
            every += launches
        except RunFailed as error:
            failures.append(error if is_alone else RunFailed(f"{name}: {error}"))
    if samples_file is not None and every:
        write_samples(samples_file, every, command)
    return BenchSeries(tuple(results), tuple(failures))


def _refuse_several(
    ranks: Sequence[int], mpis: Sequence[str | None], launcher: str | None, library: str | None
) -> None:
    if len(mpis) > 1 and launcher is not None:
        raise UsageError("--launcher: belongs to one MPI; leave it out, or name one --mpi.")
    if len(mpis) > 1 and library is not None:
        raise UsageError("--library-path: is built for one MPI; leave it out, or name one --mpi.")
    if len(ranks) > 1 and launcher is not None and RANKS_WORD not in launcher:
        raise UsageError(
            f"--launcher: says how many ranks there are; for several --ranks, write {RANKS_WORD} where the number "
            f'belongs, e.g. "mpirun -n {RANKS_WORD}".'
        )
