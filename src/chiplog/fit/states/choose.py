"""Which records of a run count: those of the state that most of its points met.

One fit is of one state of the machine. Which one is chosen by the witnesses alone (`chiplog.dataset.states`), never by
what is fitted; how far the others are off is said in a sentence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from chiplog.dataset.series import Dataset, Series
from chiplog.dataset.states import States, points_of, states_in

ENOUGH_MET = 0.5
"""Share of the points from which another state is worth a sentence of its own."""
WANTED_MET = 0.9
"""Share of the points that a run wants to meet in one state."""
FEWEST_COMMON = 5
"""Sizes that two states must share to be compared."""
SHOWN = 0


class InOneState(NamedTuple):
    """The records of one state, with what a reader should know about it."""

    dataset: Dataset
    """Visits in that state; of points that never met it, those in the state that comes next in rank."""
    sentences: tuple[str, ...]
    state: int
    """The number of the state as in `chiplog.dataset.states.States`."""
    unlike_bytes: frozenset[int]
    """The sizes in bytes that never met it."""


def in_one_state(dataset: Dataset) -> InOneState:
    """The dataset without the visits in other states than most points met; at least one visit of each point is kept.

    Says which state is shown and how far off each other one is that met half of the points. A dataset without
    witnesses is returned as it is.
    """
    states = states_in(dataset)
    if not states.met:
        return InOneState(dataset, (), SHOWN, frozenset())
    kept = _kept(dataset.series, states)
    counting = tuple(one for one in dataset.series if one.record_id in kept)
    rank = states.of_record
    met = {one.message_bytes for one in counting if rank.get(one.record_id, SHOWN) == SHOWN}
    unlike = frozenset(one.message_bytes for one in counting) - met
    chosen = replace(dataset, series=counting)
    return InOneState(chosen, _sentences(dataset, states), SHOWN, unlike)


def _kept(series: Sequence[Series], states: States) -> set[int]:
    """Of each point, the visits in the state that is shown, else in the one that comes next; all without witnesses."""
    visits: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for number, point in points_of(series).items():
        visits[point].append(number)
    kept: set[int] = set()
    for mine in visits.values():
        rank = {number: states.of_record.get(number, SHOWN) for number in mine}
        kept |= {number for number in mine if rank[number] == min(rank.values())}
    return kept


def _sentences(dataset: Dataset, states: States) -> tuple[str, ...]:
    others = [number for number, met in enumerate(states.met) if number and met >= ENOUGH_MET]
    distances = [_distance(dataset.series, states, number) for number in others]
    known = [distance for distance in distances if distance is not None]
    all_records, shown = len(states.of_record), len(states.records(SHOWN))
    told = []
    if known:
        told.append(
            f"The machine changed between {1 + len(known)} states. This fit is of the state that "
            f"{_percent(states.met[SHOWN])} of the points met ({shown} of {all_records} records); in "
            f"{'the other one' if len(known) == 1 else 'the others'}, times differ by {_list(known)} "
            "(median over the common sizes)."
        )
    if states.met[SHOWN] < WANTED_MET:
        told.append(
            f"{_percent(1.0 - states.met[SHOWN])} of the points never met the state of the machine that is fitted: "
            "lines leave them out where enough others are left. Repeat the run when the machine is quiet, or allow it "
            "more time with --budget."
        )
    return tuple(told)


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"


def _list(ratios: Sequence[float]) -> str:
    shown = [f"{100.0 * ratio:+.0f} %" for ratio in ratios]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _distance(series: Sequence[Series], states: States, other: int) -> float | None:
    """How much longer half round trips take in another state than in the shown one, median over the common sizes.

    Without round trips, whatever else was measured; None where too few sizes are common.
    """
    undelayed = [one for one in series if one.delay_seconds == 0.0]
    round_trips = [
        one for one in undelayed if one.pattern in ("prtt", "ping_pong") and one.train == 1
    ]
    times: dict[tuple[object, ...], tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for one in round_trips or undelayed:
        state = states.of_record.get(one.record_id)
        if state in (SHOWN, other):
            key = (one.pattern, one.message_bytes, one.train, one.peers, one.pairs)
            times[key][state == other].append(one.median)
    ratios = [
        np.median(there) / np.median(here) - 1.0 for here, there in times.values() if here and there
    ]
    return float(np.median(ratios)) if len(ratios) >= FEWEST_COMMON else None
