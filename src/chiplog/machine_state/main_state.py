"""Which records of a run count: those of the state that most of its points met.

One fit is of one state of the machine. Which one is chosen by the indicators alone (`chiplog.machine_state.states`),
never by what is fitted; how far the others are off is said in a sentence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from chiplog.dataset.series import Dataset, Series, States
from chiplog.machine_state.states import Point, points_of, states_in

WANTED_MET = 0.9
"""Given: share of the points that a run wants to meet in one state."""
MIN_COMMON = 5
"""Given: sizes that two states must share to be compared."""


class InOneState(NamedTuple):
    """The records of one state, with what a reader should know about it."""

    dataset: Dataset
    """Visits in that state; of points that never met it, those in the state that comes next in rank."""
    sentences: tuple[str, ...]
    unlike_bytes: frozenset[int]
    """The sizes in bytes that never met it."""
    others: tuple[float, ...] = ()
    """By what share half round trips differ in other states that half of the points met."""


def in_one_state(dataset: Dataset) -> InOneState:
    """The dataset without the visits in other states than most points met; at least one visit of each point is kept.

    Says which state is shown and how far off each other one is that met half of the points. A dataset without
    indicators is returned as it is.
    """
    states = states_in(dataset)
    if not states.met:
        return InOneState(dataset, (), frozenset())
    visits: dict[Point, list[int]] = defaultdict(list)
    for record, point in points_of(dataset.series).items():
        visits[point].append(record)
    kept: set[int] = set()
    for records in visits.values():
        rank = {record: states.of_record.get(record, 0) for record in records}
        kept |= {record for record in records if rank[record] == min(rank.values())}
    counting = tuple(series for series in dataset.series if series.record_id in kept)
    met = {
        series.message_bytes
        for series in counting
        if states.of_record.get(series.record_id, 0) == 0
    }
    unlike = frozenset(series.message_bytes for series in counting) - met
    others = tuple(
        distance
        for number, met in enumerate(states.met)
        if number and met >= 0.5
        if (distance := _distance(dataset.series, states, number)) is not None
    )
    sentences = _sentences(states, others)
    return InOneState(replace(dataset, series=counting), sentences, unlike, others)


def _sentences(states: States, others: Sequence[float]) -> tuple[str, ...]:
    """What a reader should know of states that met half of the points, and of points that never met the main state."""
    known = [f"{100.0 * distance:+.0f} %" for distance in others]
    main = f"{100.0 * states.met[0]:.0f} %"
    sentences = []
    if known:
        several = " and ".join(filter(None, (", ".join(known[:-1]), known[-1])))
        sentences.append(
            f"The machine changed between {1 + len(known)} states. This fit is of the state that {main} of the points "
            f"met ({len(states.records(0))} of {len(states.of_record)} records); in "
            f"{'the other one' if len(known) == 1 else 'the others'}, times differ by {several} "
            "(median over the common sizes)."
        )
    if states.met[0] < WANTED_MET:
        sentences.append(
            f"{100.0 * (1.0 - states.met[0]):.0f} % of the points never met the state of the machine that is fitted: "
            "lines leave them out where enough others are left. Repeat the run when the machine is quiet, or allow it "
            "more time with --budget."
        )
    return tuple(sentences)


def _distance(series: Sequence[Series], states: States, other: int) -> float | None:
    """How much longer half round trips take in another state than in the main one, median over the common sizes.

    Without round trips, whatever else was measured; None where too few sizes are common.
    """
    undelayed = [member for member in series if member.delay_seconds == 0.0]
    round_trips = [
        member
        for member in undelayed
        if member.pattern in ("prtt", "ping_pong") and member.train == 1
    ]
    times: dict[Point, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for member in round_trips or undelayed:
        state = states.of_record.get(member.record_id)
        if state in (0, other):
            point = (member.pattern, member.message_bytes, member.train, member.peers, member.pairs)
            times[point][state == other].append(member.median)
    ratios = [
        np.median(there) / np.median(here) - 1.0 for here, there in times.values() if here and there
    ]
    return float(np.median(ratios)) if len(ratios) >= MIN_COMMON else None
