"""How far predictions of collectives are from what real clusters took.

    CHIPLOG_DATA=FOLDER python benchmarks/clusters.py

FOLDER/cloud holds ping-pongs, exchanges and trains of three clusters, and collectives that were measured there on
other days. Printed are medians of |error| over the collectives: of fits to each kind of measurement, and of what
measured half round trips alone give, interpolated between sizes and times the number of rounds. Then, of 8 to 32 ranks,
what becomes of them where the collective of 4 ranks, the same size and the same job is an anchor (with --cells, each):
of messages as if alone, as `chiplog predict --anchor` does it, or with measured exchanges followed.
"""

from __future__ import annotations

import csv
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from chiplog.collectives.steps import Steps
from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.fitting.fit import fit
from chiplog.jobs.simulated_model import FittedParameters, parameters_to_simulate
from chiplog.prediction.anchored import without_exchanges
from chiplog.prediction.correction import AnchorTable, choose_correction, correction_line
from chiplog.prediction.model_error import model_error
from chiplog.schedule.arrays import Schedule

MEASUREMENTS = {
    "ping-pongs": ("pingpong",),
    "ping-pongs, trains": ("pingpong", "prtt"),
    "ping-pongs, exchanges": ("pingpong", "exchange"),
    "ping-pongs, trains, exchanges": ("pingpong", "prtt", "exchange"),
}
PICOSECOND = 1e-12
ANCHOR_RANKS = 4
NOISY_JOB = "daint/2022_05_10_21_34_00"
"""Where 5 % and 95 % of the times of one collective are up to a factor of 100 apart."""


@dataclass(frozen=True)
class Cell:
    """A measured collective; `rounds` of one message of `message_bytes` each."""

    cluster: str
    archive: str
    """The job that measured it, of one day."""
    operation: str
    ranks: int
    rounds: int
    message_bytes: int
    """Of one round."""
    whole_bytes: int
    """Of the operation."""
    seconds: float

    def schedule(self) -> Schedule:
        """What each rank sends, round by round: to the next one (ring), or twice as far each time (n-way)."""
        everybody = np.arange(self.ranks)
        steps = Steps(self.ranks, self.ranks * self.rounds)
        for number in range(self.rounds):
            distance = 1 if self.operation == "ring" else 1 << number
            targets = (everybody + distance) % self.ranks
            steps.messages(everybody, targets, np.full(self.ranks, self.message_bytes))
        return steps.build()


def cells(folder: Path) -> Iterator[Cell]:
    """The collectives of `cells.csv`. A ring of P ranks has P rounds there, each of a P-th of the message."""
    with (folder / "cells.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            ranks, size = int(row["ranks"]), int(row["message_bytes"])
            is_ring = row["operation"] == "ring"
            rounds = ranks if is_ring else (ranks - 1).bit_length()
            sent = size // ranks if is_ring else size
            seconds = 1e-6 * float(row["measured_median_us"])
            yield Cell(
                cluster=row["p2p"],
                archive=row["collectives_archive"],
                operation=row["operation"],
                ranks=ranks,
                rounds=rounds,
                message_bytes=sent,
                whole_bytes=size,
                seconds=seconds,
            )


def imported(folder: Path, cluster: str, kinds: Sequence[str]) -> Dataset:
    """The measurements of `kinds` of a cluster as one run."""
    import gzip

    with tempfile.TemporaryDirectory() as scratch:
        table = Path(scratch) / "all.csv"
        rows: list[dict[str, str]] = []
        for kind in kinds:
            with gzip.open(folder / f"{cluster}_{kind}.csv.gz", "rt", newline="") as file:
                # The exchanges' file calls them ping-pongs, too.
                pattern = {"pattern": "exchange"} if kind == "exchange" else {}
                rows += [row | pattern for row in csv.DictReader(file)]
        columns = list(dict.fromkeys(name for row in rows for name in row))
        with table.open("w", newline="") as file:
            writer = csv.DictWriter(file, columns)
            writer.writeheader()
            writer.writerows(rows)
        return read_run(import_file("csv", table, Path(scratch) / "run.jsonl"))


def half_round_trips(dataset: Dataset) -> Callable[[int], float]:
    """The time of a message: the median of its size, between two sizes the straight line from one to the other."""
    of_size = {
        series.message_bytes: float(np.median(series.seconds))
        for series in dataset.series
        if series.pattern == "ping_pong"
    }
    sizes = sorted(of_size)
    return lambda size: float(np.interp(size, sizes, [of_size[known] for known in sizes]))


@dataclass(frozen=True)
class Way:
    """How collectives are predicted: by which kinds of measurements, and by fits or by half round trips alone."""

    name: str
    kinds: tuple[str, ...]
    is_fitted: bool = True


@dataclass(frozen=True)
class ClusterModel:
    """What measurements of a cluster say of its collectives."""

    seconds: Callable[[Cell], float]
    width: Callable[[Cell], float]
    """The model's own error: half of a 95 % interval, as a logarithm."""


@cache
def model_of(
    folder: Path, cluster: str, way: Way, *, follows_exchanges: bool = True
) -> ClusterModel:
    """By fits, or by half round trips alone."""
    dataset = imported(folder, cluster, way.kinds)
    if not way.is_fitted:
        seconds = half_round_trips(dataset)
        return ClusterModel(lambda cell: cell.rounds * seconds(cell.message_bytes), lambda _: 0.0)
    parameters = parameters_to_simulate(fit(dataset), anyway=True)
    if not follows_exchanges:
        parameters = FittedParameters(without_exchanges(parameters.fit))
    return ClusterModel(
        lambda cell: parameters.simulate(cell.schedule()).simulation.makespan_ps * PICOSECOND,
        lambda cell: model_error(parameters.fit, {cell.message_bytes}),
    )


def errors(folder: Path, way: Way) -> dict[Cell, float]:
    """Relative error of each collective."""
    return {
        cell: model_of(folder, cell.cluster, way).seconds(cell) / cell.seconds - 1
        for cell in cells(folder)
    }


@dataclass(frozen=True)
class AnchoredError:
    """Relative errors without and with an anchor, and whether the interval with it holds the measured time."""

    uncorrected: float
    corrected: float
    is_covered: bool


def anchored_errors(
    folder: Path, way: Way, *, follows_exchanges: bool
) -> dict[Cell, AnchoredError]:
    """Of each collective of more than 4 ranks, whose job has one of 4 ranks and the same size."""
    every = list(cells(folder))
    anchors = {_job(cell): cell for cell in every if cell.ranks == ANCHOR_RANKS}
    found = {}
    for cell in every:
        anchor = anchors.get(_job(cell))
        if cell.ranks == ANCHOR_RANKS or anchor is None:
            continue
        model = model_of(folder, cell.cluster, way, follows_exchanges=follows_exchanges)
        table = AnchorTable(
            measured=np.array([anchor.seconds]),
            predicted=np.array([model.seconds(anchor)]),
            rounds=np.array([float(anchor.rounds)]),
            message_bytes=np.array([anchor.whole_bytes]),
            widths=np.zeros(1),
            weights=np.ones(1),
        )
        choice = choose_correction(table)
        line = correction_line(choice.kind, table, cell.whole_bytes)
        uncorrected = model.seconds(cell)
        ratio = float(line.seconds(uncorrected, cell.rounds)) / cell.seconds
        carried = math.log(anchor.seconds / model.seconds(anchor))
        width = math.hypot(carried, model.width(cell))
        found[cell] = AnchoredError(
            uncorrected / cell.seconds - 1, ratio - 1, abs(math.log(ratio)) <= width
        )
    return found


def _job(cell: Cell) -> tuple[str, str, int]:
    return cell.archive, cell.operation, cell.whole_bytes


def print_medians(name: str, error_of: Mapping[Cell, float]) -> None:
    """A line an operation: the median of |error| over all cells, and of each cluster; then of both operations."""
    for operation in ("nway", "ring"):
        of_cluster: dict[str, list[float]] = {}
        for cell, error in error_of.items():
            if cell.operation == operation:
                of_cluster.setdefault(cell.cluster, []).append(100 * abs(error))
        each = [f"{cluster} {np.median(values):.1f}" for cluster, values in of_cluster.items()]
        every = np.median(np.concatenate(list(of_cluster.values())))
        print(f"{operation:5} {name:38} {every:5.1f} %  ({', '.join(each)})", flush=True)
    quiet = [abs(error) for cell, error in error_of.items() if cell.archive != NOISY_JOB]
    both = f"{100 * np.median([abs(error) for error in error_of.values()]):5.1f} %"
    print(f"both  {name:38} {both}  (but the noisy job {100 * np.median(quiet):.1f})", flush=True)


def print_anchored(name: str, error_of: Mapping[Cell, AnchoredError], *, each: bool) -> None:
    """What an anchor of 4 ranks makes of 8 to 32; all jobs, and those of quiet days."""
    print_medians(f"{name}, anchors", {cell: error.corrected for cell, error in error_of.items()})
    for days, kept in (
        ("all jobs", list(error_of)),
        ("but the noisy one", [cell for cell in error_of if cell.archive != NOISY_JOB]),
    ):
        absolute = np.array([abs(error_of[cell].corrected) for cell in kept])
        print(
            f"      {days}: median {100 * np.median(absolute):.1f} % of {len(kept)} cells, "
            f"{np.mean(absolute <= 0.25):.0%} within 25 %; intervals hold "
            f"{np.mean([error_of[cell].is_covered for cell in kept]):.0%}"
        )
    if each:
        for cell, error in error_of.items():
            print(
                f"      {cell.archive:28} {cell.operation:4} {cell.whole_bytes:9} B {cell.ranks:3} ranks "
                f"{100 * error.uncorrected:7.1f} % -> {100 * error.corrected:7.1f} %"
            )


def main() -> None:
    """Print medians of |error|, by operation and cluster."""
    folder = Path(os.environ["CHIPLOG_DATA"]) / "cloud"
    ways = [Way("half round trips alone", ("pingpong",), is_fitted=False)]
    ways += [Way(f"fits of {name}", kinds) for name, kinds in MEASUREMENTS.items()]
    for way in ways:
        print_medians(way.name, errors(folder, way))
    for way in ways:
        for follows_exchanges in (True, False) if "exchange" in way.kinds else (False,):
            error_of = anchored_errors(folder, way, follows_exchanges=follows_exchanges)
            followed = ", followed" if follows_exchanges else ""
            each = way.is_fitted and "--cells" in sys.argv
            print_anchored(f"{way.name}{followed}", error_of, each=each)


if __name__ == "__main__":
    main()
