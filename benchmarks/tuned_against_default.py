"""Do files of `chiplog tune --measure` help programs? Each file in force against the MPI's default, in fresh launches.

    python benchmarks/tuned_against_default.py --mpi MPICXX[,MPICXX] [--ranks 2,4] [--operations bcast,allreduce]
        [--seeds 1] [--budget 60] [--pairs 9] [--sizes 8,512] [--launcher "srun -N 8"] [-o FOLDER]

Each race writes a file. Then launches with the file and launches without it alternate, which is first drawn at random.
They measure sizes that the race did not have, inside each range of its rules, of MPI_BYTE, MPI_INT and MPI_DOUBLE, half
of the samples from a common start and half after a barrier: each size, datatype and way to begin is a point. A pair of
launches gives one ratio of it. Intervals hold together for all points of a race with 95 % confidence. A point is slower
where its ratio is surely above 1.03, and faster where it is surely below 1.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, product
from pathlib import Path

import numpy as np

from chiplog.errors import ChiplogError
from chiplog.measurement.datatypes import DATATYPE_BYTES
from chiplog.measurement.mpi_at_hand import launcher_words
from chiplog.measurement.mpis import Mpi, identify_mpi
from chiplog.measurement.programs import RACE, build_program
from chiplog.tune.measured.candidate import DEFAULT
from chiplog.tune.measured.launch import Cell, Effort, RaceEntry, Result
from chiplog.tune.measured.mpi_launcher import MpiLauncher
from chiplog.tune.measured.statistics import CandidateRatio, ratio_over_launches
from chiplog.tune.measured.tuning import KINDS, Asked, MeasuredTuning, measure

SIZES = (8, 64, 512, 4096, 32768, 262144)
SLOWER = 1.03
STEP = max(DATATYPE_BYTES.values())
PROGRAMS = {kind: program for program, kind in KINDS.items()}
SUFFIXES = {"openmpi": ".conf", "mpich": ".json", "intelmpi": ".env"}
EFFORT = Effort(cell_seconds=0.1)


@dataclass(frozen=True)
class RaceCase:
    """One race: of which MPI, of what, and by which seed."""

    mpi: Mpi
    ranks: int
    operation: str
    seed: int
    launcher: str | None = None

    def __str__(self) -> str:
        return f"{self.mpi}, {self.ranks} ranks, {self.operation}, seed {self.seed}"


def tuned(
    case: RaceCase, sizes: tuple[int, ...], budget: float, folder: Path
) -> tuple[MeasuredTuning, Path]:
    """What the race says, and its file, which is written."""
    program = PROGRAMS[case.mpi.kind]
    name = f"{program}-{case.mpi.version}-{case.ranks}-{case.operation}-{case.seed}"
    out = folder / f"{name}{SUFFIXES[program]}"
    asked = Asked(
        program,
        case.operation,
        out,
        ranks=case.ranks,
        sizes=sizes,
        launcher=case.launcher,
        mpi=str(case.mpi.mpicxx),
        budget_seconds=budget,
        seed=case.seed,
    )
    measured = measure(asked, folder / f"{name}.samples.jsonl", lambda _: None)
    for path, text in measured.files.texts(out).items():
        path.write_text(text)
    return measured, out


def sizes_to_judge(measured: MeasuredTuning, random: np.random.Generator) -> list[int]:
    """One between each two neighbours of a range of rules, drawn at random; the size itself where it is alone."""
    rows = sorted(
        (verdict for verdict in measured.verdicts if not verdict.is_held_out),
        key=lambda verdict: verdict.cell.message_bytes,
    )
    sizes = []
    for candidate, group in groupby(rows, lambda row: row.candidate if row.is_changed else None):
        here = [row.cell.message_bytes for row in group]
        if candidate is not None and len(here) == 1:
            sizes += here
        elif candidate is not None:
            between = [range(low + STEP, high, STEP) for low, high in pairwise(here)]
            sizes += [int(random.choice(steps)) for steps in between if steps]
    return sizes


@dataclass(frozen=True)
class JudgedPoint:
    """A cell, and how its samples begin: in windows or after a barrier."""

    cell: Cell
    mode: str

    def __str__(self) -> str:
        return f"{self.cell.message_bytes} B of {self.cell.datatype} ({self.mode})"


def judged(
    case: RaceCase, settings: dict[str, str], sizes: Sequence[int], pairs: int
) -> dict[JudgedPoint, CandidateRatio]:
    """The file's time over the default's, by point."""
    random = np.random.default_rng(case.seed + 1)
    cells = [
        Cell(case.operation, case.ranks, size, datatype)
        for size, datatype in product(sizes, DATATYPE_BYTES)
    ]
    entries = [RaceEntry(cell, (DEFAULT,)) for cell in cells]
    program = build_program(RACE, str(case.mpi.mpicxx))
    words = () if case.launcher is None else launcher_words(case.launcher)
    without = MpiLauncher(program, case.ranks, words)
    launchers = {True: replace(without, environment=settings), False: without}
    logs: dict[JudgedPoint, list[float]] = defaultdict(list)
    for _ in range(pairs):
        order = [True, False] if random.random() < 0.5 else [False, True]
        seed = int(random.integers(1, 1 << 30))
        results: dict[bool, Result] = {
            is_tuned: launchers[is_tuned].launch(entries, EFFORT, seed) for is_tuned in order
        }
        failures = [result.failure for result in results.values() if result.failure]
        if failures:
            raise SystemExit(f"{case}: a launch failed: {failures[0].reason}")
        for place, cell in enumerate(cells):
            key = (place, DEFAULT.name)
            pair = [results[is_tuned].samples[key].by_mode for is_tuned in (True, False)]
            for mode in pair[0].keys() & pair[1].keys():
                tuned_median, default_median = (float(np.median(samples[mode])) for samples in pair)
                logs[JudgedPoint(cell, mode)].append(math.log(tuned_median / default_median))
    return {point: ratio_over_launches(values, len(logs)) for point, values in logs.items()}


def report(case: RaceCase, ratios: dict[JudgedPoint, CandidateRatio]) -> int:
    """Prints a row, and the points that are slower; how many are."""
    slower = {point: ratio for point, ratio in ratios.items() if ratio.low > SLOWER}
    above = sum(ratio.value > SLOWER for ratio in ratios.values())
    faster = sum(ratio.high < 1.0 for ratio in ratios.values())
    mean = float(np.exp(np.mean([np.log(ratio.value) for ratio in ratios.values()])))
    worst = max(ratio.value for ratio in ratios.values())
    print(
        f"{case}: {len(ratios)} points, mean {mean:.3f}, worst {worst:.3f}; surely faster {faster}, "
        f"above 1.03 {above}, surely {len(slower)}",
        flush=True,
    )
    for point, ratio in slower.items():
        print(f"  {point}: {ratio.value:.3f}, {ratio.low:.3f} to {ratio.high:.3f}")
    return len(slower)


def asked_for() -> argparse.Namespace:
    """The command's options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--operations", default="bcast,allreduce,allgather,alltoall,reduce")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--budget", type=float, default=60.0)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--launcher", help="starts as many ranks as --ranks says")
    parser.add_argument("-o", "--out", type=Path)
    return parser.parse_args()


def main() -> int:
    """All races; 1 where a point is surely slower."""
    arguments = asked_for()
    folder = arguments.out or Path(tempfile.mkdtemp(prefix="tuned-"))
    folder.mkdir(parents=True, exist_ok=True)
    raced_sizes = tuple(map(int, arguments.sizes.split(",")))
    races, without_rule, slower, points = 0, 0, 0, 0
    for seed, operation, ranks, name in product(
        arguments.seeds.split(","),
        arguments.operations.split(","),
        arguments.ranks.split(","),
        arguments.mpi.split(","),
    ):
        case = RaceCase(identify_mpi(name), int(ranks), operation, int(seed), arguments.launcher)
        try:
            measured, out = tuned(case, raced_sizes, arguments.budget, folder)
        except ChiplogError as error:
            print(f"{case}: {error}", flush=True)
            continue
        races += 1
        sizes = sizes_to_judge(measured, np.random.default_rng(case.seed))
        if not sizes:
            without_rule += 1
            print(f"{case}: no rule", flush=True)
            continue
        ratios = judged(case, dict(measured.files.settings(out)), sizes, arguments.pairs)
        points += len(ratios)
        slower += report(case, ratios)
    print(f"{races} races, {without_rule} without a rule; {points} points, surely slower: {slower}")
    return int(slower > 0)


if __name__ == "__main__":
    sys.exit(main())
