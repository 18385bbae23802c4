"""`chiplog run`."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from chiplog.cli.configured import command_words
from chiplog.cli.options import (
    COMMAND,
    DEFAULT_SEED,
    RANKS,
    SIZES,
    MpiOption,
    RendezvousOption,
    option,
)
from chiplog.cli.output import note, say
from chiplog.cli.parameters import SECONDS, Argument, Option
from chiplog.jobs import defaults

if TYPE_CHECKING:
    from chiplog.jobs.measure_to_report import RunResult

TRUSTED_GROWTH = 8
"""Study: an anchor of 4 ranks was held against up to 32 ranks on three clusters (benchmarks/clusters.py)."""


@dataclass(frozen=True)
class MeasuringOptions:
    """How much is measured, and on which ranks."""

    budget: float = option(
        defaults.BUDGET_SECONDS, metavar=SECONDS, help="Of all targets together."
    )
    sizes: str = option(
        defaults.SIZES,
        metavar=SIZES,
        help="A range, 1:4MiB, or 1:4MiB:4 with 4 points an octave, or a list.",
    )
    ranks: int | None = option(
        metavar=RANKS,
        help="Ranks of one-to-many and pairs; by default one a core. More than cores are flagged.",
    )
    launcher: str | None = option(metavar=COMMAND, help='Starts the ranks, e.g. "srun -N 2".')
    mpi: MpiOption = None
    rendezvous: RendezvousOption = None
    seed: int = option(DEFAULT_SEED, help="Of the order of the points.")


def run(
    targets: Annotated[
        list[str] | None,
        Argument(
            metavar="[TARGET ...]",
            help="transport[:options], e.g. shm, tcp:bind=127.0.0.1, mpi (see: chiplog list transports); "
            "by default shm, tcp, and mpi if one is found.",
        ),
    ] = None,
    *,
    out: Annotated[
        Path,
        Option("-o", "--output", metavar="DIR", help="Where runs, models and report go."),
    ] = Path("report"),
    how: MeasuringOptions,
    details: Annotated[
        bool, Option("--details", help="Print the whole report, not one screen of it.")
    ] = False,
) -> None:
    """Measure this machine, fit all models and write a report."""
    from chiplog.jobs.measure_to_report import RunRequest
    from chiplog.jobs.measure_to_report import run as run_all
    from chiplog.measurement.time_budget import process_start

    command = command_words()
    result = run_all(
        RunRequest(targets or (), out, **asdict(how), command=command, began=process_start())
    )
    _show(result, details=details)
    if result.failures:
        for failure in result.failures:
            note(f"no result for {failure}")
        raise click.exceptions.Exit(1)


def _show(result: RunResult, *, details: bool) -> None:
    """Prints one screen of the report, or all of it, and what to do next."""
    from chiplog.report.trust import trust_of

    if details:
        from chiplog.report.terminal import print_report

        print_report(result.report)
    else:
        from chiplog.report.summary import summary_lines

        say("\n".join([*summary_lines(result.report), ""]))
    if result.files:
        say(f"report     {result.directory / 'report.html'}")
    say(f"raw data   {result.directory / 'runs'}")
    if result.files:
        if all(trust_of(target).level == "not usable" for target in result.report.targets):
            say("next       run again when nothing else runs  (or: chiplog run --details)")
        else:
            say(f"next       {next_prediction(result)}")


def next_prediction(result: RunResult) -> str:
    """The command that predicts by the run's model: of more ranks as its anchor corrects it, where there is one."""
    anchored = [
        (target.name, target.anchor.file, operation)
        for target in result.report.targets
        if target.anchor is not None and target.anchor.file is not None
        for operation in target.anchor.operations
        if operation.predicted is not None
    ]
    if not anchored:
        model = result.directory / "model.json"
        return f"chiplog predict {model} --help  (or: chiplog run --details)"
    name, written, first = anchored[0]
    file = result.directory / "runs" / Path(written).name
    words = [str(result.directory), first.operation, "--ranks", str(TRUSTED_GROWTH * first.ranks)]
    words += ["--anchor", str(file)]
    words += ["--target", name] if len(result.report.targets) > 1 else []
    return shlex.join(["chiplog", "predict", *words])
