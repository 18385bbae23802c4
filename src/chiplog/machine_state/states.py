"""In which state the machine was while a record was taken, as far as the record's indicators tell.

Cores, caches and transports have states that outlast many records: another guest takes a share of a core, trains of
messages run in step with their receiver or ahead of it. Times differ by a third and more between them. The reference, a
fixed exchange of 1-byte messages along with every record, differs likewise, whatever the record itself measured. So
states are told from the indicators alone, never from what is fitted.

One fit is of one state: of that which most points met. How far the others are off is said in a sentence.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from chiplog.dataset.series import Dataset, Reference, Series, States
from chiplog.machine_state.blocks import AreApart, Mask, noise_scale, states_in_time
from chiplog.machine_state.indicators import Indicators, indicators_of, reference_times
from chiplog.machine_state.noise import LAUNCHES_DIFFER, STATES_DIFFER
from chiplog.statistics import BEYOND_DOUBT

GRID = "grid"
"""Purpose of the records that cover the range of sizes evenly."""

WANTED_MET = 0.9
"""Given: share of the points that a run wants to meet in one state."""
MIN_COMMON = 5
"""Given: sizes that two states must share to be compared."""

Point = tuple[object, ...]
"""What a record measured, whenever it did."""


def states_in(dataset: Dataset) -> States:
    """The states of the records of `dataset`: those it knows of the whole run, else as its own series tell them."""
    return states_of(dataset.series) if dataset.states is None else dataset.states


def states_of(series: Sequence[Series]) -> States:
    """The states of the records of `series`, which are in the order of time; none where there are no indicators."""
    indicators = indicators_of(series)
    if indicators is None:
        return States({}, ())
    labels = states_in_time(indicators.logs, _are_apart(indicators)).tolist()
    points = points_of(series)
    counting = {record for record, point in points.items() if _is_of_grid(point)} or set(points)
    met: dict[int, set[Point]] = defaultdict(set)
    size: dict[int, int] = defaultdict(int)
    for record, label in zip(indicators.ids, labels, strict=True):
        size[label] += 1
        if record in counting:
            met[label].add(points[record])
    order = sorted(size, key=lambda label: (-len(met[label]), -size[label], label))
    all_points = len({points[record] for record in counting})
    return States(
        {record: order.index(label) for record, label in zip(indicators.ids, labels, strict=True)},
        tuple(len(met[label]) / all_points for label in order),
    )


def points_of(series: Iterable[Series]) -> dict[int, Point]:
    """What each record measured, by its id: visits of one point share it."""
    records: dict[int, list[Point]] = defaultdict(list)
    for member in series:
        records[member.record_id].append(
            (
                member.pattern,
                member.message_bytes,
                member.train,
                member.delay_seconds > 0.0,
                member.tag.get("purpose"),
                member.peers,
                member.pairs,
                member.between,
                member.operation,
                member.posting,
                member.placement,
            )
        )
    return {record: tuple(parts) for record, parts in records.items()}


def _is_of_grid(point: Point) -> bool:
    return any(part[4] == GRID for part in point if isinstance(part, tuple))


def _are_apart(indicators: Indicators) -> AreApart:
    """Whether the levels of two groups of records differ by more than one state's do."""
    noise = math.sqrt(math.pi / 2.0) * noise_scale(indicators.logs)  # of medians of normal values

    def are_apart(group: Mask, other: Mask) -> bool:
        levels = [np.median(indicators.logs[mask], axis=0) for mask in (group, other)]
        error = noise * math.sqrt(sum(1.0 / np.count_nonzero(mask) for mask in (group, other)))
        shared = np.intersect1d(indicators.launches[group], indicators.launches[other])
        least = STATES_DIFFER if shared.size else LAUNCHES_DIFFER
        distance = indicators.weights * np.abs(levels[0] - levels[1])
        return bool(np.any(distance > np.maximum(least, BEYOND_DOUBT * indicators.weights * error)))

    return are_apart


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


def common_reference(series: Sequence[Series]) -> Reference | None:
    """The median reference of the state that most points met; None where no record has one."""
    main = states_of(series).records(0)
    references = {
        member.record_id: member.reference
        for member in series
        if member.reference is not None and member.record_id in main
    }
    parts = [
        (reference.half_round_trip_seconds, reference.gap_seconds, reference.overhead_seconds)
        for reference in references.values()
    ]
    return Reference(*np.median(parts, axis=0).tolist()) if parts else None


def same_state(a: Reference, b: Reference) -> bool:
    """Whether two runs' common references are of one state, as far as launches of one state are alike."""
    before, after = (np.maximum(reference_times(reference), 1e-12) for reference in (a, b))
    weights = np.minimum(before / before[0], 1.0)
    return bool(np.all(weights * np.abs(np.log(before / after)) <= LAUNCHES_DIFFER))
