"""`chiplog measure`."""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from chiplog.cli.next_command import next_commands
from chiplog.cli.options import (
    COMMAND,
    DEFAULT_RANKS,
    DEFAULT_SEED,
    DEFAULT_TIME_LIMIT,
    RANKS,
    SIZES,
    JsonOption,
    MpiOption,
    RendezvousOption,
    TimeLimitOption,
    option,
)
from chiplog.cli.output import LABEL, note, say, wrapped, write_json
from chiplog.cli.parameters import SECONDS, Argument, Option
from chiplog.counts import counted
from chiplog.dataset.patterns import OVERLAP
from chiplog.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from chiplog.dataset.series import Dataset
    from chiplog.measurement.measuring import MeasuredRun
    from chiplog.plan import Plan, PlanOptions

SHOWING_SECONDS = 1.0
"""Given: what must be left of the time for the table of medians: what it loads can't be stopped half-way."""


@dataclass(frozen=True)
class GridOptions:
    """Which patterns are measured, at which message sizes."""

    pattern: str = option(
        "prtt",
        help="Patterns to measure, separated by commas, or all (see: chiplog list patterns).",
    )
    sizes: str = option(
        "1:1MiB",
        metavar=SIZES,
        help="A range, 1:4MiB, or 1:4MiB:4 with 4 points an octave, or a list: 0,8,1KiB.",
    )


@dataclass(frozen=True)
class RankOptions:
    """How many ranks are started, and how."""

    ranks: int = option(DEFAULT_RANKS, metavar=RANKS, help="Ranks to start.")
    launcher: str | None = option(
        metavar=COMMAND, help='Starts the ranks, e.g. "srun -N 2" or "mpirun -n 2".'
    )
    mpi: MpiOption = None
    rendezvous: RendezvousOption = None
    time_limit: TimeLimitOption = DEFAULT_TIME_LIMIT


@dataclass(frozen=True)
class PointOptions:
    """How often each point is measured, and in which ways."""

    seed: int = option(DEFAULT_SEED, help="Of the order of the points, and of sim's noise.")
    # Given: visits, launches and precision as `chiplog.plan.PlanOptions` has them.
    visits: int = option(4, help="Times that each point is measured, spread over the run.")
    # Given: as there.
    launches: int = option(1, help="Times that the ranks are started anew.")
    # Given: as there.
    precision: float = option(
        0.025,
        help="Relative half width of each median's 95 % interval to reach.",
    )
    budget: float | None = option(
        metavar=SECONDS,
        help="Measure for at most this long in all; what is missing then is left to --resume.",
    )
    placement: str = option(
        "filled",
        metavar="NAME[,NAME]",
        help="filled (socket after socket), round-robin (over sockets and NUMA nodes), or both, a launch each.",
    )
    direction: str = option(
        "round-trip",
        help="Of pairs: round-trip, or one-way for windows of messages as in osu_mbw_mr.",
    )
    operation: str = option(
        "send",
        metavar="NAME[,NAME]",
        help="send, rdma-write, rdma-write-immediate, rdma-read, atomic, or several, each in turn.",
    )
    posting: str = option(
        "normal",
        metavar="NAME[,NAME]",
        help="normal (a call for each operation), inline, list (one call for several), or several, each in turn.",
    )
    every_two_nodes: bool = option(
        False,
        "--every-two-nodes",
        help="Measure pairs between every two nodes, not only the first two.",
    )


@dataclass(frozen=True)
class RunOptions:
    """What a run does besides its plan, and where its result goes."""

    refine: bool = option(
        True, "--refine/--no-refine", help="Measure again around each protocol change."
    )
    strict: bool = option(
        False, "--strict", help="End with 4 where a point did not reach the precision."
    )
    resume: bool = option(
        False, "--resume", help="Finish the missing points of an interrupted run file."
    )
    dry_run: bool = option(
        False, "--dry-run", help="Show the plan and its predicted cost; touch no network."
    )
    fom: bool = option(
        False, "--fom", help="Print figures of merit instead of tables: lines `name value unit`."
    )
    json_file: JsonOption = None


def measure(
    target: Annotated[
        str,
        Argument(
            metavar="TARGET",
            help="transport[:options], e.g. shm, tcp:bind=127.0.0.1, mpi (see: chiplog list transports).",
        ),
    ],
    *,
    out: Annotated[
        Path | None,
        Option("-o", "--output", metavar="RUN.jsonl", help="The run file to write."),
    ] = None,
    grid: GridOptions,
    start: RankOptions,
    points: PointOptions,
    run: RunOptions,
) -> None:
    """Measure TARGET and write every raw sample to a run file."""
    if run.fom and (run.dry_run or run.json_file == "-"):
        other = "--dry-run" if run.dry_run else "--json -"
        raise UsageError(f"--fom: does not go with {other}; leave one of them out.")
    options = _plan_options(target, grid, start.ranks, points)
    if run.dry_run:
        _show_plan(target, options, run.json_file)
    elif out is None:
        raise UsageError("-o: is missing; it names the run file to write, e.g. -o run.jsonl.")
    else:
        _measure(target, out, options, start, run)


def _plan_options(target: str, grid: GridOptions, ranks: int, points: PointOptions) -> PlanOptions:
    from chiplog.plan import PlanOptions, parse_patterns, parse_sizes

    return PlanOptions(
        transport=target.partition(":")[0],
        patterns=parse_patterns(grid.pattern),
        sizes=parse_sizes(grid.sizes),
        visits=points.visits,
        launches=points.launches,
        seed=points.seed,
        relative_half_width=points.precision,
        budget_seconds=points.budget,
        ranks=ranks,
        direction=None if points.direction == "round-trip" else points.direction,
        operations=_listed(points.operation),
        postings=_listed(points.posting),
        placements=_listed(points.placement),
        every_two_nodes=points.every_two_nodes,
    )


def _show_plan(target: str, options: PlanOptions, json_file: str | None) -> None:
    from chiplog.plan import make_plan

    plan = make_plan(options)
    write_json(json_file, plan.to_json(target))
    if json_file != "-":
        say(_plan_text(target, plan))


def _plan_text(target: str, plan: Plan) -> str:
    """What `--dry-run` prints: sizes, order, visits and predicted cost."""
    from chiplog.plan import GRID
    from chiplog.plan.units import format_bytes

    options, predicted = plan.options, plan.predicted
    sizes = options.sizes
    grid = Counter(
        series.pattern for r in plan.requests if r.tag["purpose"] == GRID for series in r.series
    )
    per_point = options.visits * options.launches * len(sizes)
    patterns = ", ".join(f"{name} ({count // per_point} series)" for name, count in grid.items())
    lines = [
        f"target     {target}",
        f"sizes      {len(sizes)} from {format_bytes(sizes[0])} to {format_bytes(sizes[-1])}",
        f"patterns   {patterns}",
        f"order      shuffled, seed {options.seed}; {counted(options.visits, 'visit')} of each size, "
        f"{counted(options.launches, 'launch', 'launches')}",
        f"records    {len(plan.requests)}, refinement not counted",
        f"predicted  {predicted.seconds:.1f} s, {predicted.messages} messages, {predicted.bytes / 1e9:.2f} GB "
        "on the wire",
    ]
    return "\n".join(wrapped(line, LABEL) for line in lines)


def _measure(
    target: str, out: Path, options: PlanOptions, start: RankOptions, run: RunOptions
) -> None:
    from chiplog.cli.growing_table import GrowingTable
    from chiplog.jobs.measure import budget_limits
    from chiplog.jobs.measure import measure as measure_target
    from chiplog.measurement.start import Start, seconds_to_build
    from chiplog.measurement.time_budget import process_start

    began = process_start() + seconds_to_build([target], start.mpi)
    limits = budget_limits(target, options.budget_seconds, began)
    measured = measure_target(
        target,
        out,
        options,
        start=Start(start.launcher, start.mpi, start.rendezvous, start.time_limit),
        refine=run.refine,
        resume=run.resume,
        limits=limits,
        progress=GrowingTable(target) if sys.stderr.isatty() else None,
    )
    if run.strict:
        measured.require_precision()
    if run.json_file:
        write_json(run.json_file, {**measured.to_json(), **_overlap_members(options, out)})
    if run.json_file != "-":
        _show(measured, out, limits.stop, _print_figures if run.fom else _print_tables)


def _overlap_members(options: PlanOptions, out: Path) -> dict[str, object]:
    """What the pattern overlap adds to the result for scripts; nothing where it was not measured."""
    if OVERLAP not in options.patterns:
        return {}
    from chiplog.dataset.run_file import read_run
    from chiplog.jobs.overlap import overlap

    return {OVERLAP: [share.to_json() for share in overlap(read_run(out))]}


def _show(
    measured: MeasuredRun, out: Path, stop: float, print_results: Callable[[Path], Dataset]
) -> None:
    """Prints the results, where there is time for them until `stop`, a time of `time.monotonic`."""
    from chiplog.measurement.time_budget import OutOfTime, deadline

    dataset = None
    try:
        with deadline(stop if time.monotonic() + SHOWING_SECONDS <= stop else 0.0):
            dataset = print_results(out)
            note(measured.sentence())
    except OutOfTime:
        note(
            f"{counted(measured.records, 'record')}, kept in {out}; the budget was over before they could be shown."
        )
    note(f"next: {', or '.join(next_commands(out, dataset))}")


def _print_figures(out: Path) -> Dataset:
    """Prints figures of merit for programs; returns what was measured."""
    from chiplog.dataset.run_file import read_run
    from chiplog.report.figures_of_merit import figures_of_merit

    dataset = read_run(out)
    for figure in figures_of_merit(dataset):
        say(str(figure))
    return dataset


def _print_tables(out: Path) -> Dataset:
    """Prints a table a pattern, and what to be warned of; returns what was measured."""
    from chiplog.cli.measured_sizes import header_warnings, measured_lines
    from chiplog.dataset.run_file import read_run

    dataset = read_run(out)
    say("\n".join(measured_lines(dataset)))
    for warning in header_warnings(dataset):
        note(f"! {warning}")
    return dataset


def _listed(names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in names.split(",")))
