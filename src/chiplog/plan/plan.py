"""The plan of a run: which points, in which order, and what they will probably cost."""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any

from chiplog.counts import MOST, MOST_RANKS, refuse_more, seconds_within, seed_within, within
from chiplog.dataset.operations import (
    ATOMIC,
    ATOMIC_BYTES,
    NORMAL,
    OPERATIONS,
    POSTINGS,
    UNKNOWN_WAYS,
)
from chiplog.errors import CorruptFile, UsageError
from chiplog.plan.assessment import SEND, Ways, records_of
from chiplog.plan.cost import Nominal, PlanCost, nominal_of, predict, round_seconds, total
from chiplog.plan.request import LARGE_BYTES, ONE_WAY, ROUND_TRIP, Request, SeriesRequest, StopRule

GRID = "grid"
WARM_UP = "warm-up"
"""Purpose of the first record of each launch: the first size is cold, so it is marked and not used."""

MIN_POOLED_SAMPLES = 8
"""Given: samples of a series over all visits and launches, below which the interval of its median would be too wide."""
LARGE_VISITS = 2
"""Given: visits of sizes above `LARGE_BYTES`, at most: each costs as many bytes as thousands of visits of a small
one."""
MIN_SAMPLES, MAX_SAMPLES = 3, 400
"""Given: samples of a series in one record, at least and at most."""
SECONDS_PER_RECORD = 0.020
"""Given: what a record takes of the time where the user gives none."""
BYTES_PER_RUN = 660_000_000
"""Given: bytes of the grid of a run; measuring again around protocol changes may take 250 MB more."""
HALVINGS = 60
"""Derived: the digits of a double, so that the search for a limit ends at the number next to it."""
DEFAULT_SIZES = "1:1MiB"
DEFAULT_PRECISION = 0.025
"""Given: relative half width of the interval of a median."""
DEFAULT_VISITS = 4
"""Given: visits of each size in a launch."""
PLACEMENTS = ("filled", "round-robin")
"""One socket (and NUMA node) after another, or one core of each in turn."""


NEW_FIELDS = frozenset(
    {"direction", "operations", "postings", "placements", "every_two_nodes", "large_visits"}
)
"""Fields that files of older releases lack: they were measured with the defaults."""


@dataclass(frozen=True)
class PlanOptions:
    """All that a plan depends on; stored in the run's header, from which `--resume` makes the same plan again."""

    transport: str
    patterns: tuple[str, ...]
    sizes: tuple[int, ...]
    visits: int = DEFAULT_VISITS
    launches: int = 1
    seed: int = 1
    relative_half_width: float = DEFAULT_PRECISION
    budget_seconds: float | None = None
    budget_bytes: int = BYTES_PER_RUN
    ranks: int = 2
    direction: str | None = None
    """Of k pairs: "one-way" for windows of messages, None for round trips."""
    operations: tuple[str, ...] = (SEND,)
    """What moves the bytes, each in turn within a record; atomics are of 8 bytes only."""
    postings: tuple[str, ...] = (NORMAL,)
    """How operations are handed over, each in turn within a record."""
    placements: tuple[str, ...] = PLACEMENTS[:1]
    """How the ranks are bound, a launch each; the launches of `launches` are taken with each of them."""
    every_two_nodes: bool = False
    """Whether k pairs are measured between every two nodes, not only the first two."""
    large_visits: int = LARGE_VISITS
    """Visits of sizes above `LARGE_BYTES` in each launch, at most."""

    def __post_init__(self) -> None:
        within("--visits", self.visits)
        within("--launches", self.launches)
        within("--ranks", self.ranks, 2, MOST_RANKS)
        seed_within("--seed", self.seed)
        _accept("--direction", self.direction or ROUND_TRIP, (ROUND_TRIP, ONE_WAY))
        for operation in self.operations:
            _accept("--operation", operation, tuple(OPERATIONS))
        for posting in self.postings:
            _accept("--posting", posting, tuple(POSTINGS))
        for placement in self.placements:
            _accept("--placement", placement, PLACEMENTS)
        if not 0 < self.relative_half_width < 1:
            raise UsageError(
                f"--precision: {self.relative_half_width} is out of range; it accepts a relative half width "
                "above 0 and below 1, e.g. 0.025."
            )
        if self.budget_seconds is not None:
            seconds_within("--budget", self.budget_seconds)
        if not self.sizes:
            raise UsageError("--sizes: names no size.")
        if self.operations == (ATOMIC,) and ATOMIC_BYTES not in self.sizes:
            raise UsageError(
                f"--sizes: atomics have {ATOMIC_BYTES} bytes, which are not among them."
            )

    @property
    def all_launches(self) -> int:
        """How often the ranks are started; launch n has placement n modulo the number of placements."""
        return self.launches * len(self.placements)

    @property
    def ways(self) -> Ways:
        """Each operation with each posting that it has; all that was asked for where it has none of these."""
        asked = [(operation, posting) for operation in self.operations for posting in self.postings]
        return [way for way in asked if way not in UNKNOWN_WAYS] or asked

    def to_json(self) -> dict[str, object]:
        """The options as the run file's header keeps them."""
        return asdict(self)

    @staticmethod
    def from_json(stored: Mapping[str, object], source: str) -> PlanOptions:
        """The options that a run file's header holds; raises CorruptFile, naming `source`, where one is missing.

        Raises UsageError for a file that another command began.
        """
        if "kind" in stored:
            raise UsageError(
                f"--resume: {source} was begun by chiplog {stored['kind']}; the same command with --resume finishes it."
            )
        fields = PlanOptions.__dataclass_fields__
        missing = sorted(set(fields) - set(stored) - NEW_FIELDS)
        if missing:
            raise CorruptFile(
                f"{source}: line 1: plan.{missing[0]} is missing, so the run can't be resumed."
            )
        values = {name: _tupled(stored[name]) for name in fields if name in stored}
        return PlanOptions(**values)  # type: ignore[arg-type]  # __post_init__ checks the ranges


@dataclass(frozen=True)
class Plan:
    """Requests in the order in which they will be made, by launch; ids are unique over the whole run."""

    options: PlanOptions
    launches: tuple[tuple[Request, ...], ...]
    predicted: PlanCost

    @property
    def requests(self) -> tuple[Request, ...]:
        """The requests of all launches."""
        return tuple(request for launch in self.launches for request in launch)

    def to_json(self, target: str) -> dict[str, Any]:
        """The plan of `target` for scripts, with its predicted cost; bytes count both directions, warm-up included."""
        return {
            "schema": "chiplog.plan/1",
            "target": target,
            "options": self.options.to_json(),
            "records": len(self.requests),
            "predicted": {
                "seconds": self.predicted.seconds,
                "messages": self.predicted.messages,
                "bytes": self.predicted.bytes,
            },
            "points": [
                {
                    "id": request.id,
                    "visit": request.visit,
                    "message_bytes": request.series[0].message_bytes,
                    "purpose": request.tag["purpose"],
                    "series": [
                        f"{series.pattern}({series.train},{series.delay_ns})"
                        for series in request.series
                    ],
                }
                for request in self.requests
            ],
        }


@lru_cache(maxsize=4)
def make_plan(options: PlanOptions) -> Plan:
    """Every pattern at every size in every visit, in shuffled order within each visit, after one cold record.

    The order comes from the seed alone. Time and bytes are bounded by each request's stopping rule.
    """
    nominal = nominal_of(options.transport)
    shuffle = random.Random(options.seed)
    records: dict[tuple[str, int], Sequence[_Series]] = {}
    count = 0
    for pattern, size in product(options.patterns, options.sizes):
        point_records = records_of(pattern, size, options.ranks, options.direction, options.ways)
        count += len(point_records) * visits_of(options, size) * options.all_launches
        refuse_more("records of the run", count, MOST, "take fewer --visits, --launches or --sizes")
        records[pattern, size] = point_records
    orders = [_order(options, records, shuffle) for _ in range(options.all_launches)]
    # Requests for the same series have the same stopping rule and the same cost, and launches differ in order only.
    rules = _rules([series for _, series, _ in orders[0]], options, nominal)
    launches: list[tuple[Request, ...]] = []
    next_id = 0
    for points in orders:
        launches.append(
            tuple(
                Request(next_id + offset, visit, series, rules[series], {"purpose": purpose})
                for offset, (visit, series, purpose) in enumerate(points)
            )
        )
        next_id += len(points)
    costs = {
        series: predict(Request(0, 0, series, rule), nominal) for series, rule in rules.items()
    }
    start_up = PlanCost(nominal.start_up_seconds * options.all_launches, 0, 0)
    all_costs = [costs[request.series] for launch in launches for request in launch]
    return Plan(options, tuple(launches), total([start_up, *all_costs]))


def visits_of(options: PlanOptions, message_bytes: int) -> int:
    """How often a size is visited in each launch."""
    large = min(options.visits, options.large_visits)
    return options.visits if message_bytes <= LARGE_BYTES else large


def seconds_of(options: PlanOptions) -> float:
    """How long the grid of all launches may take."""
    if options.budget_seconds is not None:
        return options.budget_seconds
    visits = sum(visits_of(options, size) for size in options.sizes)
    return SECONDS_PER_RECORD * options.all_launches * len(options.patterns) * visits


def _least_samples(options: PlanOptions, series: _Series) -> int:
    visits = visits_of(options, series[0].message_bytes) * options.launches
    return max(MIN_SAMPLES, math.ceil(MIN_POOLED_SAMPLES / visits))


_Series = tuple[SeriesRequest, ...]
"""Of one record."""
_Record = tuple[int, _Series, str]
"""Visit, series and purpose."""


def _order(
    options: PlanOptions,
    records: Mapping[tuple[str, int], Sequence[_Series]],
    shuffle: random.Random,
) -> list[_Record]:
    """All records of a launch in their order; the cold first one has a size from the middle.

    `records` has the series of each record of a pattern and a size.
    """
    first = options.patterns[0]
    possible = [size for size in options.sizes if records[first, size]]
    if not possible:
        raise UsageError(
            f"--pattern: {first} can't be measured of {', '.join(options.operations)} posted "
            f"{', '.join(options.postings)} at these sizes; see docs/reference/operations.md."
        )
    middle = possible[len(possible) // 2]
    points: list[_Record] = [(0, records[first, middle][0], WARM_UP)]
    for visit in range(options.visits):
        of_visit = [
            (visit, series, GRID)
            for size in options.sizes
            for pattern in options.patterns
            if visit < visits_of(options, size)
            for series in records[pattern, size]
        ]
        shuffle.shuffle(of_visit)
        points += of_visit
    return points


def _rules(
    records: Sequence[_Series], options: PlanOptions, nominal: Nominal
) -> dict[_Series, StopRule]:
    """The stopping rule of each record's series, which keep a launch within its share of the time and the bytes."""
    budget_seconds = seconds_of(options) / options.all_launches
    counts = Counter(records)
    least = [_Least.of(series, options, nominal) for series in counts]
    allowance = _allowance(
        least, list(counts.values()), options.budget_bytes / options.all_launches
    )
    all_seconds = sum(
        minimum.seconds * count for minimum, count in zip(least, counts.values(), strict=True)
    )

    def budget_ns(seconds: float) -> int:
        return round(budget_seconds * (0.5 / len(records) + 0.5 * seconds / all_seconds) * 1e9)

    return {
        series: replace(minimum.rule(allowance), budget_ns=budget_ns(minimum.seconds))
        for series, minimum in zip(counts, least, strict=True)
    }


@dataclass(frozen=True)
class _Least:
    """A request with the fewest samples that will do, and what it costs."""

    request: Request
    seconds: float
    preparation_bytes: int
    round_bytes: int

    @staticmethod
    def of(series: _Series, options: PlanOptions, nominal: Nominal) -> _Least:
        samples = _least_samples(options, series)
        stop = StopRule(options.relative_half_width, samples, samples, 1)
        least = Request(0, 0, series, stop)
        seconds = least.rounds(samples) * round_seconds(least, nominal)
        return _Least(least, seconds, least.preparation_bytes, least.round_bytes)

    @property
    def samples(self) -> int:
        return self.request.stop.min_samples

    def bytes(self, samples: int) -> int:
        """Bytes of the request with so many samples."""
        return self.preparation_bytes + self.request.rounds(samples) * self.round_bytes

    def rule(self, allowed_bytes: float) -> StopRule:
        """The stopping rule with as many samples as the bytes allow, and at least the fewest."""
        more = range(self.samples + 1, MAX_SAMPLES + 1)
        affordable = bisect_right(more, allowed_bytes, key=self.bytes)
        return replace(self.request.stop, max_samples=self.samples + affordable)


def _allowance(requests: Sequence[_Least], counts: Sequence[int], budget_bytes: float) -> float:
    """Bytes per record such that all together use the budget: small sizes take what they need, large ones share.

    `counts` says how many records there are of each of `requests`.
    """
    limits = [
        (count, request.bytes(request.samples), request.bytes(MAX_SAMPLES))
        for request, count in zip(requests, counts, strict=True)
    ]

    def used(allowance: float) -> float:
        return sum(count * max(least, min(most, allowance)) for count, least, most in limits)

    low, high = 0.0, float(budget_bytes)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if used(middle) <= budget_bytes else (low, middle)
    return low


def _accept(option: str, value: str, words: Sequence[str]) -> None:
    if value not in words:
        raise UsageError(f"{option}: '{value}' is unknown; it accepts {' or '.join(words)}.")


def _tupled(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
