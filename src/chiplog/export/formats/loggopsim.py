"""LogGOPSim's command line from a fit of LogGOPS or LogGP(S): -L -o -g -G -O -S, all integers.

LogGOPSim has one parameter set for all sizes. With O = 0 a message takes L + 2o + (s-1)G, and adds max(o, g) + (s-1)G
to a train. L + 2o, max(o, g) and G are those with which the largest error of any measured half round trip and train of
ten is least; where that is more than 5 %, no line is written, and the ranges of sizes are named that one line can hold.

The unit of time is ns, ps or fs: the first in which G keeps 3 digits. Times in the schedule (`calc`) must be scaled by
as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from chiplog.errors import UsageError
from chiplog.export.check import ranges_text, refuse_what_misses, to_hold_against, within
from chiplog.export.exporter import Exporter, fits_as_text
from chiplog.export.fits import bounded_regimes, fit_to_use, largest_eager_bytes, rejection_lines
from chiplog.export.pieces import HOLDS, TRAIN, MeasuredSize, middle_of, pieces_of
from chiplog.fitting.predictions.regime import Regime
from chiplog.fitting.result import Fit
from chiplog.quoting import for_line

UNITS = {"ns": 1e9, "ps": 1e12, "fs": 1e15}
"""Given: units a second."""
LEAST_G = 100
"""Given: G keeps three digits where it is so many units of time."""
NO_LIMIT_BYTES = (1 << 31) - 1
"""Given: the largest S that LogGOPSim takes."""


@dataclass(frozen=True)
class LoggopsimLine:
    """One parameter set, in seconds and seconds per byte; `error` is the largest at a measured size, as a share."""

    one_way: float
    step: float
    G: float
    error: float


def loggopsim_text(fits: Sequence[Fit], sizes: tuple[int, int] | None = None) -> str:
    """The options on one line, after comment lines that say the unit, the sizes and where the values come from.

    `sizes` is the range to hold, all by default. UsageError where one parameter set can't, within 5 % at every size.
    """
    fit = fit_to_use(fits, "loggopsim")
    regimes = bounded_regimes(fit)
    measured = to_hold_against(fit, pieces_of(fit, regimes))
    first, last = sizes or (measured[0].message_bytes, measured[-1].message_bytes)
    _, wanted = within((first, last), (), measured)
    line = _best_line(wanted)
    if line.error > HOLDS:
        raise UsageError(
            f"LogGOPSim has one set of parameters, and none is within {HOLDS:.0%} of what was measured from {first} to "
            f"{last} B (the best is off by {line.error:.0%}). Write a file for each range that one set can hold: "
            f"{_ranges_text(wanted)}."
        )
    unit = next((name for name, scale in UNITS.items() if line.G * scale >= LEAST_G), "fs")
    options = _options(line, regimes[0], UNITS[unit])
    limit = largest_eager_bytes([fit, *fits])
    o_plus_L = (options["o"] + options["L"]) / UNITS[unit]
    waits = limit is not None and _is_within_trains(o_plus_L, limit, wanted)
    options["S"] = limit if waits and limit is not None else NO_LIMIT_BYTES
    says = partial(_says, options, scale=UNITS[unit])
    refuse_what_misses(says, wanted, "LogGOPSim", "its times are integers.")
    origin = f"{fit.model} by {fit.method} over {fit.transport}"
    comments = [
        f"# {for_line(origin)}, written by chiplog for LogGOPSim 1.1",
        f"# scale: 1 unit of time = 1 {unit}; write computation in the schedule in {unit}, too",
        f"# for messages of {first} to {last} B, within {line.error:.1%} of what was measured; write none of 0 B",
    ]
    comments += [f"# {for_line(words)}" for words in rejection_lines(fit)]
    if not waits:
        comments.append("# no send waits for its receive: trains do not show that one does")
    numbers = " ".join(f"-{name} {number}" for name, number in options.items())
    return "\n".join([*comments, numbers, ""])


def _says(options: dict[str, int], message_bytes: int, *, scale: float) -> tuple[float, float]:
    """Half a round trip and a train's step in seconds."""
    wire = (message_bytes - 1) * options["G"]
    way = 2 * options["o"] + options["L"] + wire
    return way / scale, (max(options["o"], options["g"]) + wire) / scale


def _best_line(measured: Sequence[MeasuredSize]) -> LoggopsimLine:
    """The values with the least largest relative error, by linear programming."""
    from scipy.optimize import linprog  # its import takes longer than most commands

    rows, limits = [], []
    for measured_size in measured:
        further = measured_size.message_bytes - 1
        scale = float(measured[-1].message_bytes)
        cells = [((1.0, 0.0, further / scale), measured_size.half_round_trip)]
        if measured_size.train is not None:
            train = (2.0, TRAIN - 1.0, (TRAIN + 1.0) * further / scale)
            cells.append((train, measured_size.train))
        for row, seconds in cells:
            share = np.array(row) / seconds * 1e-6
            rows += [[*share, -1.0], [*-share, -1.0]]
            limits += [1.0, -1.0]
    solution = linprog([0.0, 0.0, 0.0, 1.0], A_ub=rows, b_ub=limits)
    way, step, slope, error = solution.x
    return LoggopsimLine(
        way * 1e-6, step * 1e-6, slope * 1e-6 / measured[-1].message_bytes, float(error)
    )


def _options(line: LoggopsimLine, regime: Regime, scale: float) -> dict[str, int]:
    """O is that of short messages, as far as a message's way and a train's step leave room for it."""
    middle = middle_of(regime)
    known = (middle["o_s"] + middle["o_r"]) / 2.0
    o = round(min(known, line.step, line.one_way / 2.0) * scale)
    return {
        "L": max(0, round(line.one_way * scale) - 2 * o),
        "o": o,
        "g": round(line.step * scale),
        "G": round(line.G * scale),
        "O": 0,
    }


def _is_within_trains(arrival: float, limit: int, measured: Sequence[MeasuredSize]) -> bool:
    """Do sends that wait until their message is there leave the trains as they were measured?"""
    return all(
        measured_size.step is None or arrival <= measured_size.step * (1 + HOLDS)
        for measured_size in measured
        if measured_size.message_bytes > limit
    )


def _ranges_text(measured: Sequence[MeasuredSize]) -> str:
    """The longest ranges of sizes, from the smallest on, that one line holds."""
    ranges: list[tuple[int, int]] = []
    first = 0
    while first < len(measured):
        last = first + 1
        while last < len(measured) and _best_line(measured[first : last + 1]).error <= HOLDS:
            last += 1
        ranges.append((measured[first].message_bytes, measured[last - 1].message_bytes))
        first = last
    return ranges_text(ranges)


LOGGOPSIM = Exporter(
    name="loggopsim",
    summary="a model file: LogGOPSim's options",
    write_fits=fits_as_text(loggopsim_text),
)
