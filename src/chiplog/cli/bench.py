"""`chiplog bench`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from chiplog.cli.options import BytesOption, FoundMpiOption, JsonOption
from chiplog.cli.output import note, write_json
from chiplog.output_file import is_standard_output


@dataclass(frozen=True)
class BenchStartOptions:
    """The ranks, and whose operation they call."""

    ranks: Annotated[int, typer.Option(help="Ranks on this host, without a launcher.")] = 2
    launcher: Annotated[str | None, typer.Option(help='Starts the ranks, e.g. "mpirun -n 4".')] = (
        None
    )
    mpi: FoundMpiOption = None
    library: Annotated[
        str | None,
        typer.Option(
            metavar="default|TUNING",
            help="Hold chiplog's library, with its default or a tuning file, against the MPI's own.",
        ),
    ] = None
    library_path: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="libchiplog_coll.so; by default $CHIPLOG_COLL_LIBRARY, else one is built.",
        ),
    ] = None


@dataclass(frozen=True)
class AmountOptions:
    """How much is measured."""

    message_bytes: BytesOption = 8
    launches: Annotated[int, typer.Option(help="How often the ranks are started.")] = 5
    samples: Annotated[int, typer.Option(help="Of each mode in each launch.")] = 200
    calls: Annotated[int, typer.Option(help="In a row, for a sample of round time.")] = 100
    budget: Annotated[float, typer.Option(help="Seconds of a launch's samples.")] = 10.0
    lead: Annotated[
        float | None, typer.Option(help="Seconds from agreeing on a start until it.")
    ] = None
    seed: Annotated[int, typer.Option(help="Of the order, and of the intervals.")] = 1


def bench(
    operation: Annotated[
        str,
        typer.Argument(
            help="barrier, bcast, reduce, allreduce, gather, scatter, allgather, alltoall, reduce_scatter"
        ),
    ],
    *,
    start: BenchStartOptions,
    amount: AmountOptions,
    out: Annotated[
        Path | None, typer.Option("-o", metavar="FILE", help="All raw samples (.jsonl).")
    ] = None,
    json_file: JsonOption = None,
) -> None:
    """Time an MPI collective operation: from a common start until the last rank is out; two older ways beside it."""
    from chiplog.bench.benchmark import BenchOptions
    from chiplog.bench.benchmark import bench as measure
    from chiplog.bench.result import bench_to_json
    from chiplog.cli.bench_table import print_bench

    tuning = start.library
    if tuning is None and start.library_path is not None:
        tuning = "default"
    measured = measure(
        operation,
        ranks=start.ranks,
        launcher=start.launcher,
        mpi=start.mpi,
        library=start.library_path,
        tuning=tuning,
        options=BenchOptions(
            amount.launches,
            amount.samples,
            amount.calls,
            amount.message_bytes,
            amount.budget,
            amount.lead,
            amount.seed,
        ),
        samples_file=out,
        tell=note,
    )
    if json_file:
        write_json(json_file, bench_to_json(measured))
    elif not is_standard_output(out):
        print_bench(measured)
