"""How often a survey accuses the healthy, and how often it finds what is slow, where the truth is known.

The noise is correlated: each node has a share that lasts and one of the day, each round one of its own, the machine
drifts and changes between two states; single figures have heavy tails and spikes (`Noise` says how much of each).
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from many_runs import LONG, MISTAKE
from scipy.stats import binom
from simulated_survey import QUIET, SimulatedSurvey, SurveyMachine, SurveyNoise

from chiplog.machine_survey.judge.verdict import sweep_verdict
from chiplog.machine_survey.leaves import differences, infer_leaves
from chiplog.machine_survey.pair_values import Isolation, Kind
from chiplog.machine_survey.settings import SETTINGS
from chiplog.machine_survey.slowness_model import fit_pairs

Name = tuple[str, str, str | None, str]
USUAL_NOISE = SurveyNoise()
NODE: Name = ("node", "n0006", None, "both")
UPLINK: Name = ("uplink", "leaf 2", None, "both")
FAULTS: dict[str, tuple[SurveyMachine, set[Name]]] = {
    "a node at -5 %": (SurveyMachine(64, slow_nodes={5: 0.05}), {NODE}),
    "one direction of a link at -10 %": (
        SurveyMachine(64, slow_out={5: 0.1}),
        {("node", "n0006", None, "out")},
    ),
    "an uplink at -10 %": (SurveyMachine(64, slow_uplinks={2: 0.1}), {UPLINK}),
    "a pair at -20 %": (
        SurveyMachine(64, slow_pairs={(3, 60): 0.2}),
        {("pair", "n0004", "n0061", "both")},
    ),
    "100 us more at a node": (
        SurveyMachine(64, kind="latency", late_nodes={5: 1e-4}, within=2e-5, across=4e-5),
        {NODE},
    ),
    "a node and an uplink": (
        SurveyMachine(64, slow_nodes={5: 0.05}, slow_uplinks={2: 0.1}),
        {NODE, UPLINK},
    ),
    "a node, and an uplink that hides it from its leaf": (
        SurveyMachine(64, slow_nodes={5: 0.05}, slow_uplinks={2: 0.1}, uplinks_hide=True),
        {NODE, UPLINK},
    ),
}
LARGE: dict[str, tuple[SurveyMachine, set[Name]]] = {
    "a node at -5 %": (SurveyMachine(1024, slow_nodes={5: 0.05}), {NODE}),
    "one direction of a link at -10 %": (
        SurveyMachine(1024, slow_out={5: 0.1}),
        {("node", "n0006", None, "out")},
    ),
    "a pair at -10 %": (
        SurveyMachine(1024, slow_pairs={(3, 900): 0.1}),
        {("pair", "n0901", "n0004", "both")},
    ),
}
SPARSE: dict[str, tuple[SurveyMachine, set[Name]]] = {
    "a node at -5 %": (SurveyMachine(1024, slow_nodes={5: 0.05}), {NODE}),
    "one direction of a link at -10 %": (
        SurveyMachine(1024, slow_out={5: 0.1}),
        {("node", "n0006", None, "out")},
    ),
}


def accused(
    machine: SurveyMachine, *, sparse: bool, seed: int, noise: SurveyNoise = USUAL_NOISE
) -> set[Name]:
    survey = SimulatedSurvey(machine, noise, seed)
    first = fit_pairs(survey.sparse() if sparse else survey.full(), machine.leaves)
    confirmed = survey.confirmed(first)
    if machine.kind == "bandwidth":
        confirmed = survey.isolated(confirmed)
    verdict = sweep_verdict(confirmed)
    return {(one.kind, one.name, one.peer, one.direction) for one in verdict.accused}


def all_accused(
    pool: ProcessPoolExecutor,
    machine: SurveyMachine,
    sweeps: int,
    *,
    sparse: bool,
    first_seed: int,
    noise: SurveyNoise = USUAL_NOISE,
) -> list[set[Name]]:
    run = partial(_accused_of_seed, machine, sparse, noise)
    return list(
        pool.map(run, range(first_seed, first_seed + sweeps), chunksize=max(1, sweeps // 16))
    )


def _accused_of_seed(
    machine: SurveyMachine, sparse: bool, noise: SurveyNoise, seed: int
) -> set[Name]:
    return accused(machine, sparse=sparse, seed=seed, noise=noise)


def is_possible(times: int, runs: int, probability: float) -> bool:
    """Whether an event of at most this probability happens so often, but for one series in a million."""
    return bool(binom.sf(times - 1, runs, probability) > MISTAKE)


@pytest.mark.parametrize(
    ("nodes", "sparse", "sweeps"),
    [
        (16, False, 1000 if LONG else 20),
        (64, False, 1000 if LONG else 10),
        (1024, True, 1000 if LONG else 2),
    ]
    + ([(1024, False, 100)] if LONG else []),
)
def test_a_healthy_machine_is_rarely_accused(
    pool: ProcessPoolExecutor, nodes: int, sparse: bool, sweeps: int
) -> None:
    machine = SurveyMachine(nodes, 16 if nodes > 16 else 4)
    found = all_accused(pool, machine, sweeps, sparse=sparse, first_seed=50_000)
    false = sum(bool(one) for one in found)
    print(f"{nodes} nodes, sparse={sparse}: {false} of {sweeps} sweeps accused somebody")
    assert is_possible(false, sweeps, SETTINGS.family_error)


# The shortest of some exponential waits is exponential, too: by Student's t one of 60 sweeps accused a pair of latency.
# Bandwidths are measured alone, too.
@pytest.mark.parametrize(
    ("kind", "nodes", "error"),
    [("latency", 32, SETTINGS.family_error / 4), ("bandwidth", 64, SETTINGS.family_error)],
)
@pytest.mark.parametrize("wait", [0.1, 0.3])
def test_waits_on_a_busy_machine_rarely_make_a_slow_pair(
    pool: ProcessPoolExecutor, kind: Kind, nodes: int, error: float, wait: float
) -> None:
    sweeps = 1000 if LONG else 50
    noise = replace(QUIET, wait=wait)
    machine = SurveyMachine(nodes, 8, kind)
    found = all_accused(pool, machine, sweeps, sparse=False, first_seed=70_000, noise=noise)
    false = sum(bool(one) for one in found)
    print(f"{kind}, waits of {wait}: {false} of {sweeps} sweeps accused somebody")
    assert is_possible(false, sweeps, error)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_and_nobody_else_accused(pool: ProcessPoolExecutor, fault: str) -> None:
    _check_power(pool, *FAULTS[fault], sparse=False, sweeps=400 if LONG else 6)


@pytest.mark.skipif(not LONG, reason="takes minutes: make statistics")
@pytest.mark.parametrize("fault", LARGE)
def test_a_fault_of_a_large_machine_is_found(pool: ProcessPoolExecutor, fault: str) -> None:
    _check_power(pool, *LARGE[fault], sparse=False, sweeps=100)


@pytest.mark.parametrize("fault", SPARSE)
def test_ten_matchings_find_a_node(pool: ProcessPoolExecutor, fault: str) -> None:
    _check_power(pool, *SPARSE[fault], sparse=True, sweeps=200 if LONG else 2)


def _check_power(
    pool: ProcessPoolExecutor,
    machine: SurveyMachine,
    truth: set[Name],
    *,
    sparse: bool,
    sweeps: int,
) -> None:
    found = all_accused(pool, machine, sweeps, sparse=sparse, first_seed=70_000)
    missed = sum(not truth <= one for one in found)
    false = sum(bool({one[:2] for one in names} - {one[:2] for one in truth}) for names in found)
    print(f"missed in {missed}, others accused in {false} of {sweeps} sweeps")
    assert is_possible(missed, sweeps, 0.05)
    assert is_possible(false, sweeps, SETTINGS.family_error)


def lost_is_in_interval(leaf_size: int, seed: int) -> bool:
    machine = SurveyMachine(64, leaf_size, slow_uplinks={2: 0.1})
    survey = SimulatedSurvey(machine, USUAL_NOISE, seed)
    first = fit_pairs(survey.full(), machine.leaves)
    confirmed = survey.confirmed(first)
    survey.machine = replace(machine, shares_are_uneven=True)
    uplinks = survey.isolated(confirmed).isolation.uplinks
    isolated = replace(confirmed, isolation=Isolation(uplinks=uplinks))
    (one,) = (one for one in sweep_verdict(isolated).accused if one.kind == "uplink")
    return one.low < -0.1 < one.high


@pytest.mark.parametrize("leaf_size", [4, 8, 16])
def test_the_interval_of_a_slow_uplink_holds_what_it_lost(
    pool: ProcessPoolExecutor, leaf_size: int
) -> None:
    sweeps = 400 if LONG else 6
    held = sum(pool.map(partial(lost_is_in_interval, leaf_size), range(sweeps), chunksize=10))
    print(f"leaves of {leaf_size}: the interval holds it in {held} of {sweeps} sweeps")
    assert is_possible(sweeps - held, sweeps, SETTINGS.family_error)


def miswired_is_named(seed: int) -> bool:
    rng = np.random.default_rng(seed)
    size, leaves = int(rng.choice([4, 8, 16])), int(rng.integers(3, 9))
    factor = float(rng.uniform(1.2, 2))
    machine = SurveyMachine(size * leaves, size, "latency", within=1e-6, across=factor * 1e-6)
    values = SimulatedSurvey(machine, SurveyNoise(), seed).full()
    declared, names = machine.leaves.copy(), tuple(f"leaf{one}" for one in range(leaves))
    wrong = rng.choice(machine.nodes, int(rng.integers(0, 4)), replace=False)
    wrong = wrong[
        np.unique(machine.leaves[wrong], return_index=True)[1]
    ]  # most of a leaf stays where it is
    declared[wrong] = (declared[wrong] + rng.integers(1, leaves, wrong.size)) % leaves
    measured = infer_leaves(values)
    if measured is None:
        return False
    found = {
        (one.node, one.measured) for one in differences(values.nodes, declared, names, measured)
    }
    return found == {(values.nodes[one], names[machine.leaves[one]]) for one in wrong}


def test_miswired_nodes_are_named_in_nearly_all_trees(pool: ProcessPoolExecutor) -> None:
    trees = 1000 if LONG else 40
    wrong = trees - sum(pool.map(miswired_is_named, range(90_000, 90_000 + trees), chunksize=10))
    print(f"{wrong} of {trees} trees wrong")
    assert is_possible(wrong, trees, 0.01)
