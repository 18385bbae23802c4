"""Chooses an algorithm for each number of ranks and each size, where the model is sure enough.

A choice leaves the default only where the gain's interval, from the fit's own draws, lies above 0. Barriers by n-way
dissemination are held against n = 1; otherwise the fastest algorithm is held against the fastest of the others that
the MPI has, since its default is one of them. A time that is only a lower bound can lose, but not win.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.barrier.n_way_dissemination import round_count
from chiplog.collectives.costs import Seconds
from chiplog.collectives.registry import algorithms
from chiplog.errors import UsageError
from chiplog.fit.parameters import interval
from chiplog.fit.result import Fit
from chiplog.predict.n_way import best_peers
from chiplog.predict.network import Speaker
from chiplog.predict.run import speaker_for, times
from chiplog.tune.choice import CHANGED, DEFAULT, UNCLEAR, Choice, Tuning

N_WAY = "n-way-dissemination"
LEAST_GAIN = 0.01
"""No model here is that good: gains below this share are no gain."""


@dataclass(frozen=True)
class _Candidate:
    algorithm: Algorithm
    task: Task
    seconds: Seconds
    is_bound: bool

    @property
    def peers(self) -> int | None:
        return self.task.peers if self.algorithm.takes_peers else None

    @property
    def rounds(self) -> int | None:
        return round_count(self.task.ranks, self.task.peers) if self.peers is not None else None


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

    Raises UsageError where no model of the file speaks about them, or where fewer than two are left to choose from.
    """
    known = [one for name, one in algorithms(operation).items() if name in offered]
    speaker = speaker_for(fits, known, Task(max(ranks), sizes[0]), model=model)
    spoken = [one for one in known if speaker.speaks_about(one)]
    if len(spoken) < 2 and not (spoken and spoken[0].name == N_WAY):
        names = ", ".join(one.name for one in spoken) or "none"
        raise UsageError(
            f"--operation {operation}: there is nothing to choose from; the model {speaker.fit.model} speaks about "
            f"{names} of what is offered."
        )
    found = []
    for count in ranks:
        found += [_choice(speaker, spoken, Task(count, size)) for size in sizes]
    return Tuning(operation, speaker.fit.model, tuple(found))


def barrier_seconds(speaker: Speaker, ranks: int, peers: int, message_bytes: int = 1) -> Seconds:
    """The n-way dissemination barrier's time: seconds of shape (1 + draws,)."""
    task = Task(ranks, message_bytes, peers=peers)
    return speaker.seconds(algorithms("barrier")[N_WAY], task)


def _choice(speaker: Speaker, spoken: Sequence[Algorithm], task: Task) -> Choice:
    if any(one.name == N_WAY for one in spoken):
        best, baseline = _n_way(speaker, task)
    else:
        best, baseline = _two_fastest(speaker, spoken, task)
    gain = 1.0 - best.seconds / baseline.seconds
    low, high = interval(gain[1:])
    low, high = min(low, float(gain[0])), max(high, float(gain[0]))
    verdict = _verdict(best, baseline, low)
    used = best if verdict == CHANGED else baseline
    return Choice(
        ranks=task.ranks,
        message_bytes=task.message_bytes,
        algorithm=used.algorithm.name,
        peers=used.peers,
        rounds=used.rounds,
        seconds=float(used.seconds[0]),
        baseline=baseline.algorithm.name,
        baseline_seconds=float(baseline.seconds[0]),
        best=best.algorithm.name,
        best_peers=best.peers,
        best_seconds=float(best.seconds[0]),
        gain=float(gain[0]),
        gain_low=low,
        gain_high=high,
        verdict=verdict,
        extrapolated=speaker.beyond(best.algorithm, best.task),
    )


def _verdict(best: _Candidate, baseline: _Candidate, low: float) -> str:
    if best.algorithm.name == baseline.algorithm.name and best.peers == baseline.peers:
        return DEFAULT
    return CHANGED if low > LEAST_GAIN and not best.is_bound else UNCLEAR


def _n_way(speaker: Speaker, task: Task) -> tuple[_Candidate, _Candidate]:
    known: dict[int, Seconds] = {}

    def seconds(n: int) -> float:
        known[n] = barrier_seconds(speaker, task.ranks, n, task.message_bytes)
        return float(known[n][0])

    def candidate(n: int) -> _Candidate:
        asked = Task(task.ranks, task.message_bytes, peers=n)
        return _Candidate(algorithms("barrier")[N_WAY], asked, known[n], False)

    best = best_peers(task.ranks, seconds)
    return candidate(best), candidate(1)


def _two_fastest(
    speaker: Speaker, spoken: Sequence[Algorithm], task: Task
) -> tuple[_Candidate, _Candidate]:
    """The fastest, and one as fast as the fastest of the others is, draw by draw."""
    found = []
    for algorithm in spoken:
        if algorithm.accepts(task):
            seconds, method = times(speaker, algorithm, task)
            found.append(_Candidate(algorithm, task, seconds, method == "bound"))
    found.sort(key=lambda one: float(one.seconds[0]))
    if len(found) == 1:
        return found[0], found[0]
    best, second = found[:2]
    others: Seconds = np.minimum.reduce([one.seconds for one in found[1:]])
    return best, _Candidate(second.algorithm, task, others, second.is_bound)
