"""Messages that cross others where no exchange was measured: as long as alone, or their bytes twice as long.

A message that is sent while another one is received takes 1 to 2 times as long as alone: two engines, or one for both
directions. Measured exchanges tell; without them intervals hold both ends.

Source: seen on real machines at 1 to 4 MiB: 1.01 to 1.04 (InfiniBand), 1.39 to 1.57 (Cray Aries), 1.25 to 1.63 (a
cloud); data as of `known_errors`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from chiplog.collectives.algorithm import Algorithm, Task, TreeCosts
from chiplog.collectives.costs import Message
from chiplog.collectives.registry import algorithms
from chiplog.fitting.predictions.regime import curve_of, is_of_logp_family
from chiplog.fitting.quantities.incast import INCAST
from chiplog.fitting.regimes.partition import EXCHANGE
from chiplog.fitting.result import Fit
from chiplog.models.registry import load_model
from chiplog.prediction.loggp import LogGPSpeaker
from chiplog.prediction.network import Asked, Speaker
from chiplog.prediction.result import Prediction
from chiplog.prediction.sent_sizes import is_simulated_quickly
from chiplog.schedule.arrays import Schedule
from chiplog.schedule.traffic import Traffic, traffic_of

MOST_KEPT = 1024
"""Given: results that are kept."""


class _TrafficRecorder:
    """A network without any costs that keeps the largest size in bytes of each kind of traffic."""

    def __init__(self) -> None:
        self.largest = dict.fromkeys(Traffic, 0)

    def message(self, message_bytes: int, traffic: Traffic = Traffic.ALONE) -> Message:
        """A message that takes 1."""
        self.largest[traffic] = max(self.largest[traffic], message_bytes)
        nothing = np.zeros(1)
        return Message(nothing, nothing, np.ones(1), nothing)


@lru_cache(maxsize=MOST_KEPT)
def largest_of_form(algorithm: Algorithm, task: Task) -> Mapping[Traffic, int]:
    """The size in bytes of the largest message of each kind of traffic in a closed form; 0 for kinds that it lacks."""
    recorder = _TrafficRecorder()
    algorithm.seconds(replace(task, costs=TreeCosts(1.0, 1.0)), recorder)
    return recorder.largest


def form_crosses_others(algorithm: Algorithm, task: Task) -> bool:
    """Whether a closed form has bytes, beyond the first of a message, that cross others."""
    largest = largest_of_form(algorithm, task)
    return max(largest[Traffic.EXCHANGE], largest[Traffic.BURST]) > 1


@lru_cache(maxsize=MOST_KEPT)
def crosses_others(algorithm: Algorithm, task: Task) -> bool:
    """Whether an algorithm sends such bytes, by its closed form or, where that is soon made, its schedule."""
    if form_crosses_others(algorithm, task):
        return True
    return is_simulated_quickly(task) and crosses_in(algorithm.schedule(task))


def crosses_in(schedule: Schedule) -> bool:
    """Whether a schedule sends bytes, beyond the first of a message, that cross others."""
    has_bytes = schedule.operations["amount"] > 1
    return bool(np.any(has_bytes & (traffic_of(schedule) != Traffic.ALONE)))


def with_one_engine(speaker: Speaker, *asked: Asked) -> LogGPSpeaker | None:
    """The model with one engine for both directions; None where that is known, or where no bytes cross others."""
    if not isinstance(speaker, LogGPSpeaker) or speaker.tells_exchanges:
        return None
    return speaker.one_engine if any(crosses_others(*question) for question in asked) else None


def is_crossing_unknown(fits: Sequence[Fit], rows: Sequence[Prediction]) -> bool:
    """Whether bytes cross others in one of the rows, and no exchange was measured for the fit.

    Anchors say what crossing takes.
    """
    fit = next(fit for fit in fits if fit.model == rows[0].model)
    is_known = rows[0].correction is not None or curve_of(fit, EXCHANGE)
    if is_known or not is_of_logp_family(load_model(fit.model)):
        return False
    known = algorithms(rows[0].operation)
    return any(
        crosses_others(known[row.algorithm], _task_of(row))
        for row in rows
        if row.algorithm in known
    )


def follows_incasts(fits: Sequence[Fit], rows: Sequence[Prediction]) -> bool:
    """Whether messages of one of the rows meet at a receiver whose time an incast showed."""
    curve = curve_of(next(fit for fit in fits if fit.model == rows[0].model), INCAST)
    if curve is None:
        return False
    known = algorithms(rows[0].operation)
    return any(
        max(largest[Traffic.BURST], largest[Traffic.INCAST]) >= curve.message_bytes.min()
        for row in rows
        if row.algorithm in known
        for largest in [largest_of_form(known[row.algorithm], _task_of(row))]
    )


def _task_of(row: Prediction) -> Task:
    return Task(row.ranks, row.bytes, peers=row.peers or 1)
