"""Both ranks of a pair send at once: what that takes, and how many times a message alone it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chiplog.dataset.series import Series
from chiplog.fitting.caution import usable
from chiplog.fitting.pairs.table import half_round_trips, is_pair_point
from chiplog.fitting.quantities.measured import MeasuredSeries, is_round_trip
from chiplog.fitting.quantities.over_sizes import half_round_trip
from chiplog.report import format
from chiplog.report.document import Inline, Table, line, number_columns
from chiplog.report.patterns.run import (
    BySizeAndNumber,
    PatternRun,
    ShownValue,
    grid,
    interval_cells,
    missing_intervals,
    rate_cell,
    spread,
    thinned_note,
    time_grid,
    times_by_number,
    values_by_number,
)

EXCHANGE = "exchange"
Groups = tuple[str, str] | None
ARRIVED = "until both messages have arrived"
FACTOR = (
    "times a message alone, 1 where both directions have all of their speed, 2 where they share it"
)
NO_MESSAGE_ALONE = "—: no message alone of this size was measured beside it."


def tables(run: PatternRun) -> tuple[Table, ...]:
    """By size and k, of each two groups of ranks: a list, or grids where both vary and there are many."""
    all_groups = dict.fromkeys(series.between for series in run.series if _is_exchange(series))
    return tuple(
        table
        for groups in all_groups
        for table in _of_groups(run, groups, is_named=len(all_groups) > 1)
    )


def _is_exchange(series: Series) -> bool:
    return series.pattern == EXCHANGE


def _of_groups(run: PatternRun, groups: Groups, *, is_named: bool) -> tuple[Table, ...]:
    times = exchange_times(run, groups)
    where = f", {' to '.join(groups)}" if is_named and groups else ""
    pairs = {k for _, k in times}
    of_pairs, slowest = (" of k pairs", ", the slowest pair") if pairs != {1} else ("", "")
    factors = _factors(times, _alone(run, groups))
    table = _ExchangeTable(run, times, factors, f"{of_pairs}{where}", slowest)
    if len(pairs) > 1 and len(times) > run.most_rows:
        return table.grids()
    return (table.rows(),)


def exchange_times(run: PatternRun, groups: Groups) -> BySizeAndNumber:
    """The time of an exchange, the slowest pair's."""

    def is_between(series: Series) -> bool:
        return _is_exchange(series) and series.between == groups

    return times_by_number(run, "exchange {}", is_between, lambda series: series.pairs)


def _alone(run: PatternRun, groups: Groups) -> BySizeAndNumber:
    """Half round trips of as many pairs between the same groups; of one pair those without groups, too."""
    compared = tuple(
        series
        for series in run.beside.series
        if is_round_trip(series) or (is_pair_point(series) and series.between == groups)
    )
    if not compared:
        return {}
    dataset = usable(replace(run.beside, series=compared)).placed.dataset
    measured = MeasuredSeries(dataset, run.measured.statistic, 0)
    alone = values_by_number({1: half_round_trip(measured)})
    return alone | values_by_number(half_round_trips(measured))


def _factors(times: BySizeAndNumber, alone: BySizeAndNumber) -> BySizeAndNumber:
    return {
        key: ratio(time, alone[key])
        for key, time in times.items()
        if key in alone and alone[key].seconds > 0
    }


def ratio(numerator: ShownValue, denominator: ShownValue) -> ShownValue:
    """The ratio of two positive values, with the interval of two that vary independently.

    The halves of the intervals add in squares on the scale of logarithms. What both have in common, as series that are
    taken in turn do, makes it wider than need be. Source: Zou and Donner, "Construction of confidence limits about
    effect measures" (2008), for ratios.

    >>> ratio(ShownValue(3.0, 2.7, 3.3), ShownValue(2.0, 2.0, 2.0))
    ShownValue(seconds=1.5, low=1.35, high=1.65)
    """
    value = numerator.seconds / denominator.seconds

    def half(end: float, other_end: float) -> float:
        if not (end > 0 and other_end > 0):
            return math.nan
        return math.hypot(
            math.log(end / numerator.seconds), math.log(other_end / denominator.seconds)
        )

    low = value * math.exp(-half(numerator.low, denominator.high))
    high = value * math.exp(half(numerator.high, denominator.low))
    return ShownValue(value, low, high)


@dataclass(frozen=True)
class _ExchangeTable:
    """What the tables of two groups are made from; `of` and `slowest` are what titles say of several pairs."""

    run: PatternRun
    times: BySizeAndNumber
    factors: BySizeAndNumber
    of: str
    slowest: str

    def rows(self) -> Table:
        """The table with a row for each size and k."""
        several = bool(self.slowest)
        sizes = sorted({size for size, _ in self.times})
        most_sizes = max(self.run.most_rows // len({k for _, k in self.times}), 1)
        shown_sizes = spread(sizes, most_sizes)
        shown = [key for key in sorted(self.times) if key[0] in shown_sizes]
        rows = tuple(
            (
                line(format.message_size(size)),
                *((line(str(k)),) if several else ()),
                *interval_cells(self.times[size, k]),
                *_factor_cells(self.factors.get((size, k))),
                rate_cell(2 * k * size, self.times[size, k]),
            )
            for size, k in shown
        )
        heads = ("exchange", "95 % interval", "factor", "95 % interval", "both ways")
        said = f"{ARRIVED}{self.slowest}; factor: {FACTOR}; {self.run.intervals}"
        notes = (
            *missing_intervals([self.times[key] for key in shown]),
            *self._no_message_alone(shown),
            *thinned_note(len(shown_sizes), len(sizes), "sizes"),
        )
        return Table(
            self.run.caption(f"Exchange{self.of} by size", said),
            number_columns("size", *(("k",) if several else ()), *heads),
            rows,
            notes,
        )

    def grids(self) -> tuple[Table, ...]:
        """Times, factors and rates, each over size and k."""
        factors = {key: _factor_cells(self.factors.get(key))[0] for key in self.times}
        rates = {
            (size, k): rate_cell(2 * k * size, value) for (size, k), value in self.times.items()
        }
        said = f"{ARRIVED}{self.slowest}; {self.run.intervals}"
        caption = self.run.caption(f"Exchange{self.of}", said)
        alone = self._no_message_alone(list(self.times))
        return (
            time_grid(self.run, caption, "k", self.times),
            self._grid("Full-duplex factor", FACTOR, factors, alone),
            self._grid("Rate of both directions", "2k sizes over that time", rates, ()),
        )

    def _grid(
        self,
        title: str,
        said: str,
        cells: dict[tuple[int, int], Inline],
        notes: tuple[Inline, ...],
    ) -> Table:
        return grid(self.run, self.run.caption(f"{title}{self.of}", said), "k", cells, notes)

    def _no_message_alone(self, shown: Sequence[tuple[int, int]]) -> tuple[Inline, ...]:
        """A note where there is nothing to compare with."""
        return () if all(key in self.factors for key in shown) else (line(NO_MESSAGE_ALONE),)


def _factor_cells(factor: ShownValue | None) -> tuple[Inline, Inline]:
    """The factor and its interval."""
    if factor is None:
        return line(format.NOTHING), line(format.NOTHING)
    shown = line(f"{factor.seconds:.2f}")
    if not math.isfinite(factor.low) or not math.isfinite(factor.high):
        return shown, line(format.NOTHING)
    return shown, line(f"[{factor.low:.2f}, {factor.high:.2f}]")
