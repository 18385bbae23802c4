"""`chiplog bench`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from chiplog.cli.options import (
    COMMAND,
    DEFAULT_RANKS,
    DEFAULT_SEED,
    RANKS,
    SIZES,
    BytesOption,
    JsonOption,
    option,
)
from chiplog.cli.output import note, tell_left_out, write_json
from chiplog.cli.parameters import SECONDS, Argument, OutputFile
from chiplog.errors import UsageError
from chiplog.output_file import is_standard_output

if TYPE_CHECKING:
    from chiplog.benchmarking.several import BenchSeries


@dataclass(frozen=True)
class BenchStartOptions:
    """The ranks, and whose operation they call."""

    ranks: str = option(
        str(DEFAULT_RANKS),
        metavar=RANKS,
        help="Ranks on this host, or what {ranks} of the launcher is: 4, or 2,4,8, or 2:64.",
    )
    launcher: str | None = option(
        metavar=COMMAND, help='Starts the ranks, e.g. "mpirun -n 4", or "mpirun -n {ranks}".'
    )
    mpi: list[str] | None = option(
        metavar="MPICXX", help="The MPI's C++ compiler; found by default; repeatable."
    )
    library: str | None = option(
        metavar="default|TUNING",
        help="Hold chiplog's library, with its default or a tuning file, against the MPI's own.",
    )
    library_path: str | None = option(
        metavar="PATH",
        help="libchiplog_coll.so; by default $CHIPLOG_COLL_LIBRARY, else one is built.",
    )


@dataclass(frozen=True)
class AmountOptions:
    """How much is measured."""

    message_bytes: BytesOption = 8  # Given: a double.
    datatype: str = option(
        "byte",
        "--type",
        metavar="TYPE",
        help="byte, int or double, of which MPI's choices may depend.",
    )
    # Given: these, as `chiplog.benchmarking.benchmark.BenchOptions` has them.
    launches: int = option(5, help="How often the ranks are started.")
    samples: int = option(200, help="Of each mode in each launch.")  # Given: as there.
    calls: int = option(100, help="In a row, for a sample of round time.")  # Given: as there.
    # Given: as there.
    budget_seconds: float = option(10.0, "--budget", metavar=SECONDS, help="Of a launch's samples.")
    lead_seconds: float | None = option(
        None, "--lead", metavar=SECONDS, help="From agreeing on a start until it."
    )
    seed: int = option(DEFAULT_SEED, help="Of the order, and of the intervals.")


@dataclass(frozen=True)
class SelfConsistencyOptions:
    """Whether operations are held against each other."""

    guidelines: bool = option(
        False,
        "--guidelines",
        help="Which calls are slower than others that do the same; without OPERATION, of all.",
    )
    sizes: str | None = option(
        metavar=SIZES, help="With --guidelines: message sizes, by default 8 B to 256 KiB."
    )


def bench(
    operation: Annotated[
        str | None,
        Argument(
            help="barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall, reduce_scatter"
        ),
    ] = None,
    *,
    start: BenchStartOptions,
    amount: AmountOptions,
    consistency: SelfConsistencyOptions,
    out: Annotated[
        Path | None,
        OutputFile("-o", "--output", metavar="FILE", help="All raw samples (.jsonl)."),
    ] = None,
    report: Annotated[
        Path | None,
        OutputFile(metavar="FILE.html|FILE.md", help="Write a page with a picture over --ranks."),
    ] = None,
    json_file: JsonOption = None,
) -> None:
    """Time an MPI collective operation, in three ways.

    From a common start until the last rank is out; two older ways beside it.
    """
    if consistency.guidelines:
        if report is not None:
            raise UsageError("--report: is for one operation, not for --guidelines.")
        _guidelines(operation, start, amount, consistency, (out, json_file))
        return
    if consistency.sizes is not None:
        raise UsageError("--sizes: is for --guidelines; one operation is measured at --bytes.")
    series = _bench(operation, start, amount, out, report)
    if series.results:
        _show(series, report, json_file, is_silent=is_standard_output(out))
    tell_left_out(series.failures)


def _bench(
    operation: str | None,
    start: BenchStartOptions,
    amount: AmountOptions,
    out: Path | None,
    report: Path | None,
) -> BenchSeries:
    from chiplog.benchmarking.benchmark import OPERATIONS, BenchOptions
    from chiplog.benchmarking.several import bench_each
    from chiplog.report.write import check_suffix

    if operation is None:
        raise UsageError(f"OPERATION: is missing; it accepts {', '.join(OPERATIONS)}.")
    tuning = start.library
    if tuning is None and start.library_path is not None:
        tuning = "default"
    if report is not None:
        check_suffix(report)
    return bench_each(
        operation,
        _ranks(start),
        start.mpi or (None,),
        launcher=start.launcher,
        library=start.library_path,
        tuning=tuning,
        options=BenchOptions(**asdict(amount)),
        samples_file=out,
        tell=note,
    )


def _show(
    series: BenchSeries, report: Path | None, json_file: str | None, *, is_silent: bool
) -> None:
    from chiplog.benchmarking.page import bench_page
    from chiplog.cli.bench_text import print_benches
    from chiplog.report.write import write_document

    if report is not None:
        write_document(bench_page(series.results), report)
        note(f"the report is {report}.")
    write_json(json_file, series.to_json())
    if json_file != "-" and not is_silent:
        print_benches(series.results)


def _ranks(start: BenchStartOptions) -> tuple[int, ...]:
    from chiplog.counts import MOST_RANKS
    from chiplog.plan.sizes import parse_ranks

    return parse_ranks(start.ranks, every=False, least=1, most=MOST_RANKS)


def _guidelines(
    operation: str | None,
    start: BenchStartOptions,
    amount: AmountOptions,
    consistency: SelfConsistencyOptions,
    files: tuple[Path | None, str | None],
) -> None:
    from chiplog.cli.bench_text import print_guidelines
    from chiplog.plan.sizes import parse_sizes
    from chiplog.tune.guidelines.judge import JudgeOptions
    from chiplog.tune.guidelines.measure import DEFAULT_SIZES, GuidelineOptions, guidelines
    from chiplog.tune.guidelines.result import guidelines_to_json

    if start.library is not None or start.library_path is not None:
        raise UsageError("--library: can't be held against the MPI with --guidelines.")
    if amount.message_bytes != AmountOptions.message_bytes:
        raise UsageError("--bytes: is for one operation; --guidelines takes --sizes.")
    ranks, mpis = _ranks(start), start.mpi or []
    if max(len(ranks), len(mpis)) > 1:
        raise UsageError("--guidelines: takes one number of --ranks and one --mpi.")
    out, json_file = files
    judgement = guidelines(
        () if operation is None else (operation,),
        ranks=ranks[0],
        launcher=start.launcher,
        mpi=next(iter(mpis), None),
        options=GuidelineOptions(
            parse_sizes(consistency.sizes) if consistency.sizes else DEFAULT_SIZES,
            amount.datatype,
            JudgeOptions(amount.launches, amount.samples, amount.budget_seconds, amount.seed),
        ),
        samples_file=out,
        tell=note,
    )
    write_json(json_file, guidelines_to_json(judgement))
    if json_file != "-" and not is_standard_output(out):
        print_guidelines(judgement)
