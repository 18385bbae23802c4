"""Do predictions with an anchor hold on a Slurm cluster whose network is known?

    python benchmarks/slurm_predictions.py --testbed FOLDER -o RESULTS     starts that cluster, measures and judges
    python benchmarks/slurm_predictions.py --launcher "srun --mpi=pmix -N {ranks} -n {ranks}" -o RESULTS
    python benchmarks/slurm_predictions.py --judge -o RESULTS              judges what is there

FOLDER has the scripts up.sh, enter.sh, slow.sh, heal.sh and down.sh of a cluster of namespaces; it is measured twice:
with links of 20 Mbit/s, and with 200 us more each way on one of them. `chiplog run` between four hosts makes the model.
A barrier by dissemination, an allgather by a ring, a bcast by a binomial tree and a linear gather, which Open MPI's
variables set, are then timed by `chiplog bench`: of four ranks as anchors, of more as what is to be predicted. Printed
is each of these cells, then the median of |error| and how many cells lie in their 90 % intervals.
"""

from __future__ import annotations

import argparse
import math
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from chiplog.collectives.algorithm import Task
from chiplog.fitting.model_file import read_model
from chiplog.jobs.anchor_files import read_anchors
from chiplog.prediction.predict import predict

DEFAULT_BYTES = 8
"""Of a barrier, as chiplog bench says it."""
NINETY = 1.645 / 1.96
"""From half of a normal 95 % interval to half of a 90 % one."""
ANCHOR_RANKS = 4
ALGORITHMS = {
    "barrier": "dissemination",
    "allgather": "ring",
    "bcast": "binomial",
    "gather": "linear",
}
FORCED = {
    "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
    "OMPI_MCA_coll_tuned_barrier_algorithm": "4",
    "OMPI_MCA_coll_tuned_allgather_algorithm": "4",
    "OMPI_MCA_coll_tuned_bcast_algorithm": "6",
    "OMPI_MCA_coll_tuned_bcast_algorithm_segmentsize": "0",
    "OMPI_MCA_coll_tuned_gather_algorithm": "1",
    "OMPI_MCA_coll_han_priority": "0",
    # Ranks that share a core let each other run.
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}
"""What makes Open MPI take the algorithms."""
TESTBED_LAUNCHER = "srun --mpi=pmix -N {ranks} -n {ranks} chrt -r {priority}"
"""Others on the machine are not to be measured: the ranks come before them."""
RATE, SLOW_HOST, DELAY = "20mbit", "n03", "200us"


@dataclass(frozen=True)
class Cell:
    """A collective operation that is timed."""

    operation: str
    ranks: int
    message_bytes: int

    @property
    def name(self) -> str:
        """Of its file."""
        return f"{self.operation}-{self.ranks}-{self.message_bytes}.json"


@dataclass(frozen=True)
class Cluster:
    """How chiplog is started where a launcher works, and the launcher."""

    enter: tuple[str, ...]
    launcher: str
    mpi: str | None

    def chiplog(self, *words: str, ranks: int) -> int:
        """Runs a command of chiplog whose launcher starts so many ranks."""
        launcher = ["--launcher", self.launcher.format(ranks=ranks)]
        mpi = ["--mpi", self.mpi] if self.mpi else []
        command = [*self.enter, sys.executable, "-m", "chiplog", *words, *launcher, *mpi]
        print("$", shlex.join(command), flush=True)
        return subprocess.run(command, env={**os.environ, **FORCED}, check=False).returncode


def cells(ranks: Sequence[int], sizes: Sequence[int]) -> Iterator[Cell]:
    """A barrier and the other operations at each size, of each number of ranks."""
    for count in ranks:
        yield Cell("barrier", count, 0)
        for operation in list(ALGORITHMS)[1:]:
            yield from (Cell(operation, count, size) for size in sizes)


def measure(cluster: Cluster, folder: Path, options: argparse.Namespace) -> None:
    """The model and the times of one network, as far as they are not there."""
    (folder / "bench").mkdir(parents=True, exist_ok=True)
    if not (folder / "run" / "model.json").exists():
        asked = ["--sizes", options.model_sizes, "--budget", str(options.budget)]
        cluster.chiplog("run", "mpi", *asked, "-o", str(folder / "run"), ranks=ANCHOR_RANKS)
    for cell in cells([*options.anchors, *options.ranks], options.sizes):
        path = folder / "bench" / cell.name
        amount = ["--launches", str(options.launches), "--samples", str(options.samples)]
        amount += ["--budget", "3", "--json", str(path)]
        size = ["--bytes", str(cell.message_bytes)] if cell.message_bytes else []
        for _ in range(options.tries):
            if not path.exists():
                cluster.chiplog("bench", cell.operation, *size, *amount, ranks=cell.ranks)


def networks(options: argparse.Namespace) -> Iterator[tuple[str, Cluster]]:
    """Each network by its name, up while it is asked for."""
    if options.launcher:
        yield "cluster", Cluster((), options.launcher, options.mpi)
        return
    testbed = Path(options.testbed)
    hosts = str(max(options.ranks))
    subprocess.run(
        [testbed / "up.sh", hosts, "--leaf", "4", "--rate", RATE, "--mpi", "pmix"], check=True
    )
    launcher = TESTBED_LAUNCHER.replace("{priority}", str(options.priority))
    cluster = Cluster((str(testbed / "enter.sh"),), launcher, options.mpi)
    try:
        yield "plain", cluster
        subprocess.run([testbed / "slow.sh", SLOW_HOST, "delay", DELAY], check=True)
        put_before_ranks(testbed / "delay.py", options.priority)
        yield "delayed", cluster
    finally:
        subprocess.run([testbed / "down.sh"], check=True)


def put_before_ranks(program: Path, priority: int) -> None:
    """What passes frames on would never run beside ranks of a higher real-time priority that wait by asking."""
    processes = subprocess.run(
        ["pgrep", "-f", str(program)], capture_output=True, text=True, check=True
    )
    for process in processes.stdout.split():
        subprocess.run(["chrt", "-f", "-p", str(priority + 1), process], check=True)


@dataclass(frozen=True)
class Judged:
    """A prediction beside what was measured, in seconds; of its interval the part that should hold 90 %."""

    cell: Cell
    predicted: float
    low: float
    high: float
    measured: float
    uncorrected: float

    @property
    def error(self) -> float:
        """Relative."""
        return self.predicted / self.measured - 1.0

    @property
    def is_inside(self) -> bool:
        """Whether the interval holds the measured time."""
        return self.low <= self.measured <= self.high

    def line(self) -> str:
        """A row of the table."""
        times = (self.predicted, self.low, self.high, self.measured)
        predicted, low, high, measured = (f"{1e3 * seconds:.3f}" for seconds in times)
        return (
            f"{self.cell.operation:9} {self.cell.ranks:3} {self.cell.message_bytes:6} B {predicted:>9} "
            f"[{low:>8}, {high:>9}] {measured:>9} ms {self.error:+7.1%} "
            f"{'inside' if self.is_inside else 'OUTSIDE':7} "
            f"(without anchor {self.uncorrected / self.measured - 1.0:+.0%})"
        )


def judged(folder: Path, options: argparse.Namespace) -> Iterator[Judged]:
    """Each cell of one network that was measured, as its anchor of few ranks makes the model predict it."""
    fits = read_model(folder / "run" / "model.json")
    for cell in cells(options.ranks, options.sizes):
        paths = [folder / "bench" / replace(cell, ranks=count).name for count in options.anchors]
        if not all(path.exists() for path in (*paths, folder / "bench" / cell.name)):
            print(f"{cell.name} was not measured", flush=True)
            continue
        algorithm = ALGORITHMS[cell.operation]
        task = Task(cell.ranks, cell.message_bytes or DEFAULT_BYTES)
        anchors = read_anchors(paths)
        row = next(
            row
            for row in predict(
                fits, cell.operation, task, algorithm=algorithm, anchors=anchors, anyway=True
            )
            if row.algorithm == algorithm
        )
        assert row.correction is not None
        below, above = (abs(math.log(end / row.seconds)) * NINETY for end in (row.low, row.high))
        yield Judged(
            cell,
            row.seconds,
            row.seconds * math.exp(-below),
            row.seconds * math.exp(above),
            read_anchors([folder / "bench" / cell.name])[0].seconds,
            row.correction.uncorrected_seconds,
        )


def judge(options: argparse.Namespace) -> None:
    """The table of cells, and the two figures."""
    rows: list[Judged] = []
    for folder in sorted(path.parents[1] for path in options.output.glob("*/run/model.json")):
        print(folder.name)
        for row in judged(folder, options):
            print(row.line(), flush=True)
            rows.append(row)
    if rows:
        print(
            f"median |error| {np.median([abs(row.error) for row in rows]):.1%}; 90 % intervals hold "
            f"{np.mean([row.is_inside for row in rows]):.0%} of {len(rows)} cells"
        )


def main() -> None:
    """Measures, unless told to judge only."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("build/slurm_predictions"))
    parser.add_argument("--testbed")
    parser.add_argument("--launcher", help="with {ranks} where the number of ranks goes")
    parser.add_argument("--priority", type=int, default=20, help="of ranks on the testbed")
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--mpi", help="the C++ compiler of an Open MPI")
    parser.add_argument("--ranks", type=int, nargs="+", default=[8, 16])
    parser.add_argument("--anchors", type=int, nargs="+", default=[ANCHOR_RANKS], help="ranks")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1024, 8192, 65536])
    parser.add_argument("--model-sizes", default="1:128KiB")
    parser.add_argument("--budget", type=float, default=60.0)
    parser.add_argument("--launches", type=int, default=2)
    parser.add_argument("--samples", type=int, default=50)
    parser.add_argument("--tries", type=int, default=3, help="of a launch that fails")
    options = parser.parse_args()
    if not options.judge:
        for name, cluster in networks(options):
            measure(cluster, options.output / name, options)
    judge(options)


if __name__ == "__main__":
    main()
