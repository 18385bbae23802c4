"""The simulator's parameters from a model file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from chiplog.errors import RunFailed
from chiplog.export.fits import fit_to_use, usable_fits
from chiplog.export.pieces import HOLDS, Piece, corrections, pieces_of
from chiplog.fit.model_file import read_model
from chiplog.fit.origin import beyond_measured, of_target
from chiplog.fit.predictions.known import Array, refusal
from chiplog.fit.predictions.span import Span, extreme_points, first_points
from chiplog.fit.result import Fit
from chiplog.predict.loggp import LogGPSpeaker
from chiplog.predict.model_error import model_error, with_model_error
from chiplog.predict.network import segment_of
from chiplog.schedule.arrays import SEND, Schedule
from chiplog.simulate.conditions import Conditions
from chiplog.simulate.parameters import NO_LIMIT_BYTES, LogGOPS, MessageTimes
from chiplog.simulate.result import Range
from chiplog.simulate.simulation import PLAIN, Simulation, simulate

MOST_EVENTS_SEARCHED = 100_000
"""Schedules of more events are simulated at the corners of the set alone."""
ENDLESS = 100.0
"""So many times as long as with its least value is a simulation only with a parameter that nothing bounds."""


@dataclass(frozen=True)
class FittedParameters:
    """The parameters of a fit: one set where all is identified, else a set of them."""

    fit: Fit

    @cached_property
    def _speaker(self) -> LogGPSpeaker:
        return LogGPSpeaker(self.fit)

    @cached_property
    def S_bytes(self) -> int:
        """The longest send that does not wait for its receive, where the fit knows it."""
        limit = self._speaker.largest_eager_bytes
        return NO_LIMIT_BYTES if limit is None else limit

    def middle(self) -> LogGOPS:
        """In the middle of the set."""
        return LogGOPS(_message_times(pieces_of(self.fit, self._speaker.regimes)), self.S_bytes)

    def corrected(self) -> str | None:
        """A sentence, where measured times stand in for the fit's."""
        sizes = corrections(pieces_of(self.fit, self._speaker.regimes))
        if sizes == 0:
            return None
        return f"the fit is off by about {HOLDS:.0%} or more at {sizes} of its sizes; measured times stand in there."

    def beyond(self, schedule: Schedule) -> str | None:
        """How far the schedule's ranks and sizes lie beyond what was measured."""
        reasons = [beyond_measured(self.fit, schedule.ranks)]
        most, last = max(_sizes(schedule), default=0), self.fit.segments[-1].last_bytes
        if most > last:
            first = self.fit.segments[0].first_bytes
            reasons.append(f"messages of {most} B, {first} to {last} B were measured")
        return "; ".join(one for one in reasons if one) or None

    def simulate(
        self, schedule: Schedule, *, conditions: Conditions = PLAIN, trace: bool = False
    ) -> Range:
        """Executes `schedule` in the middle of the set and all over it.

        Raises UsageError where a parameter that nothing bounds decides the result, RunFailed as of `simulate`.
        """
        used = sorted({segment_of(self.fit, size) for size in _sizes(schedule)})
        regimes = [self._speaker.regimes[one] for one in used] or self._speaker.regimes[:1]
        columns = np.cumsum([0, *(len(one.free) for one in regimes)])

        def parameters(point: Array) -> LogGOPS:
            """Of the regimes that the schedule needs."""
            fractions = [point[a:b] for a, b in pairwise(columns)]
            return LogGOPS(_message_times(pieces_of(self.fit, regimes, fractions)), self.S_bytes)

        def evaluate(points: Array, _: bool) -> Array:
            found = [_makespan(schedule, parameters(point), conditions) for point in points]
            return np.array(found)[:, np.newaxis]

        symbols = [(one.segment, symbol) for one in regimes for symbol in one.free]
        self._refuse_endless(symbols, evaluate)
        middle = np.full(len(symbols), 0.5)
        simulation = simulate(schedule, parameters(middle), conditions=conditions, trace=trace)
        if not symbols:
            makespan = simulation.makespan_ps
            return self._range(simulation, makespan, makespan, _sizes(schedule))
        kinds = list(dict.fromkeys(symbol for _, symbol in symbols))
        ties = [kinds.index(symbol) for _, symbol in symbols]
        if simulation.events > MOST_EVENTS_SEARCHED:
            corners = first_points(len(symbols), ties)[: 1 + 2 ** min(len(kinds), 4)]
            found = evaluate(corners, False)[:, 0]
        else:
            _, *ends = extreme_points(evaluate, len(symbols), ties)
            found = evaluate(np.stack(ends), False)[:, 0]
        low, high = round(float(found.min())), round(float(found.max()))
        return self._range(simulation, low, high, _sizes(schedule))

    def _range(self, simulation: Simulation, low: int, high: int, sizes: set[int]) -> Range:
        """The simulation with what the data leave and by how much the model misses them."""
        makespan = simulation.makespan_ps
        span = Span(makespan, min(low, makespan), max(high, makespan))
        wide = with_model_error(span, model_error(self.fit, sizes))
        return Range(simulation, round(wide.low), round(wide.high))

    def _refuse_endless(self, symbols: Sequence[tuple[int, str]], evaluate: object) -> None:
        """UsageError, naming the parameter, where one that nothing bounds decides the result."""
        assert callable(evaluate)
        unlimited = [
            place
            for place, (one, symbol) in enumerate(symbols)
            if self._speaker.regimes[one].is_unlimited(symbol)
        ]
        for place in unlimited:
            points = np.full((2, len(symbols)), 0.5)
            points[:, unlimited] = 0.0
            points[1, place] = 1.0
            least, most = evaluate(points, False)[:, 0]
            if most > ENDLESS * (least + 1.0):
                raise refusal(self.fit, *symbols[place])


def fitted_parameters(
    path: str | os.PathLike[str], target: str | None = None, *, anyway: bool = False
) -> FittedParameters:
    """From the fit of loggops, loggps, loggp or another that can be simulated, the first by precedence.

    Each regime's hold for its sizes, the first one's below them.

    UsageError where there is no such fit, where its own check rejects it, unless `anyway`, for several targets and none
    named, or where nothing bounds a latency; CorruptFile as in reading a model file.
    """
    fits = of_target(read_model(path), target, os.fspath(path))
    return parameters_to_simulate(fits, anyway=anyway)


def parameters_to_simulate(fits: Sequence[Fit], *, anyway: bool = False) -> FittedParameters:
    """From one of several fits of one target; UsageError as of `fitted_parameters`."""
    usable = usable_fits(fits, "simulate", anyway=anyway)
    return FittedParameters(fit_to_use(usable, "simulate", "simulate --model"))


def _sizes(schedule: Schedule) -> set[int]:
    sends = schedule.operations["kind"] == SEND
    return set(np.unique(schedule.operations["amount"][sends]).tolist())


def _makespan(schedule: Schedule, parameters: LogGOPS, conditions: Conditions) -> float:
    """In picoseconds; endless where it is beyond the simulator's clock."""
    try:
        return float(simulate(schedule, parameters, conditions=conditions).makespan_ps)
    except RunFailed as error:
        if "106 days" in str(error):
            return float("inf")
        raise


def _message_times(pieces: Sequence[Piece]) -> tuple[MessageTimes, ...]:
    return tuple(
        MessageTimes.from_seconds(
            0 if place == 0 else piece.first_bytes,
            piece.values,
            receiver_keeps_up=piece.receiver_keeps_up,
        )
        for place, piece in enumerate(pieces)
    )
