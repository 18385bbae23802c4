"""How far predictions of collectives are from what real clusters took.

    CHIPLOG_DATA=FOLDER python benchmarks/clusters.py

FOLDER/cloud holds ping-pongs, exchanges and trains of three clusters, and collectives that were measured there on
other days. Printed are medians of |error| over the collectives: of fits to each kind of measurement, and of what
measured half round trips alone give, interpolated between sizes and times the number of rounds.
"""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from chiplog.collectives.steps import Steps
from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.fitting.fit import fit
from chiplog.jobs.simulated_model import parameters_to_simulate
from chiplog.schedule.arrays import Schedule

MEASUREMENTS = {
    "ping-pongs": ("pingpong",),
    "ping-pongs, trains": ("pingpong", "prtt"),
    "ping-pongs, exchanges": ("pingpong", "exchange"),
    "ping-pongs, trains, exchanges": ("pingpong", "prtt", "exchange"),
}
PICOSECOND = 1e-12


@dataclass(frozen=True)
class Cell:
    """A measured collective; `rounds` of one message of `message_bytes` each."""

    cluster: str
    operation: str
    ranks: int
    rounds: int
    message_bytes: int
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
            yield Cell(row["p2p"], row["operation"], ranks, rounds, sent, seconds)


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


def errors(folder: Path, kinds: Sequence[str], *, fitted: bool) -> dict[Cell, float]:
    """Relative error of each collective, by fits or by half round trips alone."""

    @cache
    def of_cluster(cluster: str) -> Callable[[Cell], float]:
        dataset = imported(folder, cluster, kinds)
        if not fitted:
            seconds = half_round_trips(dataset)
            return lambda cell: cell.rounds * seconds(cell.message_bytes)
        parameters = parameters_to_simulate(fit(dataset), anyway=True)
        return lambda cell: parameters.simulate(cell.schedule()).simulation.makespan_ps * PICOSECOND

    return {cell: of_cluster(cell.cluster)(cell) / cell.seconds - 1 for cell in cells(folder)}


def main() -> None:
    """Print medians of |error|, by operation and cluster."""
    folder = Path(os.environ["CHIPLOG_DATA"]) / "cloud"
    ways = [("half round trips alone", ("pingpong",), False)]
    ways += [(f"fits of {name}", kinds, True) for name, kinds in MEASUREMENTS.items()]
    for name, kinds, fitted in ways:
        error_of = errors(folder, kinds, fitted=fitted)
        for operation in ("nway", "ring"):
            of_cluster: dict[str, list[float]] = {}
            for cell, error in error_of.items():
                if cell.operation == operation:
                    of_cluster.setdefault(cell.cluster, []).append(100 * abs(error))
            each = [f"{cluster} {np.median(values):.1f}" for cluster, values in of_cluster.items()]
            every = np.median(np.concatenate(list(of_cluster.values())))
            print(f"{operation:5} {name:38} {every:5.1f} %  ({', '.join(each)})", flush=True)


if __name__ == "__main__":
    main()
