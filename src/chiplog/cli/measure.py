"""`chiplog measure`."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from chiplog.cli.output import JsonOption, note, say, write_json
from chiplog.errors import UsageError

SHOWING_SECONDS = 1.0
"""What must be left of the time for the table of medians: what it loads can't be stopped half-way."""


def measure(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET", help="transport[:options], e.g. shm, tcp:bind=127.0.0.1, mpi."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="RUN.jsonl", help="The run file to write."),
    ] = None,
    pattern: Annotated[
        str,
        typer.Option(
            help="Patterns to measure, separated by commas, or all (see: chiplog list patterns)."
        ),
    ] = "prtt",
    sizes: Annotated[
        str, typer.Option(help="FIRST:LAST[:POINTS_PER_OCTAVE] or a list, e.g. 1:4MiB or 0,8,1KiB.")
    ] = "1:1MiB",
    ranks: Annotated[int, typer.Option(help="Ranks to start.")] = 2,
    launcher: Annotated[
        str | None, typer.Option(help='Starts the ranks, e.g. "srun -N 2" or "mpirun -n 2".')
    ] = None,
    mpi: Annotated[
        str | None,
        typer.Option(metavar="MPICXX", help="The C++ compiler of the MPI to use."),
    ] = None,
    rendezvous: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", help="Where launched ranks meet; by default rank 0 is found."
        ),
    ] = None,
    time_limit: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long a rank waits for another.")
    ] = 30.0,
    seed: Annotated[int, typer.Option(help="Of the order of the points, and of sim's noise.")] = 1,
    visits: Annotated[
        int, typer.Option(help="Times that each point is measured, spread over the run.")
    ] = 4,
    launches: Annotated[int, typer.Option(help="Times that the ranks are started anew.")] = 1,
    precision: Annotated[
        float, typer.Option(help="Relative half width of each median's 95 % interval to reach.")
    ] = 0.025,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Measure for at most this long in all; what is missing then is left to --resume.",
        ),
    ] = None,
    placement: Annotated[
        str,
        typer.Option(
            metavar="NAME[,NAME]",
            help="filled (socket after socket), round-robin (over sockets and NUMA nodes), or both, a launch each.",
        ),
    ] = "filled",
    direction: Annotated[
        str,
        typer.Option(
            help="Of pairs: round-trip, or one-way for windows of messages as in osu_mbw_mr."
        ),
    ] = "round-trip",
    operation: Annotated[
        str,
        typer.Option(
            metavar="NAME[,NAME]",
            help="send, rdma-write, rdma-write-immediate, rdma-read, atomic, or several, each in turn.",
        ),
    ] = "send",
    posting: Annotated[
        str,
        typer.Option(
            metavar="NAME[,NAME]",
            help="normal (a call for each operation), inline, list (one call for several), or several, each in turn.",
        ),
    ] = "normal",
    every_two_nodes: Annotated[
        bool,
        typer.Option(
            "--every-two-nodes",
            help="Measure pairs between every two nodes, not only the first two.",
        ),
    ] = False,
    refine: Annotated[
        bool,
        typer.Option("--refine/--no-refine", help="Measure again around each protocol change."),
    ] = True,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with 4 where a point did not reach the precision.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Finish the missing points of an interrupted run file.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show the plan and its predicted cost; touch no network."),
    ] = False,
    json_file: JsonOption = None,
) -> None:
    """Measure TARGET and write every raw sample to a run file."""
    from chiplog.plan import PlanOptions, make_plan, parse_patterns, parse_sizes

    options = PlanOptions(
        transport=target.partition(":")[0],
        patterns=parse_patterns(pattern),
        sizes=parse_sizes(sizes),
        visits=visits,
        launches=launches,
        seed=seed,
        relative_half_width=precision,
        budget_seconds=budget,
        ranks=ranks,
        direction=None if direction == "round-trip" else direction,
        operations=_listed(operation),
        postings=_listed(posting),
        placements=_listed(placement),
        every_two_nodes=every_two_nodes,
    )
    if dry_run:
        from chiplog.cli.plan_text import plan_json, plan_text

        plan = make_plan(options)
        if json_file:
            write_json(json_file, plan_json(target, plan))
        else:
            say(plan_text(target, plan))
        return
    if out is None:
        raise UsageError("-o: is missing; it names the run file to write, e.g. -o run.jsonl.")

    from chiplog.cli.growing_table import GrowingTable
    from chiplog.jobs.measure import measure as measure_target
    from chiplog.jobs.measure import time_to_stop
    from chiplog.measure.deadline import OutOfTime, deadline
    from chiplog.measure.process_start import process_start
    from chiplog.measure.start import Start

    stop = time_to_stop(target, budget, process_start())
    measured = measure_target(
        target,
        out,
        options,
        ranks=ranks,
        start=Start(launcher, mpi, rendezvous, time_limit),
        refine=refine,
        resume=resume,
        strict=strict,
        stop=stop,
        progress=GrowingTable(target) if sys.stderr.isatty() else None,
    )
    if json_file:
        write_json(json_file, measured.to_json())
    else:
        try:
            with deadline(stop if time.monotonic() + SHOWING_SECONDS <= stop else 0.0):
                _show(out)
                note(measured.sentence())
        except OutOfTime:
            note(
                f"{measured.records} records, kept in {out}; the budget was over before they could be shown."
            )
        note(
            f"next: chiplog fit {shlex.quote(str(out))}, or chiplog report {shlex.quote(str(out))} -o report.html"
        )


def _show(out: Path) -> None:
    """Prints a table a pattern, and what to be warned of."""
    from chiplog.cli.measured_sizes import header_warnings, measured_lines
    from chiplog.dataset.run_file import read_run

    dataset = read_run(out)
    say("\n".join(measured_lines(dataset)))
    for warning in header_warnings(dataset):
        note(f"! {warning}")


def _listed(names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in names.split(",")))
