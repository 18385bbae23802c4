"""What scripts read of a run: a figure a line, whose name and unit stay (docs/reference/figures-of-merit.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from chiplog.dataset.operations import NORMAL
from chiplog.dataset.series import Dataset
from chiplog.fitting.quantities.incast import INCAST
from chiplog.fitting.quantities.over_sizes import (
    delayed_send_overhead,
    direct_send_overhead,
    flood_gap,
    half_round_trip,
    receive_overhead,
    train_gap,
)
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.report.patterns import pattern_runs
from chiplog.report.patterns.all_pairs import ALL, ALL_PAIRS, pair_medians
from chiplog.report.patterns.exchange import EXCHANGE, exchange_times
from chiplog.report.patterns.incast import incast_times
from chiplog.report.patterns.pairs import pair_parts, pair_times
from chiplog.report.patterns.peers import (
    BARRIER,
    ONE_TO_MANY,
    barrier_times,
    one_to_many_times,
)
from chiplog.report.patterns.run import PatternRun, ShownValue, values

DIGITS = 5
"""Given: significant digits, for scripts."""
MICROSECOND, MEGABYTE = 1e-6, 1e6
"""Given: the units of figures."""
HAVE_RATES = ("ping_pong", "flood")
TIME_NAMES = {"round-trip": "half_round_trip", "one-way": "one_way_time"}
USUAL = ("send", NORMAL, "none", "filled", "None")
"""What a name does not say of operation, posting and placement."""
BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class FigureOfMerit:
    """A number with its name and unit; as text, the line that scripts read."""

    name: str
    value: float
    unit: str

    def __str__(self) -> str:
        digits = np.format_float_positional(
            self.value, precision=DIGITS, unique=False, fractional=False, trim="-"
        )
        return f"{self.name} {digits} {self.unit}"


def figures_of_merit(dataset: Dataset) -> list[FigureOfMerit]:
    """Medians of all that was measured, in the order of the patterns' tables.

    What the samples do not tell from 0 has no figure.
    """
    return [
        figure
        for run in pattern_runs(dataset, most_rows=0, most_columns=0)
        for figures in (_by_size, _over_peers, _over_pairs, _exchanges, _all_pairs)
        for figure in figures(run, _prefix(dataset.transport, run))
    ]


def _prefix(transport: str, run: PatternRun) -> str:
    series = run.part.series[0]
    part = (series.operation, series.posting, str(series.placement))
    return ".".join([transport, *(word for word in part if word not in USUAL)])


def _by_size(run: PatternRun, prefix: str) -> Iterator[FigureOfMerit]:
    measured = run.measured
    quantities: tuple[tuple[str, str, Quantity], ...] = (
        ("ping_pong", "half_round_trip", half_round_trip(measured)),
        ("prtt", "gap", train_gap(measured)),
        ("prtt", "o_s", delayed_send_overhead(measured)),
        ("send_overhead", "o_s", direct_send_overhead(measured, single=True)),
        ("receive_overhead", "o_r", receive_overhead(measured)),
        ("flood", "gap", flood_gap(measured)),
    )
    for pattern, name, quantity in quantities:
        for size, value in values(quantity).items():
            sent = size if pattern in HAVE_RATES else 0
            yield from _time_and_rate(f"{prefix}.{pattern}.{size}B", name, value, sent)


def _over_pairs(run: PatternRun, prefix: str) -> Iterator[FigureOfMerit]:
    parts = pair_parts(run)
    several = len({between for between, _ in parts}) > 1
    for (between, direction), part in parts.items():
        place = f"{prefix}.pairs{_groups(between, several)}"
        name = TIME_NAMES[str(direction)]
        for (size, pairs), value in pair_times(part, run.measured.statistic).items():
            yield from _time_and_rate(f"{place}.{size}B.{pairs}pairs", name, value, size * pairs)


def _exchanges(run: PatternRun, prefix: str) -> Iterator[FigureOfMerit]:
    exchanges = [series for series in run.series if series.pattern == EXCHANGE]
    all_groups = dict.fromkeys(series.between for series in exchanges)
    for groups in all_groups:
        place = f"{prefix}.{EXCHANGE}{_groups(groups, len(all_groups) > 1)}"
        for (size, pairs), value in exchange_times(run, groups).items():
            sent = 2 * size * pairs
            yield from _time_and_rate(f"{place}.{size}B.{pairs}pairs", "time", value, sent)


def _over_peers(run: PatternRun, prefix: str) -> Iterator[FigureOfMerit]:
    round_trips, posts = one_to_many_times(run)
    for pattern, name, times in (
        (ONE_TO_MANY, "round_trip", round_trips),
        (ONE_TO_MANY, "o_s", posts),
        (BARRIER, "time", barrier_times(run)),
    ):
        for (size, peers), value in sorted(times.items()):
            yield from _time_and_rate(f"{prefix}.{pattern}.{size}B.{peers}peers", name, value)
    for (size, peers), value in incast_times(run)[0].items():
        place = f"{prefix}.{INCAST}.{size}B.{peers}peers"
        yield from _time_and_rate(place, "time", value, size * peers)


def _all_pairs(run: PatternRun, prefix: str) -> Iterator[FigureOfMerit]:
    for (size, direction, link_class), medians in pair_medians(run).items():
        place = f"{prefix}.{ALL_PAIRS}{_part(link_class) if link_class != ALL else ''}.{size}B"
        name = TIME_NAMES[direction]
        seconds = np.array(list(medians.values()))
        for which, value in (("median", np.median(seconds)), ("slowest", np.max(seconds))):
            yield FigureOfMerit(f"{place}.{which}_{name}", float(value) / MICROSECOND, "us")


def _groups(groups: object, several: bool) -> str:
    return _part(" to ".join(map(str, groups))) if several and isinstance(groups, tuple) else ""


def _part(words: str) -> str:
    return "." + BLANKS.sub("_", words)


def _time_and_rate(
    place: str, name: str, value: ShownValue, sent_bytes: int = 0
) -> Iterator[FigureOfMerit]:
    """The time, and the rate of the bytes sent in it; nothing where the time may be 0 for all that is known."""
    if value.seconds <= 0 or value.low <= 0:
        return
    yield FigureOfMerit(f"{place}.{name}", value.seconds / MICROSECOND, "us")
    if sent_bytes:
        yield FigureOfMerit(f"{place}.bandwidth", sent_bytes / value.seconds / MEGABYTE, "MB/s")
