"""What a bench run found out, and its JSON of the schema chiplog.bench/1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from chiplog.benchmarking.launched import LIBRARY, MODES, OWN, Launched
from chiplog.benchmarking.statistics import Array, MedianEstimate, Ratio, median, ratio
from chiplog.errors import RunFailed
from chiplog.fitting.text import seconds_text
from chiplog.json_values import members

SCHEMA = "chiplog.bench/1"
OVERLAPPING = ("bcast", "reduce", "gather", "scatter")
"""Operations in which no rank waits for all others: calls in a row overlap, so one takes longer than its share."""
FLOOR_SHARE = 0.1
"""Given: where the windows' floor, or the clocks' error, is a larger share of the time, windows can't tell it."""


@dataclass(frozen=True)
class Row:
    """One mode and variant; medians of the valid samples."""

    mode: str
    variant: str
    seconds: MedianEstimate
    samples: int
    invalid: int


@dataclass(frozen=True)
class Bench:
    """One operation over all launches."""

    operation: str
    ranks: int
    bytes: int
    datatype: str
    mpi: str
    launches: int
    clock_error_seconds: float
    """The largest of any rank and launch."""
    floor_seconds: float
    """What a start window says of no operation at all: the median launch's."""
    lead_seconds: float
    rows: tuple[Row, ...]
    mode: str
    """The one to believe: `window`, or where the clocks are too coarse `round`, of OVERLAPPING `barrier`."""
    ratios: dict[str, Ratio]
    """Of the library to the MPI's own, by mode."""
    library: str | None = None
    """What the library did in the last launch, in its own words."""
    algorithm: str | None = None
    """By chiplog's name the one that the MPI was made to take; None where it chose by itself."""

    def row(self, mode: str, variant: str) -> Row:
        """The row of one mode and variant."""
        return next(row for row in self.rows if (row.mode, row.variant) == (mode, variant))


def summarise(launches: Sequence[Launched], seed: int = 0) -> Bench:
    """Medians over launches; RunFailed where a mode has no valid sample in some launch."""
    variants = list(dict.fromkeys(sample.variant for sample in launches[0].samples))
    taken = {(m, v): [_valid(launch, m, v) for launch in launches] for m in MODES for v in variants}
    rows = tuple(_row(launches, mode, variant, taken, seed) for mode, variant in taken)
    about = launches[0].about
    error = max(launched.clock_error_seconds for launched in launches)
    floor = float(np.median([launched.about["floor_seconds"] for launched in launches]))
    ratios = {}
    if LIBRARY in variants:
        calls = min(launched.about["calls"] for launched in launches)
        ratios = {
            m: undisturbed(
                ratio(taken[m, LIBRARY], taken[m, OWN], seed),
                _shortest(rows, m) * (calls if m == "round" else 1),
                floor_seconds=floor,
                clock_error_seconds=error,
            )
            for m in MODES
        }
    without_clocks = "barrier" if about["operation"] in OVERLAPPING else "round"
    shortest = _shortest(rows, without_clocks)
    return Bench(
        operation=about["operation"],
        ranks=about["ranks"],
        bytes=about["bytes"],
        datatype=about["datatype"],
        mpi=about["mpi"],
        launches=len(launches),
        clock_error_seconds=error,
        floor_seconds=floor,
        lead_seconds=max(launched.about["lead_seconds"] for launched in launches),
        rows=rows,
        mode="window" if max(error, floor) <= FLOOR_SHARE * shortest else without_clocks,
        ratios=ratios,
        library=launches[-1].library,
    )


def _shortest(rows: Sequence[Row], mode: str) -> float:
    return min(row.seconds.value for row in rows if row.mode == mode)


def undisturbed(
    found: Ratio, sample_seconds: float, *, floor_seconds: float, clock_error_seconds: float
) -> Ratio:
    """The ratio; `unclear` where a window's floor or the clocks' error is a tenth of what a sample takes, or more.

    A sample of `round` takes all of its calls: it is read from one clock, and only a disturbed machine makes either so
    large.
    """
    limit = FLOOR_SHARE * sample_seconds
    takes = f"a tenth or more of the {seconds_text(sample_seconds)} that a sample takes"
    if floor_seconds >= limit:
        what = f"a window without any operation takes {seconds_text(floor_seconds)}, {takes}"
    elif clock_error_seconds >= limit:
        what = f"clocks agree only within {seconds_text(clock_error_seconds)}, {takes}"
    else:
        return found
    return replace(
        found, verdict="unclear", reason=f"{what}; measure again when the machine is idle"
    )


def _valid(launch: Launched, mode: str, variant: str) -> Array:
    samples = launch.of(mode, variant)
    seconds: Array = samples.seconds[samples.valid]
    if not seconds.size:
        lead = launch.about["lead_seconds"]
        raise RunFailed(
            f"no start was in time, even {lead:.3g} s ahead: ranks come late; give each a core, or tell them earlier "
            "with --lead."
        )
    return seconds


def _row(
    launches: Sequence[Launched],
    mode: str,
    variant: str,
    taken: dict[tuple[str, str], list[Array]],
    seed: int,
) -> Row:
    every = [launch.of(mode, variant) for launch in launches]
    total = sum(samples.seconds.size for samples in every)
    invalid = sum(int(np.count_nonzero(~samples.valid)) for samples in every)
    return Row(mode, variant, median(taken[mode, variant], seed), total, invalid)


def bench_to_json(bench: Bench) -> dict[str, Any]:
    """The object of the schema; `ratio`, `verdict` and both medians are those of the mode to believe."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        **members(bench, "operation", "ranks", "bytes", "datatype", "mpi", "launches", "mode"),
        **members(bench, "clock_error_seconds", "floor_seconds", "lead_seconds"),
        "rows": [
            {
                **members(row, "mode", "variant"),
                "median_seconds": row.seconds.value,
                "low_seconds": row.seconds.low,
                "high_seconds": row.seconds.high,
                **members(row, "samples", "invalid"),
            }
            for row in bench.rows
        ],
    }
    if bench.algorithm is not None:
        document["algorithm"] = bench.algorithm
    if bench.library is not None:
        document["library"] = bench.library
    if bench.ratios:
        chosen = bench.ratios[bench.mode]
        document["ratio"] = asdict(chosen.estimate)
        document["verdict"] = chosen.verdict
        document["reason"] = chosen.reason or None
        document["library_median_seconds"] = bench.row(bench.mode, LIBRARY).seconds.value
        document["mpi_median_seconds"] = bench.row(bench.mode, OWN).seconds.value
        document["ratios"] = {
            mode: {**asdict(mode_ratio.estimate), "verdict": mode_ratio.verdict}
            for mode, mode_ratio in bench.ratios.items()
        }
    return document
