"""`chiplog simulate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from chiplog.cli.model_parameters import (
    ParameterOptions,
    cautions,
    fitted_from,
    pair_classes,
    parameters_from,
)
from chiplog.cli.options import ModelResults, option
from chiplog.cli.output import note, say, tell_states, write_json
from chiplog.cli.parameters import Argument, OutputFile
from chiplog.counts import counted, seed_within
from chiplog.errors import RunFailed
from chiplog.output_file import is_standard_output

LEAST_RATE_SHOWN = 0.1
"""Given: million events a second; of a few events no rate tells anything."""

if TYPE_CHECKING:
    from chiplog.jobs.simulated_model import CorrectedMakespan, FittedParameters
    from chiplog.schedule import Schedule
    from chiplog.simulation import Conditions, Noise, PairClasses, Simulation
    from chiplog.simulation.repeated import RepeatedRuns
    from chiplog.simulation.result import Range


@dataclass(frozen=True)
class MachineOptions:
    """What holds on the machine beside the parameters."""

    # Given: without these, ranks share no node, and each send but the first waits for g.
    per_node: int = option(0, "--per-node", help="Ranks of a node, which share --node-rate.")
    # Given: as above.
    node_rate: float = option(
        0.0,
        "--node-rate",
        metavar="B/S",
        help="Bytes per second out of a node.",
    )
    # Given: as above.
    free: int = option(1, help="LogfP's f: sends in a row that don't wait for g.")
    noise: str | None = option(
        metavar="FROM|KIND:MEAN[@P%]",
        help="Lengthen CPU times: as a run file's ping-pongs or ranks' lost times were, or drawn, e.g. pareto:2%.",
    )
    noise_trace: Path | None = option(
        None, "--noise-trace", metavar="FILE", help="Times at which a CPU is lost."
    )
    # Given: a seed like any other.
    noise_seed: int = option(0, "--noise-seed", help="Of all noise.")
    anchors: list[Path] | None = option(
        None,
        "--anchor",
        metavar="FILE",
        help="With --model: also the time as measured operations correct it, as of predict; repeatable.",
    )
    repeat: int | None = option(
        metavar="N", help="Simulate N times, with other noise each time; 95 % points need 19."
    )


def simulate(
    file: Annotated[Path, Argument(metavar="FILE.goal", help="A schedule in GOAL.")],
    *,
    given: ParameterOptions,
    machine: MachineOptions,
    trace: Annotated[
        Path | None,
        OutputFile(metavar="FILE", help="Write a trace for Perfetto or chrome://tracing."),
    ] = None,
    results: ModelResults,
) -> None:
    """Say when each rank of a schedule is done, under LogGOPS."""
    from chiplog.schedule.goal import read_goal
    from chiplog.simulation import Noise
    from chiplog.simulation.result import Range, simulation_to_json

    schedule = read_goal(file)
    classes = pair_classes(schedule, given)
    with_noise = _conditions(machine, schedule, None if classes is None else classes.pairs)
    conditions = with_noise if machine.repeat is None else replace(with_noise, noise=Noise())
    fitted = (
        None
        if given.model is None
        else fitted_from(given.model, given, results.target, anyway=results.anyway)
    )
    wants_trace = trace is not None or results.report is not None
    time_range: Range | None = None
    try:
        if fitted is not None:
            time_range = fitted.simulate(schedule, conditions=conditions, trace=wants_trace)
            simulation = time_range.simulation
        else:
            simulation = _simulated(schedule, given, conditions, wants_trace=wants_trace)
        repeated = _repeated(schedule, given, machine, with_noise, fitted)
        corrected = _corrected(schedule, machine.anchors or (), conditions, fitted)
    except RunFailed as error:
        raise RunFailed(f"{file}: {error}") from error
    beyond, rejected = (None, None) if fitted is None else cautions(fitted, schedule)
    if fitted is not None:
        tell_states(fitted.fit)
    if trace is not None:
        _write_trace(simulation, trace)
    if results.report is not None:
        makespan_ps = simulation.makespan_ps
        shown = time_range or Range(simulation, makespan_ps, makespan_ps)
        _write_report(shown, file.name, results.report)
    if results.json_file:
        content = simulation_to_json(simulation, time_range, beyond, rejected, repeated)
        write_json(results.json_file, content | ({} if corrected is None else corrected.to_json()))
    if results.json_file != "-" and not is_standard_output(trace):
        _print(simulation, time_range)
        _print_more(corrected, repeated, time_range)


def _corrected(
    schedule: Schedule,
    paths: Sequence[Path],
    conditions: Conditions,
    fitted: FittedParameters | None,
) -> CorrectedMakespan | None:
    """The makespan as the anchors in some files correct it; None without such files."""
    if not paths:
        return None
    from chiplog.errors import UsageError
    from chiplog.jobs.anchor_files import read_anchors

    if fitted is None:
        raise UsageError("--anchor: corrects what a model says; give --model, too.")
    return fitted.corrected(schedule, read_anchors(paths), conditions=conditions)


def _repeated(
    schedule: Schedule,
    given: ParameterOptions,
    machine: MachineOptions,
    conditions: Conditions,
    fitted: FittedParameters | None,
) -> RepeatedRuns | None:
    """The runs of --repeat, with noise; None without that option. UsageError where there is no noise."""
    if machine.repeat is None:
        return None
    from chiplog.errors import UsageError
    from chiplog.simulation.repeated import repeat

    if machine.noise is None and machine.noise_trace is None:
        raise UsageError(
            "--repeat: all runs are alike without noise; give --noise, e.g. run.jsonl."
        )
    if fitted is not None:
        return fitted.repeat(schedule, conditions, machine.repeat)

    def once(conditions: Conditions) -> Simulation:
        return _simulated(schedule, given, conditions, wants_trace=False)

    return repeat(once, conditions, machine.repeat)


def _conditions(
    machine: MachineOptions, schedule: Schedule, pairs: PairClasses | None
) -> Conditions:
    from chiplog.simulation import Conditions

    return Conditions(
        noise=_noise(machine, schedule),
        ranks_per_node=machine.per_node,
        node_bytes_per_second=machine.node_rate,
        free_messages=machine.free,
        pairs=pairs,
    )


def _noise(machine: MachineOptions, schedule: Schedule) -> Noise:
    from chiplog.prediction.sent_sizes import message_counts
    from chiplog.simulation import Noise
    from chiplog.simulation.noise_text import read_detours
    from chiplog.simulation.recorded_noise import noise_from

    seed, trace = machine.noise_seed, machine.noise_trace
    seed_within("--noise-seed", seed)
    sizes = message_counts(schedule) or {1: 0}
    drawn = (
        Noise(seed=seed) if machine.noise is None else noise_from(machine.noise, sizes, seed=seed)
    )
    if machine.noise is not None and drawn == Noise(seed=seed):
        note(f"{machine.noise} shows no lost time: the noise adds nothing.")
    return drawn if trace is None else replace(drawn, detours_ps=read_detours(trace))


def _simulated(
    schedule: Schedule, given: ParameterOptions, conditions: Conditions, *, wants_trace: bool
) -> Simulation:
    """With the parameters of the options, or of the file by pair."""
    from chiplog.simulation import LogGOPS
    from chiplog.simulation import simulate as run

    parameters = (
        parameters_from(given)
        if conditions.pairs is None
        else LogGOPS(conditions.pairs.classes[0], given.largest_eager_bytes)
    )
    return run(schedule, parameters, conditions=conditions, trace=wants_trace)


def _write_trace(simulation: Simulation, path: Path) -> None:
    from chiplog.output_file import replacing
    from chiplog.simulation.chrome_trace import write_chrome_trace

    with replacing(path) as file:
        write_chrome_trace(simulation.schedule, simulation, file)
    note(f"the trace is {path}.")


def _write_report(time_range: Range, title: str, path: Path) -> None:
    from chiplog.jobs.schedule_page import schedule_page
    from chiplog.report.write import write_document

    write_document(schedule_page(time_range.simulation.schedule, time_range, title), path)
    note(f"the report is {path}.")


def _print(simulation: Simulation, time_range: Range | None) -> None:
    from chiplog.cli.simulated_text import simulated_lines

    for line in simulated_lines(simulation, time_range):
        say(line)
    events = counted(simulation.events, "event")
    rate = simulation.events / simulation.wall_seconds / 1e6
    speed = f" ({rate:.1f} million/s)" if rate >= LEAST_RATE_SHOWN else ""
    note(f"{events} in {simulation.wall_seconds:.3g} s{speed}.")


def _print_more(
    corrected: CorrectedMakespan | None, repeated: RepeatedRuns | None, time_range: Range | None
) -> None:
    from chiplog.cli.simulated_text import corrected_lines, repeated_lines

    lines = [] if corrected is None else [*corrected_lines(corrected)]
    lines += [] if repeated is None else [*repeated_lines(repeated, time_range)]
    for line in lines:
        say(line)
