"""Nodes that share a CPU: their latencies are of another kind, and neither name leaves nor hide or make slow pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from simulated_survey import QUIET, SimulatedSurvey, SurveyMachine

from chiplog.dataset.series import Dataset
from chiplog.machine_survey.judge.verdict import SweepVerdict, sweep_verdict
from chiplog.machine_survey.leaves import infer_leaves
from chiplog.machine_survey.pair_values import (
    Confirmation,
    PairValues,
    cpus_of_ranks,
    evened,
    time_on_one_cpu,
)
from chiplog.machine_survey.result import survey_result
from chiplog.machine_survey.slowness_model import fit_pairs

NODES = 32
IN_TURN = np.arange(NODES) % 2
ON_ONE_CPU = 0.5
LATE = 6


def header(kernels: object, binding: object) -> dict[str, object]:
    return {"ranks": 4, "kernels": kernels, "binding": binding}


@pytest.mark.parametrize(
    ("kernels", "binding", "expected"),
    [
        ([0, 0, 0, 0], [[0], [1], [0], [1]], [0, 1, 0, 1]),
        ([0, 0, 1, 1], [[0], [0], [0], [1]], [0, 0, 1, 2]),
        ([0, 0, 0, 0], [[0], [0], [0, 1], [0, 1]], [0, 0, -1, -1]),
        ([0, 1, 2, 3], [[0], [0], [0], [0]], None),
        ([0, 0, 0, 0], [[0], [1], [2], [3]], None),
        ([0, 0, 0, 0], [[0, 1]] * 4, None),
        (None, [[0]] * 4, None),
        ([0, 0], [[0]] * 4, None),
        ("0000", "0000", None),
        ([0, 0, 0, 0], [0, None, {}, "1"], None),
    ],
)
def test_which_ranks_share_a_cpu(kernels: object, binding: object, expected: object) -> None:
    found = cpus_of_ranks(header(kernels, binding))
    assert (None if found is None else found.tolist()) == expected


class SharedCpus(SimulatedSurvey):
    """A machine of two CPUs, each of which has half of the nodes; between CPUs latencies spread more.

    `late` is what LATE's pairs take longer, whichever their CPUs are.
    """

    def __init__(self, machine: SurveyMachine, spread: float, seed: int, late: float = 0.0) -> None:
        super().__init__(machine, QUIET, seed)
        self.spread = spread
        self.late = late

    def measure(self, clients: object, servers: object, rounds: object) -> PairValues:
        values = super().measure(clients, servers, rounds)  # type: ignore[arg-type]
        values = replace(values, cpus=IN_TURN[: self.machine.nodes])
        woken = np.exp(np.abs(self.rng.normal(0, self.spread, values.values.size)))
        times = np.where(values.share_a_cpu, ON_ONE_CPU, woken)
        of_late = (values.clients == LATE) | (values.servers == LATE)
        return replace(values, values=values.values * times + self.late * of_late)


def judged(machine: SurveyMachine, spread: float, seed: int, late: float = 0.0) -> SweepVerdict:
    survey = SharedCpus(machine, spread, seed, late)
    sweep = survey.full()
    times = time_on_one_cpu(sweep)
    first = fit_pairs(evened(sweep, times), machine.leaves)
    confirmed = survey.confirmed(first)
    fresh = confirmed.confirmation
    assert fresh is not None and fresh.pairs is not None
    confirmation = Confirmation(evened(fresh.rounds, times), evened(fresh.pairs, times))
    return sweep_verdict(replace(confirmed, confirmation=confirmation))


def test_what_sharing_changes_is_taken_out() -> None:
    sweep = SharedCpus(SurveyMachine(NODES, 8, "latency"), 0.05, 1).full()
    assert time_on_one_cpu(sweep) == pytest.approx(ON_ONE_CPU, rel=0.1)
    even = evened(sweep, time_on_one_cpu(sweep))
    shared = sweep.share_a_cpu
    assert np.median(even.values[shared]) == pytest.approx(np.median(even.values[~shared]))
    assert np.array_equal(even.values[~shared], sweep.values[~shared])


def test_few_pairs_that_share_a_cpu_are_left_as_they_are() -> None:
    sweep = SharedCpus(SurveyMachine(NODES, 8, "latency"), 0.05, 1).full()
    two = np.where(np.arange(NODES) < 2, 0, np.arange(NODES))
    assert time_on_one_cpu(replace(sweep, cpus=two)) == 1


def test_cpus_are_no_leaves() -> None:
    sweep = SharedCpus(SurveyMachine(NODES, 8, "latency"), 0.05, 1).full()
    assert infer_leaves(sweep) is not None
    assert infer_leaves(evened(sweep, time_on_one_cpu(sweep))) is None


# By the spread of all pairs, the wide kind would have pairs many standard deviations from the centre.
@pytest.mark.parametrize("seed", range(20))
def test_a_kind_of_pairs_that_spreads_more_accuses_nobody(seed: int) -> None:
    assert judged(SurveyMachine(NODES, 8, "latency"), 0.3, seed).accused == ()


def test_a_slow_pair_of_the_quiet_kind_is_found() -> None:
    machine = SurveyMachine(NODES, 8, "latency", slow_pairs={(3, 13): 0.2})
    (one,) = judged(machine, 0.3, 1).accused
    assert (one.kind, one.name, one.peer) == ("pair", "n0004", "n0014")


# In logarithms, the delay costs the quicker pairs of its CPU more than others, and evening does not change that.
@pytest.mark.parametrize("nodes", [16, NODES])
@pytest.mark.parametrize("seed", range(5))
def test_a_late_node_that_shares_its_cpu_is_accused_and_none_of_its_pairs(
    nodes: int, seed: int
) -> None:
    machine = SurveyMachine(nodes, 4, "latency", within=2e-5, across=2.6e-5)
    (one,) = judged(machine, 0.05, seed, late=1e-4).accused
    assert (one.kind, one.name) == ("node", "n0007")


def test_a_survey_that_was_ended_before_its_first_record_has_no_figures() -> None:
    shared = header([0] * 4, [[0]] * 4) | {"hosts": ["n1", "n2", "n3", "n4"]}
    found = survey_result(Dataset(shared, (), False, "run.jsonl"))
    assert (found.latency, found.bandwidth, found.verdict.accused) == (None, None, ())
