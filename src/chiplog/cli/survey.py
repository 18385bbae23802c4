"""`chiplog survey`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from chiplog.cli.completion import command_or_file
from chiplog.cli.output import JsonOption, note, say, write_json
from chiplog.counts import seconds_within
from chiplog.errors import RunFailed


def survey(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="transport[:options], e.g. tcp, mpi, ofi:provider=cxi.",
            autocompletion=command_or_file("verdict"),
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "-o", "--output", metavar="FOLDER|RUN.jsonl", help="Where the raw samples go."
        ),
    ] = Path("survey"),
    launcher: Annotated[
        str | None, typer.Option(help='Starts the ranks, one on each node, e.g. "srun -N 32".')
    ] = None,
    ranks: Annotated[
        int | None,
        typer.Option(metavar="N", help="Ranks to start; by default as many as the launcher says."),
    ] = None,
    sparse: Annotated[
        int | None,
        typer.Option(
            metavar="[N]",
            help="Measure N random rounds only (by default 10), in each of which a node has one partner.",
        ),
    ] = None,
    latency_bytes: Annotated[
        str, typer.Option(metavar="SIZE", help="Message size for latency.")
    ] = "1",
    bandwidth_bytes: Annotated[
        str, typer.Option(metavar="SIZE", help="Message size for bandwidth.")
    ] = "1MiB",
    visits: Annotated[int, typer.Option(help="Times that each pair is measured.")] = 1,
    again: Annotated[
        bool,
        typer.Option(
            "--again/--once",
            help="After one visit, measure up to 32 rounds again to tell who is slow; or don't.",
        ),
    ] = True,
    seed: Annotated[int, typer.Option(help="Of the rounds' choice and order.")] = 1,
    mpi: Annotated[
        str | None, typer.Option(metavar="MPICXX", help="The C++ compiler of the MPI to use.")
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
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="Measure for at most this long; the rest is left to --resume."
        ),
    ] = None,
    topology: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Slurm's topology.conf: are the nodes where it says? Under Slurm it is found by itself.",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Finish the missing rounds of an interrupted survey.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show the plan and its predicted time; touch no network."),
    ] = False,
    json_file: JsonOption = None,
) -> None:
    """Measure latency and bandwidth between every two nodes of a machine, in rounds of disjoint pairs."""
    from chiplog.measure.start import transport_of
    from chiplog.plan.units import parse_bytes
    from chiplog.survey.job import SurveyStart, ranks_to_plan
    from chiplog.survey.job import survey as survey_target
    from chiplog.survey.plan import SurveyOptions

    if budget is not None:
        seconds_within("--budget", budget)
    options = SurveyOptions(
        latency_bytes=parse_bytes(latency_bytes, "--latency-bytes"),
        bandwidth_bytes=parse_bytes(bandwidth_bytes, "--bandwidth-bytes"),
        transport=transport_of(target),
        ranks=ranks_to_plan(ranks, launcher),
        sparse=sparse,
        visits=visits,
        seed=seed,
        again=again,
    )
    from chiplog.cli.survey_text import lost_sentence, survey_text, sweep_json, sweep_text

    if dry_run:
        from chiplog.survey.plan import make_sweep

        sweep = make_sweep(options)
        if json_file:
            write_json(json_file, sweep_json(target, sweep))
        else:
            say(sweep_text(target, sweep))
        return
    result = survey_target(
        target,
        out,
        options,
        SurveyStart(launcher, mpi, rendezvous, time_limit, budget, ranks is not None),
        resume=resume,
        topology=topology,
    )
    if json_file:
        write_json(json_file, result.to_json())
    if json_file != "-":
        command = shlex.join(["chiplog", *sys.argv[1:]])
        say(survey_text(result, again=command, launcher=launcher))
    if result.note:
        note(result.note)
    if result.lost:
        raise RunFailed(lost_sentence(result))
