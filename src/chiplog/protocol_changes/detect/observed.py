"""Series of times over message sizes, as the search for protocol changes sees them.

The samples of one record were taken in turn. So a quantity that is a difference of two series, e.g. gap =
(PRTT(n,0,s) - PRTT(1,0,s))/(n-1), is formed round by round: a drift of the machine cancels, and the median of the
differences has the uncertainty that its samples show.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.delays import without_short_delays
from chiplog.dataset.series import Dataset, Series
from chiplog.machine_state.moments import Moments, without_states
from chiplog.protocol_changes.detect.thresholds import THRESHOLDS
from chiplog.statistics import FEWEST_SAMPLES, MEDIAN_ERROR, QUARTILE_RANGE

Floats = NDArray[np.float64]

SMOOTHED = 5
"""Given: sizes whose spreads are taken together."""
TINY = float(np.finfo(np.float64).tiny)
GRID = "grid"
"""Purpose of the records that cover the sizes evenly, and of those that name none."""


@dataclass(frozen=True)
class Point:
    """A quantity at one size: its samples in seconds, shape (samples,), ascending."""

    message_bytes: int
    samples: Floats

    @property
    def seconds(self) -> float:
        """The median in seconds."""
        n = self.samples.size
        return float(self.samples[(n - 1) // 2] + self.samples[n // 2]) / 2.0

    @property
    def standard_error(self) -> float:
        """Of the median, in seconds; 0 where there are too few samples to tell."""
        return MEDIAN_ERROR * self._deviation / math.sqrt(self.samples.size)

    @property
    def relative_deviation(self) -> float:
        """Robust standard deviation of one sample over the median; 0 where there are too few samples to tell."""
        return self._deviation / self.seconds if self.seconds > 0.0 else 0.0

    @property
    def _deviation(self) -> float:
        n = self.samples.size
        if n < FEWEST_SAMPLES:
            return 0.0
        return float(self.samples[(3 * n) // 4] - self.samples[n // 4]) / QUARTILE_RANGE

    def replicates(self, random: np.random.Generator, count: int) -> Floats:
        """Bootstrap replicates of the median in seconds, shape (count,).

        The median of a resample is the order statistic whose rank follows a beta distribution, so no resample is drawn.
        """
        n = self.samples.size
        middle = (n + 1) // 2
        ranks = (random.beta(middle, n - middle + 1, count) * n).astype(np.int64)
        return self.samples[np.minimum(ranks, n - 1)]


@dataclass(frozen=True)
class Observed:
    """One quantity over size; `points` ascend in size, and each launch of the job has its own in `by_launch`."""

    quantity: str
    """`half_round_trip`, `gap`, `o_s`, …, or the operation of an imported calibration, e.g. `MPI_Isend`."""
    pattern: str
    operation: str
    transport: str
    points: tuple[Point, ...]
    by_launch: tuple[tuple[Point, ...], ...] = ()
    pairs: int = 1
    """Of k pairs: k."""
    peers: int = 1
    """Of one process to many: p."""
    is_in_order: bool = False
    """Whether sizes were measured one after the other in their order, each once: a moment's state moves neighbours."""
    wanders: bool = False
    """Whether they were, and samples of one visit that follow one another are alike: the state does move the times."""
    state_step: float = 0.0
    """By how much, as logarithm, times step within such a visit, where no two states explain that; else 0."""

    @cached_property
    def message_bytes(self) -> NDArray[np.int64]:
        """Shape (points,)."""
        return np.array([point.message_bytes for point in self.points], dtype=np.int64)

    @cached_property
    def seconds(self) -> Floats:
        """Medians, shape (points,)."""
        return np.array([point.seconds for point in self.points])

    @cached_property
    def relative_errors(self) -> Floats:
        """Of the medians, over them, shape (points,); 0 where there are too few samples to tell.

        Spreads of few samples are rough, so each is no less than the median of the `SMOOTHED` about it.
        """
        errors = np.array(
            [point.standard_error / max(point.seconds, TINY) for point in self.points]
        )
        width = min(SMOOTHED, errors.size)
        starts = np.clip(np.arange(errors.size) - width // 2, 0, errors.size - width)
        rows = np.lib.stride_tricks.sliding_window_view(errors, width)
        return np.asarray(np.maximum(errors, np.median(rows, axis=1)[starts]))


Group = list[Series]
Define = Callable[[Group], Floats | None]
"""Samples in seconds of one quantity, from the series of one record; None where the record lacks it."""
Key = TypeVar(
    "Key",
    int,
    tuple[int, int, int],
    tuple[str, str, str],
    tuple[str, str, int, int, tuple[str, str]],
)


def observe(dataset: Dataset) -> tuple[Observed, ...]:
    """Every quantity that the dataset holds; size 0 is left out."""
    transport = dataset.header.get("transport")
    name = transport if isinstance(transport, str) else "unknown"
    usable = without_short_delays(grid_of(dataset).series)
    observed: list[Observed] = []
    alike = _grouped(usable, lambda s: (s.operation, s.posting, s.placement or ""))
    for (operation, posting, _), members in alike:
        label = operation if posting == "normal" else f"{operation}/{posting}"
        observed += _defined(members, label, name)
        observed += _bare_durations(members, label, name)
    return tuple(observed)


def samples_of(quantity: str, record: Iterable[Series], message_bytes: int) -> Floats | None:
    """One record's samples of a quantity at one size, in seconds and in the order of the rounds; None without them."""
    at_size = [s for s in record if s.message_bytes == message_bytes and s.seconds.size]
    for name, pattern, define in _DEFINITIONS:
        series = [s for s in at_size if s.pattern == pattern]
        if name == quantity and series:
            return define(series)
    return None


def grid_of(dataset: Dataset) -> Dataset:
    """What counts in the search: neither a cold first record, nor one that looked closer at a change, nor size 0."""

    def counts(series: Series) -> bool:
        purpose = series.tag.get("purpose", GRID)
        return series.message_bytes > 0 and series.seconds.size > 0 and purpose == GRID

    return replace(dataset, series=tuple(s for s in dataset.series if counts(s)))


def _defined(members: Group, operation: str, transport: str) -> Iterator[Observed]:
    for quantity, pattern, define in _DEFINITIONS:
        series = [s for s in members if s.pattern == pattern and s.peers == 1]
        if pattern == "flood":
            series = _most_common_train(series)
        observed = _observed(series, define, (quantity, pattern, operation, transport))
        if observed.points:
            yield observed


def _bare_durations(members: Group, operation: str, transport: str) -> Iterator[Observed]:
    """What no definition covers, such as imported calls; but no barriers, whose rounds add up many messages."""
    known = {pattern for _, pattern, _ in _DEFINITIONS}
    rest = [s for s in members if s.pattern not in known | {"barrier"}]
    kinds = _grouped(
        rest, lambda s: (s.pattern, s.direction, s.pairs, s.peers, s.between or ("", ""))
    )
    for (pattern, direction, *_), alike in kinds:
        if pattern == "one_to_many" and len({series.message_bytes for series in alike}) < 2:
            continue
        quantity = operation if direction == "call" else pattern
        observed = _observed(alike, _duration, (quantity, pattern, operation, transport))
        yield replace(observed, pairs=alike[0].pairs, peers=alike[0].peers)


def _observed(members: Group, define: Define, names: tuple[str, str, str, str]) -> Observed:
    """The points without what their moments added, as far as that can be told: of all launches and of each."""
    points, is_in_order, moments = _levels(members, define)
    launches = [group for _, group in _grouped(members, lambda s: s.launch)]
    each = tuple(_levels(group, define)[0] for group in launches) if len(launches) > 1 else ()
    return Observed(
        *names,
        points,
        each,
        is_in_order=is_in_order,
        wanders=is_in_order and moments.wanders,
        state_step=moments.step if is_in_order else 0.0,
    )


def _levels(members: Group, define: Define) -> tuple[tuple[Point, ...], bool, Moments]:
    """Points, whether neighbouring sizes were measured in turn, and the samples without what their moments added."""
    records = _records(members, define)
    sizes = [size for size, _ in records]
    visits = Counter(sizes)
    is_repeated = bool(visits) and float(np.median([*visits.values()])) > 1.0
    if is_repeated:
        factors = _of_moments(records)
        freed = [seconds / factor for (_, seconds), factor in zip(records, factors, strict=True)]
        moments = Moments(tuple(freed), wanders=False)
    else:
        moments = without_states(sizes, [seconds for _, seconds in records])
    samples: dict[int, list[Floats]] = defaultdict(list)
    for size, seconds in zip(sizes, moments.records, strict=True):
        samples[size].append(seconds)
    points = tuple(Point(size, np.sort(np.concatenate(samples[size]))) for size in sorted(samples))
    return points, not is_repeated and _is_in_order(sizes), moments


def _is_in_order(sizes: Sequence[int]) -> bool:
    """Whether most sizes, in the order of time, were measured right before or after the next larger one."""
    return bool(np.median(np.abs(np.diff(np.argsort(sizes)))) == 1.0) if len(sizes) > 1 else False


def _records(members: Group, define: Define) -> list[tuple[int, Floats]]:
    """The size of each record and its samples, in the order of time."""
    alike = _grouped(members, lambda s: (s.launch, s.record_id, s.message_bytes))
    defined = ((size, define(group)) for (_, _, size), group in alike)
    return [(size, seconds) for size, seconds in defined if seconds is not None]


def _of_moments(records: Sequence[tuple[int, Floats]]) -> Floats:
    """By what factor each record is off for reasons of its moment, shape (records,)."""
    if not records:
        return np.ones(0)
    level = np.array([np.median(seconds) for _, seconds in records])
    _, kind = np.unique([size for size, _ in records], return_inverse=True)
    if np.any(level <= 0.0):
        return np.ones(level.size)
    return np.exp(drift_of(kind.astype(np.int64), np.log(level)))


def _grouped(members: Iterable[Series], key: Callable[[Series], Key]) -> list[tuple[Key, Group]]:
    groups: dict[Key, Group] = defaultdict(list)
    for series in members:
        groups[key(series)].append(series)
    return [(value, groups[value]) for value in sorted(groups)]


def _one(record: Group, *, train: int | None = None, delayed: bool = False) -> Series | None:
    """The series of the longest train, or of a given one, with or without a delay."""
    fitting = [
        s
        for s in record
        if (s.delay_seconds > 0.0) == delayed and (train is None or s.train == train)
    ]
    return max(fitting, key=lambda s: s.train, default=None)


def _half_round_trip(record: Group) -> Floats | None:
    single = _one(record, train=1)
    if single is None:
        return None
    return single.seconds * (1.0 if single.direction == "one-way" else 0.5)


def _gap(record: Group) -> Floats | None:
    return _per_further_message(_one(record), _one(record, train=1))


def _o_s(record: Group) -> Floats | None:
    delayed = _one(record, delayed=True)
    per_message = _per_further_message(delayed, _one(record, train=1))
    if delayed is None or per_message is None:
        return None
    return per_message - delayed.delay_seconds


def _per_further_message(several: Series | None, single: Series | None) -> Floats | None:
    if several is None or single is None or several.train == 1:
        return None
    rounds = min(several.seconds.size, single.seconds.size)
    total: Floats = several.seconds[:rounds] - single.seconds[:rounds]
    return total / (several.train - 1)


def _o_r(record: Group) -> Floats | None:
    several = max(record, key=lambda s: s.train)
    waited = several.delay_seconds * (several.train - 1)
    return (several.seconds - waited) / several.train


def _per_message(record: Group) -> Floats | None:
    several = max(record, key=lambda s: s.train)
    return several.seconds / several.train


def _most_common_train(members: Group) -> Group:
    """The answer to a flood counts 1/train, so floods of different length are different quantities."""
    groups = _grouped(members, lambda s: s.train)
    return max((group for _, group in groups), key=len, default=[])


def _duration(record: Group) -> Floats | None:
    return np.concatenate([s.seconds for s in record])


_DEFINITIONS: tuple[tuple[str, str, Define], ...] = (
    ("half_round_trip", "prtt", _half_round_trip),
    ("half_round_trip", "ping_pong", _half_round_trip),
    ("gap", "prtt", _gap),
    ("o_s", "prtt", _o_s),
    ("o_r", "receive_overhead", _o_r),
    ("send_overhead", "send_overhead", _per_message),
    ("late_receiver", "late_receiver", _duration),
    ("flood", "flood", _per_message),
)


def drift_of(kind: NDArray[np.int64], level: Floats) -> Floats:
    """How far each record is off for reasons of its moment, shape (records,), as far as records of other sizes tell.

    Sizes are measured several times in shuffled order, so a record's neighbours in time are other sizes. If they all
    took longer than the other records of their sizes, so did this one, for the machine's reason. The levels of the
    sizes and the drift are estimated together: least squares, where the drift is a random process whose neighbours
    correlate.

    `level` is logarithmic, in the order of time; records of one `kind` (0, 1, ...) measure the same. What all records
    of one kind share is its level and no drift, so that the drift is 0 where nothing was measured twice.
    """
    count = level.size
    if kind.max() + 1 == count:
        return np.zeros(count)
    members = np.bincount(kind)

    def off_level(values: Floats) -> Floats:
        return np.asarray(values - (np.bincount(kind, values) / members)[kind])

    correlation = THRESHOLDS.drift_correlation
    scale = 1.0 / ((1.0 - correlation**2) * THRESHOLDS.drift_ratio)
    diagonal = np.full(count, (1.0 + correlation**2) * scale)
    diagonal[[0, -1]] = scale

    def precision(drift: Floats) -> Floats:
        result = diagonal * drift + off_level(drift)
        result[1:] -= correlation * scale * drift[:-1]
        result[:-1] -= correlation * scale * drift[1:]
        return np.asarray(result)

    from scipy.sparse.linalg import LinearOperator, cg  # loads in 0.2 s

    operator = LinearOperator((count, count), matvec=precision, dtype=np.float64)
    drift, _ = cg(operator, off_level(level), rtol=1e-6)
    return np.asarray(drift)
