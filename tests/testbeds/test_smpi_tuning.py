"""Races of SimGrid's algorithms against the defaults that it copied from Open MPI and MPICH: true times are known.

Times are SMPI's; launches and samples scatter as those of a quiet cluster. What is asserted is about true times:
nothing that a file changes is slower than the default by more than the margin, at sizes that the race never had
either. `pytest -s` prints gains, and the share of the time that trying everything would take. CHIPLOG_TEST_LONG=1
takes 64 and 256 ranks, seven operations and two networks.
"""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from collectives_in_simulation import Machine, candidates, compiled
from needs import require_command
from simulated_race import SimulatedLauncher

from chiplog.tune.measured.choices import SizeVerdict, tuning_of, verdicts
from chiplog.tune.measured.race import Race
from chiplog.tune.measured.raced import RaceOptions
from chiplog.tune.measured.statistics import MARGIN
from chiplog.tune.measured.summary import summarise

LONG = os.environ.get("CHIPLOG_TEST_LONG") == "1"
NETWORKS = {"1 Gbit/s": (125e6, 20e-6), "20 Mbit/s": (2.5e6, 100e-6)}
QUIET_CLUSTER = {
    "launch_sigma": 0.02,
    "drift_sigma": 0.1,
    "noise_sigma": 0.05,
    "outlier_share": 0.01,
}
START_SECONDS = 2.0
SEEDS = range(3) if LONG else range(1)
BLOCKS = ("allgather", "alltoall", "reduce_scatter")
"""Sizes are those of one rank's block, so that the largest is smaller."""
FEW = ("bcast", "reduce", "allreduce", "barrier")
"""Of 256 ranks SMPI simulates these in minutes, not the others."""
CASES = (
    [(8, "bcast", "mpich", "1 Gbit/s"), (8, "allgather", "ompi", "20 Mbit/s")]
    if not LONG
    else [
        (ranks, operation, default, network)
        for ranks in (64, 256)
        for operation in (*FEW, *(BLOCKS if ranks == 64 else ()))
        for default in ("ompi", "mpich")
        for network in NETWORKS
    ]
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    smpicxx = require_command("smpicxx", "libsimgrid-dev")
    return compiled(Path(smpicxx), tmp_path_factory.mktemp("forced"))


def sizes_of(operation: str) -> tuple[int, ...]:
    if operation == "barrier":
        return (1,)
    powers = range(0, 9 if operation in BLOCKS else 11, 1 if LONG else 4)
    return tuple(4**power for power in powers)


def never_measured(found: list[SizeVerdict], random: np.random.Generator) -> list[int]:
    """A size between each two neighbours of a range, held-out ones included."""
    return [
        int(random.integers(one.cell.message_bytes + 1, other.cell.message_bytes))
        for one, other in pairwise(found)
        if one.is_changed
        and other.is_changed
        and one.candidate == other.candidate
        and (one.is_held_out or other.is_held_out)
        and other.cell.message_bytes - one.cell.message_bytes > 1
    ]


@pytest.mark.parametrize(("ranks", "operation", "default", "network"), CASES)
def test_no_choice_is_slower_than_the_default(
    program: Path, tmp_path: Path, ranks: int, operation: str, default: str, network: str
) -> None:
    bandwidth, latency = NETWORKS[network]
    machine = Machine(program, tmp_path, operation, ranks, default, bandwidth, latency)
    for seed in SEEDS:
        launcher = SimulatedLauncher(
            machine.seconds, seed, start_seconds=START_SECONDS, **QUIET_CLUSTER
        )
        options = RaceOptions(operation, (ranks,), sizes_of(operation), 1e9, seed)
        race = Race(
            launcher, candidates(operation, ranks), options, clock=lambda one=launcher: one.seconds
        )
        raced = race.run()
        found = verdicts(raced)
        ratios = {
            one.cell.message_bytes: true_ratio(machine, one, one.cell.message_bytes)
            for one in found
            if one.is_changed
        }
        for size in never_measured(found, np.random.default_rng(seed)):
            before = max(
                (v for v in found if v.cell.message_bytes < size),
                key=lambda v: v.cell.message_bytes,
            )
            ratios[size] = true_ratio(machine, before, size)
        figures = summarise(raced, found)
        print(
            f"\n{operation}, {ranks} ranks, default of {default}, {network}, seed {seed}: "
            f"{figures.changed} of {figures.cells} sizes changed, gain {figures.mean_gain:.2f}, "
            f"slowest choice {max(ratios.values(), default=1.0):.3f} of the default, "
            f"{figures.seconds:.0f} s, {figures.share:.0%} of trying everything"
        )
        assert {size: ratio for size, ratio in ratios.items() if ratio > MARGIN} == {}
        assert len(tuning_of(operation, found).choices) >= len(raced.cells)


def true_ratio(machine: Machine, one: SizeVerdict, size: int) -> float:
    assert one.candidate is not None
    return machine.seconds(one.candidate.name, size) / machine.seconds("default", size)
