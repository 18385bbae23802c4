"""Chooses an algorithm for each number of ranks and each size, where the model is sure enough.

A choice leaves the default only where the gain lies above 0 for all parameters that the fit's data leave. Where a
barrier may be n-way dissemination, the fastest one is held against that of n = 1. Otherwise the fastest algorithm is
held against the fastest of the others that the MPI has, since its default is one of them. A time that is only a lower
bound can lose, but not win.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.costs import Seconds
from chiplog.collectives.registry import algorithms
from chiplog.errors import UsageError
from chiplog.fitting.predictions.known import Array
from chiplog.fitting.predictions.span import AnswerSpan, Evaluate
from chiplog.fitting.result import Fit
from chiplog.fitting.verdict import rejection
from chiplog.prediction.answer import answer, sizes_of
from chiplog.prediction.model_error import model_error, with_model_error
from chiplog.prediction.n_way import N_WAY, SAME, BarrierTimes, Shape, shape_of
from chiplog.prediction.network import Space, Speaker
from chiplog.prediction.predict import speaker_for
from chiplog.tune.choice import CHANGED, DEFAULT, UNCLEAR, Choice, Ranked, Tuning

LEAST_GAIN = 0.01
"""Given: gains below this share are no gain, since no model here is that good."""


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
        if self.peers is None or self.algorithm.fan_out is None:
            return None
        return self.algorithm.fan_out(self.task).rounds


@dataclass(frozen=True)
class _Contest:
    """The best one, what it was held against, and the gain over all parameter vectors that the data leave."""

    best: _Candidate
    baseline: _Candidate
    gain: AnswerSpan
    ranking: tuple[_Candidate, ...]
    """All that were looked at, the fastest first."""


Peers = Callable[[str, int], Sequence[int]]
"""By algorithm and number of ranks, the numbers of peers worth a look."""


def choose(
    fits: Sequence[Fit],
    operation: str,
    ranks: Sequence[int],
    offered: Collection[str],
    *,
    sizes: Sequence[int] = (1,),
    model: str | None = None,
    peers: Peers | None = None,
    anyway: bool = False,
) -> Tuning:
    """The choices among the algorithms `offered` for all `ranks` and `sizes` (bytes, as in `Task.message_bytes`).

    `peers` is for algorithms that take them, other than n-way dissemination, which has its best n.

    Raises UsageError where no model of the file predicts them, where its own check rejects the fit, unless `anyway`,
    or where fewer than two are left to choose from.
    """
    known = [algorithm for name, algorithm in algorithms(operation).items() if name in offered]
    speaker = speaker_for(fits, known, Task(max(ranks), sizes[0]), model=model, anyway=anyway)
    spoken = _several(speaker, known, operation)
    others = [algorithm for algorithm in spoken if algorithm.name != N_WAY]
    contest = (
        _NWayContests(speaker, others, peers).at
        if len(others) < len(spoken)
        else lambda task: _two_fastest(speaker, _asked(others, peers, task))
    )
    choices = [
        _choice(speaker, contest(Task(count, size)), Task(count, size))
        for count in ranks
        for size in sizes
    ]
    return Tuning(
        operation,
        speaker.fit.model,
        tuple(choices),
        measured_ranks=speaker.fit.ranks,
        rejected=rejection(speaker.fit),
    )


def _several(speaker: Speaker, known: Sequence[Algorithm], operation: str) -> list[Algorithm]:
    """Those that the model predicts; UsageError where there is nothing to choose from."""
    spoken = [algorithm for algorithm in known if speaker.speaks_about(algorithm)]
    if len(spoken) < 2 and not (spoken and spoken[0].name == N_WAY):
        names = ", ".join(algorithm.name for algorithm in spoken) or "none"
        raise UsageError(
            f"--operation {operation}: there is nothing to choose from; the model {speaker.fit.model} predicts "
            f"{names} of what is offered."
        )
    return spoken


def predicted_seconds(
    fits: Sequence[Fit], operation: str, names: Collection[str], tasks: Sequence[Task]
) -> dict[tuple[str, int, int], float]:
    """Seconds in the middle of the set by (algorithm, ranks, bytes), of those among `names` that a model predicts.

    They say what to try first, so a fit that its own check rejects serves, too. Raises UsageError where no model of the
    file predicts any.
    """
    known = [algorithm for name, algorithm in algorithms(operation).items() if name in names]
    speaker = speaker_for(fits, known, max(tasks, key=lambda task: task.ranks), anyway=True)
    spoken = [
        algorithm
        for algorithm in known
        if speaker.speaks_about(algorithm) and not algorithm.takes_peers
    ]
    seconds_of = {}
    for task in tasks:
        asked = _asked(spoken, None, task)
        for candidate, _ in _timed(speaker, speaker.space(asked), asked):
            key = (candidate.algorithm.name, task.ranks, task.message_bytes)
            seconds_of[key] = candidate.seconds
    return seconds_of


def _choice(speaker: Speaker, contest: _Contest, task: Task) -> Choice:
    best, baseline = contest.best, contest.baseline
    gain = _with_model_error(speaker, contest)
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
        ranking=tuple(
            Ranked(candidate.algorithm.name, candidate.peers, candidate.seconds)
            for candidate in contest.ranking
        ),
    )


def _with_model_error(speaker: Speaker, contest: _Contest) -> AnswerSpan:
    """The gain over the set, with the error of the model of either time: a ratio is off by as much as its parts."""
    best, baseline, gain = contest.best, contest.baseline, contest.gain
    if best.algorithm.name == baseline.algorithm.name and best.peers == baseline.peers:
        return gain
    sizes = {
        size
        for candidate in (best, baseline)
        for size in sizes_of(speaker, candidate.algorithm, candidate.task)
    }
    ratio = AnswerSpan(1.0 - gain.value, 1.0 - gain.high, 1.0 - gain.low)
    wide = with_model_error(ratio, model_error(speaker.fit, sizes))
    return AnswerSpan(gain.value, 1.0 - wide.high, 1.0 - wide.low)


def _verdict(best: _Candidate, baseline: _Candidate, low: float) -> str:
    if best.algorithm.name == baseline.algorithm.name and best.peers == baseline.peers:
        return DEFAULT
    return CHANGED if low > LEAST_GAIN and not best.is_bound else UNCLEAR


def _gain(space: Space, best: Evaluate, baseline: Evaluate) -> AnswerSpan:
    """1 - best/baseline with the same parameters for both; UsageError where nothing bounds the two."""
    if space.unlimited:
        for evaluate in (best, baseline):
            space.span(evaluate)

    def gain(fractions: Array, whole: bool) -> Seconds:
        return 1.0 - best(fractions, whole) / baseline(fractions, whole)

    return space.span(gain)


class _NWayContests:
    """The fastest barrier against plain dissemination, n = 1; each shape of n-way dissemination once."""

    def __init__(self, speaker: Speaker, others: Sequence[Algorithm], peers: Peers | None) -> None:
        self._speaker, self._others, self._peers = speaker, others, peers
        self._algorithm = algorithms("barrier")[N_WAY]
        self._times: dict[int, BarrierTimes] = {}
        self._gains: dict[tuple[int, Shape, Shape], AnswerSpan] = {}

    def at(self, task: Task) -> _Contest:
        """The contest at one number of ranks."""
        size = task.message_bytes
        if size not in self._times:
            self._times[size] = BarrierTimes(self._speaker, size)
        times = self._times[size]
        by_n_way, baseline = (
            _Candidate(self._algorithm, replace(task, peers=n), times.seconds(task.ranks, n), False)
            for n in (times.fastest(task.ranks), 1)
        )
        asked = _asked(self._others, self._peers, task)
        others = _timed(self._speaker, self._speaker.space(asked), asked)
        every = [by_n_way, *(candidate for candidate, _ in others)]
        ranking = tuple(sorted(every, key=lambda candidate: candidate.seconds))
        best = ranking[0]
        if best is not by_n_way and best.seconds < by_n_way.seconds * (1 - SAME):
            return _Contest(best, baseline, self._gain_of_other(best, baseline), ranking)
        return _Contest(by_n_way, baseline, self._gain(times.space, by_n_way, baseline), ranking)

    def _gain(self, space: Space, by_n_way: _Candidate, baseline: _Candidate) -> AnswerSpan:
        shapes = tuple(
            shape_of(candidate.task.ranks, candidate.task.peers)
            for candidate in (by_n_way, baseline)
        )
        key = (by_n_way.task.message_bytes, shapes[0], shapes[1])
        if key not in self._gains:
            self._gains[key] = _gain(
                space,
                _closed(space, self._algorithm, by_n_way.task),
                _closed(space, self._algorithm, baseline.task),
            )
        return self._gains[key]

    def _gain_of_other(self, other: _Candidate, baseline: _Candidate) -> AnswerSpan:
        space = self._speaker.space(
            [(other.algorithm, other.task), (self._algorithm, baseline.task)]
        )
        others_times = answer(self._speaker, space, other.algorithm, other.task)
        return _gain(space, others_times.quick, _closed(space, self._algorithm, baseline.task))


def _closed(space: Space, algorithm: Algorithm, task: Task) -> Evaluate:
    return lambda fractions, whole: space.seconds(algorithm, task, fractions, whole)


Asked = tuple[Algorithm, Task]


def _asked(spoken: Sequence[Algorithm], peers: Peers | None, task: Task) -> list[Asked]:
    """The algorithms with each number of peers that is worth a look."""
    with_peers = []
    for algorithm in spoken:
        counts = (
            peers(algorithm.name, task.ranks) if peers and algorithm.takes_peers else (task.peers,)
        )
        with_peers += [(algorithm, replace(task, peers=count)) for count in counts]
    return [
        (algorithm, asked_task)
        for algorithm, asked_task in with_peers
        if algorithm.accepts(asked_task)
    ]


def _timed(
    speaker: Speaker, space: Space, asked: Sequence[Asked]
) -> list[tuple[_Candidate, Evaluate]]:
    """Each one's time in the middle of the set, and over it."""
    middle = np.full((1, len(space.symbols)), 0.5)
    timed = []
    for algorithm, task in asked:
        answered = answer(speaker, space, algorithm, task)
        seconds = float(answered.quick(middle, False)[0, 0])
        timed.append(
            (_Candidate(algorithm, task, seconds, answered.method == "bound"), answered.quick)
        )
    return timed


def _two_fastest(speaker: Speaker, asked: Sequence[Asked]) -> _Contest:
    """The fastest in the middle of the set, against one as fast as the fastest of the others is, vector by vector."""
    space = speaker.space(asked)
    timed = sorted(_timed(speaker, space, asked), key=lambda pair: pair[0].seconds)
    ranking = tuple(candidate for candidate, _ in timed)
    best, evaluate = timed[0]
    if len(timed) == 1:
        return _Contest(best, best, AnswerSpan(0.0, 0.0, 0.0), ranking)
    others = [evaluate_other for _, evaluate_other in timed[1:]]

    def fastest_other(fractions: Array, whole: bool) -> Seconds:
        seconds: Seconds = np.minimum.reduce([other(fractions, whole) for other in others])
        return seconds

    return _Contest(best, ranking[1], _gain(space, evaluate, fastest_other), ranking)
