"""Options that give the simulator's parameters, and what they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from chiplog.cli.options import option, size, time
from chiplog.cli.output import CROSSING_UNKNOWN, INCAST_FOLLOWED, note, rejected_text
from chiplog.errors import UsageError

if TYPE_CHECKING:
    from chiplog.jobs.class_draws import FittedClasses
    from chiplog.jobs.simulated_model import FittedParameters
    from chiplog.schedule import Schedule
    from chiplog.simulation import LogGOPS


@dataclass(frozen=True)
class ParameterOptions:
    """Where the parameters of LogGOPS come from: a model file, single options, or a file by pair of ranks."""

    model: Path | None = option(
        metavar="MODEL.json", help="Take the parameters from a fit of loggops, loggps or loggp."
    )
    L: str | None = option(
        None, "--L", metavar="TIME", parser=time, help="Latency: 1us, or 1000, in ns."
    )
    o: str | None = option(None, "--o", metavar="TIME", parser=time, help="CPU time a message.")
    g: str | None = option(None, "--g", metavar="TIME", parser=time, help="NIC time a message.")
    G: str | None = option(None, "--G", metavar="TIME", parser=time, help="NIC time a byte: 0.5ns.")
    O: str | None = option(
        None, "--O", metavar="TIME", parser=time, help="CPU time a byte; 0 by default."
    )
    S: int | None = option(
        None,
        "--S",
        metavar="SIZE",
        parser=size,
        help="Longer sends wait for their receive; none by default.",
    )
    classes: Path | None = option(
        metavar="FILE.json", help="Take parameters by pair of ranks, e.g. within a node."
    )

    @property
    def times(self) -> dict[str, str]:
        """The times that are given by options of their own, by symbol."""
        by_symbol = {"L": self.L, "o": self.o, "g": self.g, "G": self.G, "O": self.O}
        return {symbol: time for symbol, time in by_symbol.items() if time is not None}

    @property
    def largest_eager_bytes(self) -> int:
        """S, or what stands for no limit."""
        from chiplog.simulation.parameters import NO_LIMIT_BYTES

        return NO_LIMIT_BYTES if self.S is None else self.S


def pair_classes(schedule: Schedule, given: ParameterOptions) -> FittedClasses | None:
    """From --classes; UsageError where options say something else."""
    if given.classes is None:
        return None
    from chiplog.jobs.pair_classes import read_fitted_classes

    if given.model is not None or any(given.times.values()):
        raise UsageError("--classes: gives all parameters but S; leave out --model, --L and so on.")
    return read_fitted_classes(given.classes, schedule)


def fitted_from(
    model: Path, given: ParameterOptions, target: str | None, *, anyway: bool
) -> FittedParameters:
    """From --model; UsageError where options say something else."""
    from chiplog.jobs.simulated_model import fitted_parameters

    if any(given.times.values()) or given.S is not None:
        raise UsageError(
            "--model: gives all parameters; leave out --L, --o, --g, --G, --O and --S."
        )
    return fitted_parameters(model, target, anyway=anyway)


def parameters_from(given: ParameterOptions) -> LogGOPS:
    """From the options; UsageError where some are missing."""
    from chiplog.simulation.parameters import LogGOPS

    missing = [f"--{name}" for name in ("L", "o", "g", "G") if name not in given.times]
    if missing:
        raise UsageError(
            f"{', '.join(missing)}: missing; give --model, or --L, --o, --g and --G, e.g. --L 1us."
        )
    return LogGOPS.from_ns(**given.times, S_bytes=given.largest_eager_bytes)


def cautions(fitted: FittedParameters, schedule: Schedule) -> tuple[str | None, str | None]:
    """How far the schedule is beyond what was measured, and why the fit is rejected; both are said, too."""
    from chiplog.fitting.verdict import rejection

    beyond, rejected = fitted.beyond(schedule), rejection(fitted.fit)
    if beyond is not None:
        note(f"extrapolated: {beyond}.")
    if rejected is not None:
        note(rejected_text(rejected))
    if fitted.is_crossing_unknown(schedule):
        note(CROSSING_UNKNOWN)
    if fitted.follows_incasts(schedule):
        note(INCAST_FOLLOWED)
    return beyond, rejected
