"""The simulator's parameters from a model file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from chiplog.export.fits import fit_to_use, usable_fits
from chiplog.fitting.model_file import read_model
from chiplog.fitting.origin import beyond_measured, of_target, target_of
from chiplog.fitting.predictions.known import Array, refusal
from chiplog.fitting.predictions.regime import curve_of
from chiplog.fitting.predictions.span import AnswerSpan, Evaluate, first_points
from chiplog.fitting.quantities.incast import INCAST
from chiplog.fitting.result import Fit, Parameter
from chiplog.fitting.settings import SHORTEST_SECONDS
from chiplog.json_values import plain
from chiplog.prediction.anchored import without_exchanges
from chiplog.prediction.anchored_schedule import corrected_schedule
from chiplog.prediction.anchors import Anchor
from chiplog.prediction.correction import Correction
from chiplog.prediction.crossing import crosses_in
from chiplog.prediction.loggp import LogGPSpeaker
from chiplog.prediction.model_error import model_error, with_model_error, with_states
from chiplog.prediction.network import Space
from chiplog.prediction.network_change import UNCHANGED, NetworkChange
from chiplog.prediction.network_crossings import acknowledged_sizes, handshake_sizes
from chiplog.prediction.sent_sizes import message_counts
from chiplog.prediction.simulated import MOST_EVENTS, PS_PER_SECOND, ScheduleTimes
from chiplog.schedule.acknowledged import with_acknowledgements
from chiplog.schedule.arrays import CALC, Schedule
from chiplog.schedule.traffic import Traffic, incasts_of, traffic_of
from chiplog.simulation.conditions import Conditions
from chiplog.simulation.parameters import NO_LIMIT_BYTES, LogGOPS
from chiplog.simulation.repeated import RepeatedRuns, repeat
from chiplog.simulation.result import Range
from chiplog.simulation.simulate import PLAIN, Simulation
from chiplog.simulation.simulate import simulate as run

MOST_KINDS = 4
"""Given: of a long schedule, the corners of the set are tried for so many kinds of parameters."""
ENDLESS = 100.0
"""Given: so many times as long as with its least value is a simulation only with a parameter that nothing bounds."""


@dataclass(frozen=True)
class CorrectedMakespan:
    """When the last rank is done as anchors correct it, with its 95 % interval, in picoseconds."""

    makespan_ps: int
    low_ps: int
    high_ps: int
    correction: Correction

    def to_json(self) -> dict[str, Any]:
        """The member `corrected` of chiplog.simulation/1, for the document."""
        corrected = {
            "makespan_ns": self.makespan_ps / 1000,
            "low_ns": self.low_ps / 1000,
            "high_ns": self.high_ps / 1000,
            "correction": plain(self.correction),
        }
        return {"corrected": corrected}


@dataclass(frozen=True)
class FittedParameters:
    """The parameters of a fit: one set where all is identified, else a set of them."""

    fit: Fit
    largest_eager_bytes: int | None = None
    """S: longer sends wait for their receive; None where none does, or where it is not known."""
    sure_to_return_bytes: int = 0
    """The largest send that was seen to return although its receiver was late; 0 where none was."""
    follows_acknowledgements: bool = True
    """Does a schedule get the messages that tell a sender that its own has come, where the fit shows them?"""

    @cached_property
    def speaker(self) -> LogGPSpeaker:
        """What knows the costs of its messages."""
        return LogGPSpeaker(self.fit)

    def times(
        self,
        schedule: Schedule,
        conditions: Conditions = PLAIN,
        change: NetworkChange = UNCHANGED,
        used: tuple[int, ...] | None = None,
    ) -> ScheduleTimes:
        """Times of the schedule as it is after a `change` of it and of the network."""
        asked = change.largest_eager_bytes
        if asked is None:
            change = replace(change, largest_eager_bytes=self.largest_eager_bytes)
        schedule = change.of_schedule(schedule)
        sizes, limit = message_counts(schedule), change.largest_eager_bytes
        acknowledged: frozenset[int] = frozenset()
        if self.follows_acknowledgements:
            longer = sizes if asked is None else [size for size in sizes if size > asked]
            acknowledged = acknowledged_sizes(self.fit, longer)
        returning = self.sure_to_return_bytes if asked is None else 0
        by_library = frozenset(size for size in acknowledged if size <= returning)
        return ScheduleTimes(
            with_acknowledgements(schedule, acknowledged - by_library, by_library),
            self.speaker,
            conditions,
            used=used,
            change=change,
            acknowledged=acknowledged,
            handshakes=handshake_sizes(self.fit, sizes, limit),
        )

    def in_the_middle(self, schedule: Schedule) -> LogGOPS:
        """The costs of the sizes that the schedule sends, in the middle of the set."""
        times = self.times(schedule)
        middle = np.full((1, len(times.space.symbols)), 0.5)
        return times.parameters(middle, whole=False)[0]

    def beyond(self, schedule: Schedule) -> str | None:
        """How far the schedule's ranks and sizes lie beyond what was measured."""
        reasons = [beyond_measured(self.fit, schedule.ranks)]
        most, last = (
            max(self.times(schedule).sizes),
            self.fit.segments[-1].last_bytes,
        )
        if most > last:
            first = self.fit.segments[0].first_bytes
            reasons.append(f"messages of {most} B, {first} to {last} B were measured")
        return "; ".join(reason for reason in reasons if reason) or None

    def simulate(
        self,
        schedule: Schedule,
        *,
        conditions: Conditions = PLAIN,
        trace: bool = False,
        follow: bool = False,
        change: NetworkChange = UNCHANGED,
    ) -> Range:
        """Executes `schedule` in the middle of the set and all over it, with a `change` of what was measured.

        The model's error widens what messages add to the time of the same computation with messages that cost nothing.
        Where no exchange was measured, the range goes on to bytes that take twice as long while they cross others.

        Raises UsageError where a parameter that nothing bounds decides the result, RunFailed as of `simulate`.
        """
        times = self.times(schedule, conditions, change)
        space = times.space
        self._refuse_endless(space.symbols, times.evaluate)
        simulation = times.in_the_middle(trace=trace, follow=follow)
        is_long = simulation.events > MOST_EVENTS
        span = _span(times, is_long=is_long)
        if self.is_crossing_unknown(times.schedule):
            slower = replace(times, speaker=self.speaker.one_engine)
            span = replace(span, high=max(span.high, _span(slower, is_long=is_long).high))
        wide = self._with_error_of_messages(span, times, _train_share(simulation))
        makespan = simulation.makespan_ps
        low, high = (round(end * PS_PER_SECOND) for end in (wide.low, wide.high))
        return Range(simulation, min(low, makespan), max(high, makespan))

    def _with_error_of_messages(
        self, span: AnswerSpan, times: ScheduleTimes, train_share: float
    ) -> AnswerSpan:
        """The span with the model's error and other states, but not in the seconds that computing takes.

        `train_share` is that of the whole time in which messages wait for those before them. There errors are those of
        trains, elsewhere those of messages alone.
        """
        computing = self._computing_seconds(times)
        if not 0.0 < computing < span.value:
            computing = 0.0
        ends = np.array([span.value, span.low, span.high])
        of_trains = min(
            train_share * span.value / max(span.value - computing, SHORTEST_SECONDS), 1.0
        )
        wide = np.full(3, computing)
        for has_trains, share in ((True, of_trains), (False, 1.0 - of_trains)):
            if share == 0.0:
                continue
            error = model_error(self.fit, times.sizes, has_trains=has_trains)
            part = with_model_error(AnswerSpan(*(share * (ends - computing)).tolist()), error)
            part = with_states(part, self.fit)
            wide += [part.value, part.low, part.high]
        return AnswerSpan(*wide.tolist())

    def is_crossing_unknown(self, schedule: Schedule) -> bool:
        """Whether bytes of the schedule, beyond the first of a message, cross others, and no exchange was measured."""
        return not self.speaker.tells_exchanges and crosses_in(schedule)

    def follows_incasts(self, schedule: Schedule) -> bool:
        """Whether messages of the schedule meet at a receiver whose time an incast showed."""
        curve = curve_of(self.fit, INCAST)
        if curve is None:
            return False
        meets = (traffic_of(schedule) == Traffic.BURST) | incasts_of(schedule)
        return bool(np.any(schedule.operations["amount"][meets] >= curve.message_bytes.min()))

    def repeat(self, schedule: Schedule, conditions: Conditions, runs: int) -> RepeatedRuns:
        """Executes `schedule` in the middle of the set, with other noise each time; raises as of `repeat`."""
        times = self.times(schedule)

        def once(conditions: Conditions) -> Simulation:
            return replace(times, conditions=conditions).in_the_middle()

        return repeat(once, conditions, runs)

    def corrected(
        self, schedule: Schedule, anchors: Sequence[Anchor], *, conditions: Conditions = PLAIN
    ) -> CorrectedMakespan:
        """The makespan as measured operations correct it; raises as of `corrected_schedule` and `simulate`."""
        speaker = LogGPSpeaker(without_exchanges(self.fit))
        times = ScheduleTimes(schedule, speaker, conditions)
        computing = self._computing_seconds(times)
        span, correction = corrected_schedule(times, computing, anchors)
        makespan, low, high = (
            round(end * PS_PER_SECOND) for end in (span.value, span.low, span.high)
        )
        return CorrectedMakespan(makespan, low, high, correction)

    def _computing_seconds(self, times: ScheduleTimes) -> float:
        """The time of the schedule with messages that cost nothing."""
        operations = times.schedule.operations
        if not np.any((operations["kind"] == CALC) & (operations["amount"] > 0)):
            return 0.0
        limit = times.largest_eager_bytes
        free = LogGOPS.from_ns(
            L=0, o=0, g=0, G=0, S_bytes=NO_LIMIT_BYTES if limit is None else limit
        )
        return run(times.schedule, free, conditions=times.conditions).makespan_ps / PS_PER_SECOND

    def _refuse_endless(self, symbols: Sequence[tuple[int, str]], evaluate: Evaluate) -> None:
        """UsageError, naming the parameter, where one that nothing bounds decides the result."""
        unlimited = [
            place
            for place, (regime, symbol) in enumerate(symbols)
            if self.speaker.regimes[regime].is_unlimited(symbol)
        ]
        for place in unlimited:
            points = np.full((2, len(symbols)), 0.5)
            points[:, unlimited] = 0.0
            points[1, place] = 1.0
            least, most = evaluate(points, False)[:, 0]
            if most > ENDLESS * (least + 1.0 / PS_PER_SECOND):
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
    fit = fit_to_use(usable, "simulate", "simulate --model")
    S = _eager_limit(fit, usable)
    if S is None:
        return FittedParameters(fit)
    limit = int(S.value) if S.value else None
    return FittedParameters(fit, limit, int(S.low or 0) if limit is None else limit)


def _eager_limit(fit: Fit, fits: Sequence[Fit]) -> Parameter | None:
    """S of the fit; of a model without it, that which another fit of the target by the same method has."""
    like = (each for each in fits if (target_of(each), each.method) == (target_of(fit), fit.method))
    for each in (fit, *like):
        S = each.segments[0].parameters.get("S") if each.segments else None
        if S is not None:
            return S
    return None


def corners(space: Space) -> Array:
    """The middle of a set of parameter vectors, and its corners by kinds of parameters, shape (points, symbols)."""
    if not space.symbols:
        return np.empty((1, 0))
    kinds = list(dict.fromkeys(symbol for _, symbol in space.symbols))
    ties = [kinds.index(symbol) for _, symbol in space.symbols]
    points = first_points(len(space.symbols), ties)
    return np.asarray(points[: 1 + 2 ** min(len(kinds), MOST_KINDS)])


def _train_share(simulation: Simulation) -> float:
    """The share of the time in which messages wait for those sent before by their sender; 1 where that is not known."""
    path = simulation.critical_path
    if path is None or not simulation.makespan_ps:
        return 1.0
    return path.share_of_trains(simulation.schedule, simulation.makespan_ps)


def _span(times: ScheduleTimes, *, is_long: bool) -> AnswerSpan:
    """The range of a schedule's time over the set."""
    if is_long and times.space.symbols:
        return span_of_corners(times.evaluate, corners(times.space))
    return times.space.span(times.evaluate, refuse=False)


def span_of_corners(evaluate: Evaluate, points: Array) -> AnswerSpan:
    """The least and the largest answer at the corners of the set, for schedules that take long to simulate."""
    answers = evaluate(points, False)[:, 0]
    ends = points[[int(np.argmin(answers)), int(np.argmax(answers))]]
    both_ends = evaluate(ends, True)
    return AnswerSpan(float(answers[0]), float(both_ends[0].min()), float(both_ends[1].max()))
