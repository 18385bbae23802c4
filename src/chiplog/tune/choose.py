"""Chooses an algorithm for each number of ranks and each size, where the model is sure enough.

A choice leaves the default only where the gain lies above 0 for all parameters that the fit's data leave. Barriers by
n-way dissemination are held against n = 1; otherwise the fastest algorithm is held against the fastest of the others
that the MPI has, since its default is one of them. A time that is only a lower bound can lose, but not win.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.barrier.n_way_dissemination import round_count
from chiplog.collectives.costs import Seconds
from chiplog.collectives.registry import algorithms
from chiplog.errors import UsageError
from chiplog.fit.predictions.known import Array
from chiplog.fit.predictions.span import Evaluate, Span
from chiplog.fit.result import Fit
from chiplog.predict.n_way import N_WAY, BarrierTimes, Shape, shape_of
from chiplog.predict.network import Space, Speaker
from chiplog.predict.run import answer, speaker_for
from chiplog.tune.choice import CHANGED, DEFAULT, UNCLEAR, Choice, Tuning

LEAST_GAIN = 0.01
"""No model here is that good: gains below this share are no gain."""


@dataclass(frozen=True)
class _Candidate:
    algorithm: Algorithm
    task: Task
    seconds: float
    is_bound: bool

    @property
    def peers(self) -> int | None:
        return self.task.peers if self.algorithm.takes_peers else None

    @property
    def rounds(self) -> int | None:
        return round_count(self.task.ranks, self.task.peers) if self.peers is not None else None


@dataclass(frozen=True)
class _Contest:
    """The best one, what it was held against, and the gain over all parameter vectors that the data leave."""

    best: _Candidate
    baseline: _Candidate
    gain: Span


def choose(
    fits: Sequence[Fit],
    operation: str,
    ranks: Sequence[int],
    offered: Collection[str],
    *,
    sizes: Sequence[int] = (1,),
    model: str | None = None,
) -> Tuning:
    """The choices among the algorithms `offered` for all `ranks` and `sizes` (bytes, as in `Task.message_bytes`).

    Raises UsageError where no model of the file predicts them, or where fewer than two are left to choose from.
    """
    known = [one for name, one in algorithms(operation).items() if name in offered]
    speaker = speaker_for(fits, known, Task(max(ranks), sizes[0]), model=model)
    spoken = [one for one in known if speaker.speaks_about(one)]
    if len(spoken) < 2 and not (spoken and spoken[0].name == N_WAY):
        names = ", ".join(one.name for one in spoken) or "none"
        raise UsageError(
            f"--operation {operation}: there is nothing to choose from; the model {speaker.fit.model} predicts "
            f"{names} of what is offered."
        )
    contest = (
        _NWayContests(speaker).at
        if any(one.name == N_WAY for one in spoken)
        else lambda task: _two_fastest(speaker, spoken, task)
    )
    found = [
        _choice(speaker, contest(Task(count, size)), Task(count, size))
        for count in ranks
        for size in sizes
    ]
    return Tuning(operation, speaker.fit.model, tuple(found))


def barrier_seconds(speaker: Speaker, ranks: int, peers: int, message_bytes: int = 1) -> Seconds:
    """The n-way dissemination barrier's time in the middle of the set: seconds of shape (1 + draws,)."""
    task = Task(ranks, message_bytes, peers=peers)
    return speaker.seconds(algorithms("barrier")[N_WAY], task)


def _choice(speaker: Speaker, contest: _Contest, task: Task) -> Choice:
    best, baseline, gain = contest.best, contest.baseline, contest.gain
    verdict = _verdict(best, baseline, gain.low)
    used = best if verdict == CHANGED else baseline
    return Choice(
        ranks=task.ranks,
        message_bytes=task.message_bytes,
        algorithm=used.algorithm.name,
        peers=used.peers,
        rounds=used.rounds,
        seconds=used.seconds,
        baseline=baseline.algorithm.name,
        baseline_seconds=baseline.seconds,
        best=best.algorithm.name,
        best_peers=best.peers,
        best_seconds=best.seconds,
        gain=gain.value,
        gain_low=gain.low,
        gain_high=gain.high,
        verdict=verdict,
        extrapolated=speaker.beyond(best.algorithm, best.task),
    )


def _verdict(best: _Candidate, baseline: _Candidate, low: float) -> str:
    if best.algorithm.name == baseline.algorithm.name and best.peers == baseline.peers:
        return DEFAULT
    return CHANGED if low > LEAST_GAIN and not best.is_bound else UNCLEAR


def _gain(space: Space, best: Evaluate, baseline: Evaluate) -> Span:
    """1 - best/baseline with the same parameters for both; UsageError where nothing bounds the two."""
    if space.unlimited:
        for one in (best, baseline):
            space.span(one)

    def gain(fractions: Array, whole: bool) -> Seconds:
        return 1.0 - best(fractions, whole) / baseline(fractions, whole)

    return space.span(gain)


class _NWayContests:
    """n* of a barrier against n = 1, each shape once."""

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._algorithm = algorithms("barrier")[N_WAY]
        self._times: dict[int, BarrierTimes] = {}
        self._gains: dict[tuple[int, Shape, Shape], Span] = {}

    def at(self, task: Task) -> _Contest:
        """The contest at one number of ranks."""
        size = task.message_bytes
        if size not in self._times:
            self._times[size] = BarrierTimes(self._speaker, size)
        times = self._times[size]
        best = times.fastest(task.ranks)
        shapes = shape_of(task.ranks, best), shape_of(task.ranks, 1)
        if (size, *shapes) not in self._gains:
            evaluate = [self._evaluate(times.space, replace(task, peers=n)) for n in (best, 1)]
            self._gains[size, *shapes] = _gain(times.space, *evaluate)
        mine, other = (
            _Candidate(self._algorithm, replace(task, peers=n), times.seconds(task.ranks, n), False)
            for n in (best, 1)
        )
        return _Contest(mine, other, self._gains[size, *shapes])

    def _evaluate(self, space: Space, task: Task) -> Evaluate:
        return lambda fractions, whole: space.seconds(self._algorithm, task, fractions, whole)


def _two_fastest(speaker: Speaker, spoken: Sequence[Algorithm], task: Task) -> _Contest:
    """The fastest in the middle of the set, against one as fast as the fastest of the others is, vector by vector."""
    accepted = [one for one in spoken if one.accepts(task)]
    space = speaker.space([(one, task) for one in accepted])
    middle = np.full((1, len(space.symbols)), 0.5)
    found = []
    for algorithm in accepted:
        mine = answer(speaker, space, algorithm, task)
        seconds = float(mine.quick(middle, False)[0, 0])
        found.append((_Candidate(algorithm, task, seconds, mine.method == "bound"), mine.quick))
    found.sort(key=lambda one: one[0].seconds)
    best, evaluate = found[0]
    if len(found) == 1:
        return _Contest(best, best, Span(0.0, 0.0, 0.0))
    others = [one for _, one in found[1:]]

    def fastest_other(fractions: Array, whole: bool) -> Seconds:
        seconds: Seconds = np.minimum.reduce([one(fractions, whole) for one in others])
        return seconds

    return _Contest(best, found[1][0], _gain(space, evaluate, fastest_other))
