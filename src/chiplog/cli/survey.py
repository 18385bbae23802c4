"""`chiplog survey`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from chiplog.cli.configured import command_words
from chiplog.cli.options import (
    COMMAND,
    DEFAULT_SEED,
    DEFAULT_TIME_LIMIT,
    RANKS,
    JsonOption,
    MpiOption,
    RendezvousOption,
    TimeLimitOption,
    option,
)
from chiplog.cli.output import note, say, write_json
from chiplog.cli.parameters import SECONDS, Argument, Option
from chiplog.counts import seconds_within
from chiplog.errors import RunFailed

if TYPE_CHECKING:
    from chiplog.machine_survey.job import SurveyStart
    from chiplog.machine_survey.plan import SurveyOptions
    from chiplog.machine_survey.result import SurveyResult


@dataclass(frozen=True)
class NodeOptions:
    """What starts the ranks, and how many."""

    launcher: str | None = option(
        metavar=COMMAND, help='Starts the ranks, one on each node, e.g. "srun -N 32".'
    )
    ranks: int | None = option(
        metavar=RANKS, help="Ranks to start; by default as many as the launcher says."
    )


@dataclass(frozen=True)
class SweepOptions:
    """Which pairs are measured, with which messages, and how often."""

    sparse: int | None = option(
        metavar="[N]",
        help="Measure N random rounds only (by default 10), in each of which a node has one partner.",
    )
    latency_bytes: str = option("1", metavar="SIZE", help="Message size for latency.")
    bandwidth_bytes: str = option("1MiB", metavar="SIZE", help="Message size for bandwidth.")
    # Given: as `SurveyOptions` has it; what is not clear is measured again.
    visits: int = option(1, help="Times that each pair is measured.")
    again: bool = option(
        True,
        "--again/--once",
        help="After one visit, measure up to 32 rounds again to tell who is slow; or don't.",
    )
    seed: int = option(DEFAULT_SEED, help="Of the rounds' choice and order.")


@dataclass(frozen=True)
class MeetingOptions:
    """How the ranks meet, and how long they may take."""

    mpi: MpiOption = None
    rendezvous: RendezvousOption = None
    time_limit: TimeLimitOption = DEFAULT_TIME_LIMIT
    budget: float | None = option(
        metavar=SECONDS, help="Measure for at most this long; the rest is left to --resume."
    )


@dataclass(frozen=True)
class SurveyRunOptions:
    """What a survey is held against and begins with, and where its result goes."""

    topology: Path | None = option(
        metavar="FILE",
        help="Slurm's topology.conf: are the nodes where it says? Under Slurm it is found by itself.",
    )
    resume: bool = option(
        False, "--resume", help="Finish the missing rounds of an interrupted survey."
    )
    dry_run: bool = option(
        False, "--dry-run", help="Show the plan and its predicted time; touch no network."
    )
    json_file: JsonOption = None


def survey(
    target: Annotated[
        str,
        Argument(
            metavar="TARGET",
            help="transport[:options], e.g. tcp, mpi, ofi:provider=cxi (see: chiplog list transports).",
        ),
    ],
    *,
    out: Annotated[
        Path,
        Option("-o", "--output", metavar="FOLDER|RUN.jsonl", help="Where the raw samples go."),
    ] = Path("survey"),
    nodes: NodeOptions,
    sweep: SweepOptions,
    meeting: MeetingOptions,
    run: SurveyRunOptions,
) -> None:
    """Measure every two nodes of a machine, and say who is slow.

    Latency and bandwidth are measured in rounds of disjoint pairs.
    """
    from chiplog.machine_survey.job import survey as survey_target

    if meeting.budget is not None:
        seconds_within("--budget", meeting.budget)
    options = _survey_options(target, nodes, sweep)
    if run.dry_run:
        _show_plan(target, options, run.json_file)
        return
    result = survey_target(
        target,
        out,
        options,
        _start(nodes, meeting),
        resume=run.resume,
        topology=run.topology,
    )
    _show(result, run.json_file, nodes.launcher)


def _show(result: SurveyResult, json_file: str | None, launcher: str | None) -> None:
    """Prints the result; RunFailed where nodes were lost."""
    from chiplog.cli.survey_text import lost_sentence, survey_text

    write_json(json_file, result.to_json())
    if json_file != "-":
        command = shlex.join(command_words())
        say(survey_text(result, again=command, launcher=launcher))
    if result.note:
        note(result.note)
    if result.lost:
        raise RunFailed(lost_sentence(result))


def _survey_options(target: str, nodes: NodeOptions, sweep: SweepOptions) -> SurveyOptions:
    from chiplog.machine_survey.job import ranks_to_plan
    from chiplog.machine_survey.plan import SurveyOptions
    from chiplog.measurement.start import transport_of
    from chiplog.plan.units import parse_bytes

    return SurveyOptions(
        latency_bytes=parse_bytes(sweep.latency_bytes, "--latency-bytes"),
        bandwidth_bytes=parse_bytes(sweep.bandwidth_bytes, "--bandwidth-bytes"),
        transport=transport_of(target),
        ranks=ranks_to_plan(nodes.ranks, nodes.launcher),
        sparse=sweep.sparse,
        visits=sweep.visits,
        seed=sweep.seed,
        again=sweep.again,
    )


def _start(nodes: NodeOptions, meeting: MeetingOptions) -> SurveyStart:
    from chiplog.machine_survey.job import SurveyStart

    return SurveyStart(
        nodes.launcher,
        meeting.mpi,
        meeting.rendezvous,
        meeting.time_limit,
        meeting.budget,
        nodes.ranks is not None,
    )


def _show_plan(target: str, options: SurveyOptions, json_file: str | None) -> None:
    from chiplog.cli.survey_text import sweep_text
    from chiplog.machine_survey.plan import make_sweep

    sweep = make_sweep(options)
    write_json(json_file, sweep.to_json(target))
    if json_file != "-":
        say(sweep_text(target, sweep))
