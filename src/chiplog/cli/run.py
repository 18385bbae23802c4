"""`chiplog run`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from chiplog.cli.output import note, say
from chiplog.jobs import defaults


def run(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET ...]", help="By default shm, tcp, and mpi if one is found."
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="DIR", help="Where runs, models and report go."),
    ] = Path("report"),
    budget: Annotated[
        float, typer.Option(metavar="SECONDS", help="Of all targets together.")
    ] = defaults.BUDGET_SECONDS,
    sizes: Annotated[
        str, typer.Option(help="FIRST:LAST[:POINTS_PER_OCTAVE] or a list.")
    ] = defaults.SIZES,
    ranks: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Ranks of one-to-many and pairs; by default one a core. More than cores are flagged.",
        ),
    ] = None,
    launcher: Annotated[
        str | None, typer.Option(help='Starts the ranks, e.g. "srun -N 2".')
    ] = None,
    mpi: Annotated[
        str | None, typer.Option(metavar="MPICXX", help="The C++ compiler of the MPI to use.")
    ] = None,
    rendezvous: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", help="Where launched ranks meet; by default rank 0 is found."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the order of the points.")] = 1,
    details: Annotated[
        bool, typer.Option("--details", help="Print the whole report, not one screen of it.")
    ] = False,
) -> None:
    """Measure this machine, fit every model, compare them and write a report."""
    from chiplog.jobs.measure_to_report import run as run_all
    from chiplog.measure.process_start import process_start
    from chiplog.report.trust import trust_of

    result = run_all(
        targets or (),
        out,
        budget=budget,
        sizes=sizes,
        ranks=ranks,
        launcher=launcher,
        mpi=mpi,
        rendezvous=rendezvous,
        seed=seed,
        command=("chiplog", *sys.argv[1:]),
        began=process_start(),
    )
    if details:
        from chiplog.cli.screen import Screen
        from chiplog.report.terminal import print_report

        print_report(result.report, Screen())
    else:
        from chiplog.report.summary import summary_lines

        say("\n".join([*summary_lines(result.report), ""]))
    if result.files:
        say(f"report     {result.directory / 'report.html'}")
    say(f"raw data   {result.directory / 'runs'}")
    if result.files:
        model = result.directory / "model.json"
        if all(trust_of(target).level == "not usable" for target in result.report.targets):
            say("next       run again when nothing else runs  (or: chiplog run --details)")
        else:
            say(f"next       chiplog predict {model} --help  (or: chiplog run --details)")
    if result.failures:
        for failure in result.failures:
            note(f"no result for {failure}")
        raise typer.Exit(1)
