"""What marks a protocol change where it is measured again: which quantities, by which series, along which lines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence, Set

import numpy as np

from chiplog._native import Segmenter
from chiplog.dataset.series import Dataset
from chiplog.plan.patterns import wire_of
from chiplog.plan.patterns.pattern import flood_length, receive_train_length, train_length
from chiplog.plan.request import SeriesRequest
from chiplog.protocol_changes.ask.halving import Halving, Interval
from chiplog.protocol_changes.ask.thresholds import THRESHOLDS
from chiplog.protocol_changes.change import Change
from chiplog.protocol_changes.decide.evidence import FLAT, ChangeMark
from chiplog.protocol_changes.decide.thresholds import THRESHOLDS as DECIDE
from chiplog.protocol_changes.detect.line import Line
from chiplog.protocol_changes.detect.observed import Observed, observe
from chiplog.protocol_changes.detect.segments import line_limits
from chiplog.statistics import MEDIAN_ERROR

SCANNED = ("half_round_trip", "o_r", "gap", "o_s", "flood")
"""Quantities to look at, those first that differ most between protocols for the bytes that they need."""
SCANNED_ALONE = ("send_overhead", "late_receiver")
"""Those to look at where no other was measured: copying jumps in the one, and the delay that it chose in the other."""
MAX_SERIES = 64
"""Given: series of one request at most, the probe's own limit."""


def series_for(quantity: str, message_bytes: int) -> tuple[SeriesRequest, ...]:
    """The series that one quantity needs at one size; none where it can't be measured."""

    def series(pattern: str, train: int = 1, delay_ns: float | str = 0) -> SeriesRequest:
        return SeriesRequest(pattern, message_bytes, train, delay_ns)

    train = train_length(message_bytes)
    needed: dict[str, tuple[SeriesRequest, ...]] = {
        "half_round_trip": (series("prtt"),),
        "gap": (series("prtt"), series("prtt", train)),
        "o_s": (series("prtt"), series("prtt", train, "rtt")),
        "o_r": (
            series("prtt"),
            series("receive_overhead", receive_train_length(message_bytes), "rtt"),
        ),
        "send_overhead": (series("send_overhead"),),
        "late_receiver": (series("prtt"), series("late_receiver", 1, "rtt2")),
        "flood": (series("flood", flood_length(message_bytes)),),
    }
    return needed.get(quantity, ())


def marks_of(
    dataset: Dataset, change: Change, changes: Sequence[Change], round_bytes: float
) -> tuple[ChangeMark, ...]:
    """The quantities by which a size is told to be before or after `change`, one of `changes`, at the least cost.

    One round may put `round_bytes` on the wire. None where all quantities need more rounds than a question has.

    Where the transport synchronises a sender above its eager limit, a send to a late receiver is among them, measured
    before or not.
    """
    observed = {
        curve.quantity: curve
        for curve in reversed(observe(dataset))
        if series_for(curve.quantity, change.first_after_bytes)
    }
    known = {name: _mark(curve, change, changes) for name, curve in observed.items()}
    seen = [known[name] for name in change.seen_in if name in known]
    marks = [
        mark for mark in seen if abs(_jump(mark.before, mark.after, change)) >= DECIDE.min_jump
    ]
    interval = change.last_before_bytes, change.first_after_bytes
    marks = affordable(marks, known.values(), interval, round_bytes)
    if _synchronises(dataset) and "late_receiver" not in observed:
        marks.append(ChangeMark("late_receiver", FLAT, FLAT, THRESHOLDS.first_rounds, unknown=True))
    most = THRESHOLDS.first_rounds * 2**THRESHOLDS.records
    return () if all(mark.rounds >= most for mark in marks) else tuple(marks)


def affordable(
    marks: Sequence[ChangeMark], known: Iterable[ChangeMark], interval: Interval, round_bytes: float
) -> list[ChangeMark]:
    """The mark that halves an interval at the least cost, and the next ones as far as `round_bytes` do for one round.

    The cheapest comes first. Those of all `known`
    marks that need no series beyond theirs follow: they cost nothing, and count for as much as they are certain.
    """
    chosen: list[ChangeMark] = []
    sizes = Halving(*interval).sizes
    remaining_bytes = round_bytes
    for mark in sorted(marks, key=lambda mark: mark.rounds * _round_cost(mark, sizes)):
        remaining_bytes -= _round_cost(mark, sizes)
        if not chosen or remaining_bytes >= 0.0:
            chosen.append(mark)
    return _with_free(chosen[: THRESHOLDS.most_marks], known, interval[1])


def _with_free(
    marks: list[ChangeMark], known: Iterable[ChangeMark], message_bytes: int
) -> list[ChangeMark]:
    measured = {series for mark in marks for series in series_for(mark.quantity, message_bytes)}
    names = {mark.quantity for mark in marks}
    return marks + [
        mark
        for mark in known
        if mark.quantity not in names
        and measured.issuperset(series_for(mark.quantity, message_bytes))
    ]


def quantities_to_scan(
    present: Set[str],
    sizes: Sequence[int],
    round_bytes: float,
    without: Set[str] = frozenset(),
) -> tuple[str, ...]:
    """What to look at where it is not known yet which quantity shows a change at one of `sizes`.

    Of the quantities that were measured, which are `present`, as many as one request takes and as `round_bytes` on
    the wire allow for one round of all sizes; at least the cheapest. Those in `without` are not looked at.
    """
    wanted = present - without
    chosen: list[str] = []
    series: set[SeriesRequest] = set()
    for name in [name for name in SCANNED if name in wanted] or sorted(present & {*SCANNED_ALONE}):
        wider = series.union(*(series_for(name, size) for size in sizes))
        affordable = (
            sum(wire_of(request).bytes for request in wider) <= round_bytes
            and len(wider) <= MAX_SERIES
        )
        if affordable or not chosen:
            chosen.append(name)
            series = wider
    return tuple(chosen)


def _synchronises(dataset: Dataset) -> bool:
    capabilities = dataset.header.get("capabilities")
    return isinstance(capabilities, dict) and bool(capabilities.get("synchronises"))


def rounds_needed(jump: float, error: float) -> float:
    """Rounds after which the middle of three sizes is told from either side even where it is half as far off.

    `jump` is logarithmic, `error` that of a middle after one round. Infinite where there is no jump.
    """
    if jump == 0.0:
        return math.inf
    needed = (2.0 * DECIDE.turn_errors * error / (0.5 * jump)) ** 2
    return float(max(needed, THRESHOLDS.first_rounds))


def _error(observed: Observed, change: Change) -> float:
    """Relative error of a size's median beside that of two others, after one round near the change."""
    near = int(np.searchsorted(observed.message_bytes, change.last_before_bytes))
    points = observed.points[max(near - 1, 0) : near + 3]
    noise = float(np.median([point.relative_deviation for point in points]))
    return MEDIAN_ERROR * math.hypot(1.0, 0.5, 0.5) * noise


def _round_cost(mark: ChangeMark, sizes: Sequence[int]) -> float:
    """Bytes on the wire for one round, where a message counts as some bytes too."""
    series = [request for size in sizes for request in series_for(mark.quantity, size)]
    wires = [wire_of(request) for request in series]
    return sum(wire.bytes + THRESHOLDS.bytes_per_message * wire.messages for wire in wires)


def _jump(before: Line, after: Line, change: Change) -> float:
    """Logarithm of the ratio of the lines at the change."""
    middle = float(np.sqrt(change.last_before_bytes * change.first_after_bytes))
    return float(np.log(after(middle) / before(middle)))


def _mark(observed: Observed, change: Change, changes: Sequence[Change]) -> ChangeMark:
    lower = max(
        (c.first_after_bytes for c in changes if c.first_after_bytes <= change.last_before_bytes),
        default=0,
    )
    upper = min(
        (c.last_before_bytes for c in changes if c.last_before_bytes >= change.first_after_bytes),
        default=int(observed.message_bytes[-1]),
    )
    before = _line(observed, lower, change.last_before_bytes)
    after = _line(observed, change.first_after_bytes, upper)
    jump = max(abs(_jump(before, after, change)), DECIDE.min_jump)
    return ChangeMark(
        observed.quantity, before, after, rounds_needed(jump, _error(observed, change))
    )


def _line(observed: Observed, first_bytes: int, last_bytes: int) -> Line:
    size, seconds = observed.message_bytes, observed.seconds
    kept = (size >= first_bytes) & (size <= last_bytes) & (seconds > 0.0)
    if not np.any(kept):
        return FLAT
    chosen = seconds[kept]
    bytes_ = size[kept].astype(np.float64)
    segmenter = Segmenter(bytes_, chosen, 1.0 / chosen**2, line_limits(bytes_))
    line = Line(*segmenter.line(0, len(segmenter)))
    return line if line(float(first_bytes + last_bytes) / 2.0) > 0.0 else FLAT
