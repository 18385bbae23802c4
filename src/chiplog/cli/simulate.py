"""`chiplog simulate`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chiplog.cli.output import (
    AnywayOption,
    JsonOption,
    ReportOption,
    TargetOption,
    note,
    rejected_text,
    say,
    write_json,
)
from chiplog.counts import seed_within
from chiplog.errors import RunFailed, UsageError
from chiplog.output_file import is_standard_output

if TYPE_CHECKING:
    from chiplog.jobs.simulated_model import FittedParameters
    from chiplog.schedule import Schedule
    from chiplog.simulate import LogGOPS, Noise, PairClasses, Simulation
    from chiplog.simulate.result import Range

MOST_RANKS_SHOWN = 16


def simulate(
    file: Annotated[Path, typer.Argument(metavar="FILE.goal", help="A schedule in GOAL.")],
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL.json", help="Take the parameters from a fit of loggops, loggps or loggp."
        ),
    ] = None,
    L: Annotated[str | None, typer.Option("--L", metavar="NS", help="Latency.")] = None,
    o: Annotated[str | None, typer.Option("--o", metavar="NS", help="CPU time a message.")] = None,
    g: Annotated[str | None, typer.Option("--g", metavar="NS", help="NIC time a message.")] = None,
    G: Annotated[str | None, typer.Option("--G", metavar="NS", help="NIC time a byte.")] = None,
    O: Annotated[
        str | None, typer.Option("--O", metavar="NS", help="CPU time a byte; 0 by default.")
    ] = None,
    S: Annotated[
        int | None,
        typer.Option(
            "--S", metavar="BYTES", help="Longer sends wait for their receive; none by default."
        ),
    ] = None,
    classes: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json", help="Take parameters by pair of ranks, e.g. within a node."
        ),
    ] = None,
    per_node: Annotated[
        int, typer.Option("--per-node", help="Ranks of a node, which share --node-rate.")
    ] = 0,
    node_rate: Annotated[
        float,
        typer.Option("--node-rate", metavar="B/S", help="Bytes per second out of a node."),
    ] = 0.0,
    free: Annotated[int, typer.Option(help="LogfP's f: sends in a row that don't wait for g.")] = 1,
    noise: Annotated[
        str | None,
        typer.Option(
            metavar="KIND:MEAN[@P%]",
            help="Lengthen CPU times: exponential, half-normal or pareto, by a time or a share, e.g. pareto:2%.",
        ),
    ] = None,
    noise_trace: Annotated[
        Path | None,
        typer.Option("--noise-trace", metavar="FILE", help="Times at which a CPU is lost."),
    ] = None,
    noise_seed: Annotated[int, typer.Option("--noise-seed", help="Of all noise.")] = 0,
    trace: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a trace for Perfetto or chrome://tracing."),
    ] = None,
    target: TargetOption = None,
    anyway: AnywayOption = False,
    report: ReportOption = None,
    json_file: JsonOption = None,
) -> None:
    """Say when each rank of a schedule is done, under LogGOPS."""
    from chiplog.fit.verdict import rejection
    from chiplog.schedule.goal import read_goal
    from chiplog.simulate import Conditions, LogGOPS
    from chiplog.simulate import simulate as run
    from chiplog.simulate.parameters import NO_LIMIT_BYTES
    from chiplog.simulate.result import simulation_to_json

    given = {"L": L, "o": o, "g": g, "G": G, "O": O}
    schedule = read_goal(file)
    pairs = None if classes is None else _pair_classes(classes, schedule, model, given)
    conditions = Conditions(
        noise=_noise(noise, noise_trace, noise_seed),
        ranks_per_node=per_node,
        node_bytes_per_second=node_rate,
        free_messages=free,
        pairs=pairs,
    )
    wants_trace = trace is not None or report is not None
    fitted = None if model is None else _fitted(model, target, given, S, anyway=anyway)
    time_range: Range | None = None
    try:
        if fitted is not None:
            time_range = fitted.simulate(schedule, conditions=conditions, trace=wants_trace)
            simulation = time_range.simulation
        else:
            parameters = (
                _parameters({k: v for k, v in given.items() if v is not None}, S)
                if pairs is None
                else LogGOPS(pairs.classes[0], NO_LIMIT_BYTES if S is None else S)
            )
            simulation = run(schedule, parameters, conditions=conditions, trace=wants_trace)
    except RunFailed as error:
        raise RunFailed(f"{file}: {error}") from error
    beyond = None if fitted is None else fitted.beyond(schedule)
    if beyond is not None:
        note(f"extrapolated: {beyond}.")
    rejected = None if fitted is None else rejection(fitted.fit)
    if rejected is not None:
        note(rejected_text(rejected))
    if trace is not None:
        _write_trace(schedule, simulation, trace)
    if report is not None:
        _write_report(schedule, simulation, file.name, report)
    if json_file:
        write_json(json_file, simulation_to_json(simulation, time_range, beyond, rejected))
    elif not is_standard_output(trace):
        _print(simulation, time_range)


def _fitted(
    model: Path,
    target: str | None,
    given: Mapping[str, str | None],
    S: int | None,
    *,
    anyway: bool,
) -> FittedParameters:
    """From --model, with what a reader must be told; UsageError where options say something else."""
    from chiplog.jobs.simulated_model import fitted_parameters

    if any(given.values()) or S is not None:
        raise UsageError(
            "--model: gives all parameters; leave out --L, --o, --g, --G, --O and --S."
        )
    return fitted_parameters(model, target, anyway=anyway)


def _parameters(given: dict[str, str], S: int | None) -> LogGOPS:
    """From the options; UsageError where some are missing."""
    from chiplog.simulate.parameters import NO_LIMIT_BYTES, LogGOPS

    missing = [f"--{name}" for name in ("L", "o", "g", "G") if name not in given]
    if missing:
        raise UsageError(
            f"{', '.join(missing)}: missing; give --model, or --L, --o, --g and --G in ns."
        )
    return LogGOPS.from_ns(
        L=given["L"],
        o=given["o"],
        g=given["g"],
        G=given["G"],
        O=given.get("O", 0),
        S_bytes=NO_LIMIT_BYTES if S is None else S,
    )


def _pair_classes(
    path: Path, schedule: Schedule, model: Path | None, given: Mapping[str, str | None]
) -> PairClasses:
    from chiplog.jobs.pair_classes import read_pair_classes

    if model is not None or any(given.values()):
        raise UsageError("--classes: gives all parameters but S; leave out --model, --L and so on.")
    return read_pair_classes(path, schedule)


def _noise(text: str | None, trace: Path | None, seed: int) -> Noise:
    from chiplog.simulate import Noise
    from chiplog.simulate.noise_text import parse_noise, read_detours

    seed_within("--noise-seed", seed)
    drawn = Noise(seed=seed) if text is None else parse_noise(text, seed=seed)
    return drawn if trace is None else replace(drawn, detours_ps=read_detours(trace))


def _write_trace(schedule: Schedule, simulation: Simulation, path: Path) -> None:
    from chiplog.output_file import replacing
    from chiplog.simulate.chrome_trace import write_chrome_trace

    with replacing(path) as file:
        write_chrome_trace(schedule, simulation, file)
    note(f"the trace is {path}.")


def _write_report(schedule: Schedule, simulation: Simulation, title: str, path: Path) -> None:
    from chiplog.jobs.schedule_page import schedule_page
    from chiplog.report.write import write_document

    write_document(schedule_page(schedule, simulation, title), path)
    note(f"the report is {path}.")


def _print(simulation: Simulation, time_range: Range | None) -> None:
    from chiplog.simulate.result import nanoseconds

    finish = nanoseconds(simulation.finish_ps)
    interval = ""
    if time_range is not None:
        low, high = (f"{end / 1000:.6g}" for end in (time_range.low_ps, time_range.high_ps))
        interval = f"  ({low} to {high} ns, 95 %, with the model's error)" if low != high else ""
    say(f"makespan  {max(finish)} ns{interval}")
    for rank, time_ns in enumerate(finish[:MOST_RANKS_SHOWN]):
        say(f"rank {rank}  {time_ns} ns")
    if len(finish) > MOST_RANKS_SHOWN:
        say(f"… and {len(finish) - MOST_RANKS_SHOWN} more ranks: --json FILE has all")
    rate = simulation.events / simulation.wall_seconds / 1e6
    note(f"{simulation.events} events in {simulation.wall_seconds:.3g} s ({rate:.1f} million/s).")
