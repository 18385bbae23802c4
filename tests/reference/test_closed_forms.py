"""The closed form of every algorithm is what the simulator says, and never far from it where it is a bound."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from loggops_network import LogGOPSNetwork, LogGOPSProtocol

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.bcast.logp_optimal import tree_costs
from chiplog.collectives.registry import MODULES, algorithms, load
from chiplog.simulation import LogGOPS, simulate

EVERY = [(operation, name) for operation in MODULES for name in algorithms(operation)]
EVERY_RANK = tuple(range(1, 65))
SAMPLED = (65, 100, 127, 128, 129, 192, 255, 256, 257, 300)
SQUARE = {
    ("alltoall", "linear"),
    ("alltoall", "pairwise"),
    ("allgather", "ring"),
    ("allreduce", "ring"),
    ("reduce_scatter", "pairwise"),
    ("reduce_scatter", "ring"),
}
"""Of P² messages: sampled more thinly."""


@dataclass(frozen=True)
class Regime:
    """LogGOPS in nanoseconds and nanoseconds per byte."""

    L: int
    o: int
    g: int
    G: int
    O: int = 0

    def simulated(self) -> LogGOPS:
        return LogGOPS.from_ns(L=self.L, o=self.o, g=self.g, G=self.G, O=self.O)

    def network(self) -> LogGOPSNetwork:
        values = (np.array([float(value)]) for value in (self.L, self.o, self.g, self.G, self.O))
        return LogGOPSNetwork((LogGOPSProtocol(0, *values),))


REGIMES = {
    "golden": Regime(L=2500, o=1500, g=1000, G=6),
    "CPU time per byte": Regime(L=2500, o=1500, g=1000, G=6, O=9),
    "gap above overhead": Regime(L=5000, o=1000, g=2000, G=1),
    "gap above a message's way": Regime(L=5000, o=4000, g=21000, G=1),
    "no latency": Regime(L=0, o=1500, g=1000, G=6),
}


def simulated_ns(algorithm: Algorithm, task: Task, regime: Regime) -> float:
    schedule = algorithm.schedule(task)
    return simulate(schedule, regime.simulated()).makespan_ps / 1000


def closed_form_ns(algorithm: Algorithm, task: Task, regime: Regime) -> float:
    seconds = algorithm.seconds(task, regime.network())
    assert seconds.shape == (1,)
    return float(seconds[0])


def task_of(regime: Regime, ranks: int, message_bytes: int) -> Task:
    costs = tree_costs(regime.network(), message_bytes)
    return Task(ranks, message_bytes, peers=3, segment_bytes=300, dimensions=3, costs=costs)


@pytest.mark.parametrize("regime", REGIMES.values(), ids=REGIMES)
@pytest.mark.parametrize(("operation", "name"), EVERY)
def test_the_closed_form_is_the_simulated_time(operation: str, name: str, regime: Regime) -> None:
    algorithm = load(operation, name)
    few = (operation, name) in SQUARE
    for ranks in (*range(1, 25), 32, 63, 64, 128) if few else (*EVERY_RANK, *SAMPLED):
        for message_bytes in (1, 960):
            task = task_of(regime, ranks, message_bytes)
            if not (algorithm.accepts(task) and algorithm.exact(task)):
                continue
            found = closed_form_ns(algorithm, task, regime)
            assert found == pytest.approx(simulated_ns(algorithm, task, regime), rel=1e-12), task


@pytest.mark.parametrize("message_bytes", [1, 960, 1_000_000])
@pytest.mark.parametrize("regime", REGIMES.values(), ids=REGIMES)
def test_messages_to_one_rank_are_served_one_after_the_other(
    regime: Regime, message_bytes: int
) -> None:
    """Each further sender of a linear gather costs the receiver's CPU time or its NIC's gap, whichever is longer."""
    rest = message_bytes - 1
    cpu = regime.o + rest * max(regime.O, regime.G)
    step = max(cpu, regime.g + rest * regime.G)
    gather = load("gather", "linear")
    for ranks in (2, 3, 9, 64):
        expected = regime.o + regime.L + (ranks - 2) * step + cpu
        task = task_of(regime, ranks, message_bytes)
        assert simulated_ns(gather, task, regime) == pytest.approx(expected, rel=1e-12)
        assert closed_form_ns(gather, task, regime) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("regime", REGIMES.values(), ids=REGIMES)
def test_a_linear_alltoall_is_no_faster_than_its_receivers(regime: Regime) -> None:
    """Every rank is the target of P - 1 messages at once."""
    alltoall, gather = load("alltoall", "linear"), load("gather", "linear")
    for ranks in (2, 9, 32):
        task = task_of(regime, ranks, 10_000)
        simulated = simulated_ns(alltoall, task, regime)
        assert simulated >= simulated_ns(gather, task, regime)
        assert closed_form_ns(alltoall, task, regime) == pytest.approx(simulated, rel=1e-12)


BOUNDED = [
    ("barrier", "recursive-doubling"),
    ("bcast", "chain"),
    ("bcast", "scatter-allgather"),
    ("allreduce", "recursive-doubling"),
    ("allreduce", "ring"),
    ("allreduce", "rabenseifner"),
    ("reduce_scatter", "recursive-halving"),
    ("reduce_scatter", "pairwise"),
    ("scan", "recursive-doubling"),
]


@pytest.mark.parametrize("regime", REGIMES.values(), ids=REGIMES)
@pytest.mark.parametrize(("operation", "name"), BOUNDED)
def test_where_the_closed_form_is_a_bound_it_is_one(
    operation: str, name: str, regime: Regime
) -> None:
    """Shares of a message are rounded up to whole bytes, each of which may cost G or O in each step."""
    algorithm, seen = load(operation, name), 0
    for ranks in (3, 5, 6, 7, 12, 23, 33, 48, 65):
        for message_bytes in (13, 960):
            task = task_of(regime, ranks, message_bytes)
            if algorithm.exact(task):
                continue
            seen += 1
            rounded = 2 * ranks * max(regime.G, regime.O) * (ranks.bit_length() + 1)
            found = closed_form_ns(algorithm, task, regime)
            simulated = simulated_ns(algorithm, task, regime)
            assert 0.4 * simulated < found <= simulated + rounded, task
    assert seen > 5


@pytest.mark.parametrize(("operation", "name"), EVERY)
def test_a_closed_form_keeps_draws_apart(operation: str, name: str) -> None:
    """Each draw's time is what a network of that draw alone gives."""
    one, other = REGIMES["golden"], REGIMES["gap above overhead"]
    pairs = (
        np.array([float(getattr(one, symbol)), float(getattr(other, symbol))])
        for symbol in ("L", "o", "g", "G", "O")
    )
    both = LogGOPSNetwork((LogGOPSProtocol(0, *pairs),))
    task = replace(task_of(one, 32, 960), message_bytes=960)
    algorithm = load(operation, name)
    found = algorithm.seconds(task, both)
    assert found[0] == pytest.approx(closed_form_ns(algorithm, task, one), rel=1e-12)
    if name != "logp-optimal":  # whose tree the first draw shapes
        assert found[1] == pytest.approx(closed_form_ns(algorithm, task, other), rel=1e-12)
