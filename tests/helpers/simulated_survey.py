"""Sweeps of a machine that does not exist: faults that are known, and noise that is correlated as real noise is."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from chiplog.machine_survey.choice import pair_rounds, pairs_to_isolate, uplinks_to_isolate
from chiplog.machine_survey.judge.evidence import SurveyEvidence
from chiplog.machine_survey.judge.verdict import to_isolate
from chiplog.machine_survey.pair_values import Confirmation, Isolation, PairValues
from chiplog.machine_survey.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from chiplog.machine_survey.pair_values import FloatArray, IntArray, Kind
    from chiplog.machine_survey.rounds import Pairs
    from chiplog.machine_survey.slowness_model import PairFit


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyNoise:
    """What a pair's figure varies by; each is the standard deviation of a logarithm unless it says otherwise."""

    pair: float = 0.02
    node: float = 0.003
    """What healthy nodes differ by, for good."""
    node_today: float = 0.003
    """What a node's figures share within one measurement."""
    round: float = 0.01
    spike_share: float = 0.003
    """The share of figures that are slower by a factor of 1.1 to 10."""
    drift: float = 0.02
    """How much the machine slows down from the first round to the last."""
    slow_share: float = 0.2
    """The share of the time that the machine spends in a slower state."""
    slow_state: float = 0.05
    tail: float = 4.0
    """Degrees of freedom of the t distribution that a pair's noise has."""
    wait: float = 0.0
    """The mean of what a busy machine adds to a figure, exponentially distributed."""


QUIET = SurveyNoise(
    pair=0.01,
    node=0.001,
    node_today=0.001,
    round=0.0,
    spike_share=0.0,
    drift=0.0,
    slow_share=0.0,
    slow_state=0.0,
    tail=1e3,
)


@dataclass(frozen=True, slots=True)
class SurveyMachine:
    """Nodes in leaves of one size; faults are slowness: 0.05 makes a bandwidth 5 % smaller."""

    nodes: int
    leaf_size: int = 16
    kind: Kind = "bandwidth"
    slow_nodes: Mapping[int, float] = field(default_factory=dict)
    slow_out: Mapping[int, float] = field(default_factory=dict)
    slow_uplinks: Mapping[int, float] = field(default_factory=dict)
    slow_pairs: Mapping[tuple[int, int], float] = field(default_factory=dict)
    late_nodes: Mapping[int, float] = field(default_factory=dict)
    """Seconds that each message to or from a node takes more; of latency only."""
    uplinks_hide: bool = False
    """Whether a slow uplink is all that the pairs across it show, as where it is full."""
    shares_are_uneven: bool = False
    """Whether the pairs of a round share a slow uplink unevenly."""
    within: float = 1e9
    """The figure of a pair within a leaf, in bytes a second or in seconds."""
    across: float = 1e9

    @property
    def leaves(self) -> IntArray:
        """(n,) the leaf of each node."""
        return np.arange(self.nodes, dtype=np.int64) // self.leaf_size


def matchings(nodes: int) -> tuple[IntArray, IntArray, IntArray]:
    """Clients, servers and rounds of all pairs, once each, by the circle method; an odd node rests a round."""
    even = nodes + nodes % 2
    steps, places = np.meshgrid(np.arange(even - 1), np.arange(even // 2), indexing="ij")
    one = np.where(places == 0, even - 1, (steps + places) % (even - 1))
    other = (steps - places) % (even - 1)
    turn = (
        np.random.default_rng(0).random(steps.shape) < 0.5
    )  # each is client about as often as server
    clients, servers = np.where(turn, one, other), np.where(turn, other, one)
    kept = (clients < nodes) & (servers < nodes)
    return clients[kept], servers[kept], steps[kept]


def sparse_matchings(
    nodes: int, count: int, rng: np.random.Generator
) -> tuple[IntArray, IntArray, IntArray]:
    """Clients, servers and rounds of that many random matchings; of an odd number one node rests each time."""
    order = np.array([rng.permutation(nodes)[: nodes // 2 * 2] for _ in range(count)])
    return (
        order[:, ::2].reshape(-1),
        order[:, 1::2].reshape(-1),
        np.repeat(np.arange(count), nodes // 2),
    )


def uneven_times(pairs: int, share: float, rng: np.random.Generator) -> FloatArray:
    """(pairs,) when each is done that takes 1 alone, where a link gives them `share` of what they would take together.

    Each gets as much as a weight of its own says, and at most what it can take; who is done leaves the others more.
    """
    weights, left = rng.uniform(0.5, 2, pairs), np.ones(pairs)
    done, now = np.zeros(pairs), 0.0
    while (left > 0).any():
        rates = _rates(np.where(left > 0, weights, 0.0), share * pairs)
        step = float(np.min(left[rates > 0] / rates[rates > 0]))
        now += step
        ends = (left > 0) & (left - rates * step < 1e-9)
        left = np.where(ends, 0.0, left - rates * step)
        done[ends] = now
    return done


def _rates(weights: FloatArray, total: float) -> FloatArray:
    """What each takes of `total` by its weight, at most 1 each."""
    full = np.zeros(weights.size, dtype=bool)
    while True:
        free = (weights > 0) & ~full
        rest = max(0.0, total - full.sum())
        rates = np.where(free, weights * rest / max(weights[free].sum(), 1e-300), full * 1.0)
        over = free & (rates > 1)
        if not over.any():
            return rates
        full |= over


class SimulatedSurvey:
    """A machine whose healthy differences stay while it is measured as often as one likes."""

    def __init__(self, machine: SurveyMachine, noise: SurveyNoise, seed: int) -> None:
        self.machine = machine
        self.noise = noise
        self.rng = np.random.default_rng(seed)
        self.lasting = self.rng.normal(0, noise.node, machine.nodes)
        self.names = tuple(f"n{one + 1:04d}" for one in range(machine.nodes))

    def full(self) -> PairValues:
        """A sweep of all pairs."""
        return self.measure(*matchings(self.machine.nodes))

    def sparse(self, count: int = 10) -> PairValues:
        """A sweep of random matchings."""
        return self.measure(*sparse_matchings(self.machine.nodes, count, self.rng))

    def confirmed(self, first: PairFit) -> SurveyEvidence:
        """A sweep with its confirmation: rounds, repeats and directions as `chiplog survey` takes them."""
        known = np.unique(first.values.rounds)
        drawn = self.rng.choice(known, min(SETTINGS.confirmation_rounds, known.size), replace=False)
        ends_of = np.stack((first.values.clients, first.values.servers))
        chosen = [ends_of[:, first.values.rounds == number] for number in drawn.tolist()]
        suspected = pair_rounds(first, random.Random(int(self.rng.integers(2**31))))
        parts = [*chosen, *(np.array(pairs, dtype=np.int64).T for pairs in suspected)]
        ends: list[IntArray] = []
        for visit in range(2 * SETTINGS.repeats):
            for place, number in enumerate(self.rng.permutation(len(parts)).tolist()):
                pair = parts[number] if (visit + number) % 2 else parts[number][::-1]
                when = np.full(pair.shape[1], visit * len(parts) + place)
                is_suspected = np.full(pair.shape[1], number >= len(chosen))
                ends.append(np.concatenate((pair, [when, is_suspected])))
        clients, servers, rounds, of_pairs = np.concatenate(ends, axis=1)
        values = self.measure(clients, servers, rounds)
        confirmation = Confirmation(_some(values, of_pairs == 0), _some(values, of_pairs == 1))
        return SurveyEvidence(first, confirmation)

    def isolated(self, confirmed: SurveyEvidence) -> SurveyEvidence:
        """The same with who is slow in both measurements, and controls, in isolation."""
        first, slow = confirmed.sweep, to_isolate(confirmed)
        shuffle = random.Random(int(self.rng.integers(2**31)))
        pairs = self._repeated(pairs_to_isolate(first, slow.nodes, slow.pairs, shuffle))
        uplinks = self._repeated(uplinks_to_isolate(first, slow.uplinks, shuffle))
        return replace(confirmed, isolation=Isolation(pairs, uplinks))

    def _repeated(self, parts: list[Pairs]) -> PairValues:
        """Each part five times in each direction."""
        ends = [np.zeros((3, 0), dtype=np.int64)]
        for visit in range(2 * SETTINGS.repeats):
            for place, pairs in enumerate(parts):
                pair = np.array(pairs, dtype=np.int64).T
                one, other = pair if visit % 2 else pair[::-1]
                ends.append(np.stack((one, other, np.full(one.size, visit * len(parts) + place))))
        return self.measure(*np.concatenate(ends, axis=1))

    def measure(self, clients: IntArray, servers: IntArray, rounds: IntArray) -> PairValues:
        """The figures of these pairs in these rounds."""
        machine = self.machine
        crossing = machine.leaves[clients] != machine.leaves[servers]
        base = np.where(crossing, machine.across, machine.within)
        slow = self._faults(clients, servers, rounds, crossing)
        slow += self._noise(clients, servers, rounds)
        values = base * np.exp(slow if machine.kind == "latency" else -slow)
        for node, seconds in machine.late_nodes.items():
            values = values + seconds * ((clients == node) | (servers == node))
        return PairValues(self.names, clients, servers, values, machine.kind, rounds)

    def _faults(
        self, clients: IntArray, servers: IntArray, rounds: IntArray, crossing: NDArray[np.bool_]
    ) -> FloatArray:
        machine = self.machine
        slow = np.zeros(clients.size)
        for node, how_much in machine.slow_nodes.items():
            slow += -np.log1p(-how_much) * ((clients == node) | (servers == node))
        for node, how_much in machine.slow_out.items():
            slow += -np.log1p(-how_much) * (clients == node)
        for leaf, how_much in machine.slow_uplinks.items():
            touched = (machine.leaves[clients] == leaf) | (machine.leaves[servers] == leaf)
            if machine.uplinks_hide:
                slow[crossing & touched] = 0.0
            cost = -np.log1p(-how_much) * (crossing & touched)
            slow += self._uneven(cost, rounds) if machine.shares_are_uneven else cost
        for (one, other), how_much in machine.slow_pairs.items():
            there = (clients == one) & (servers == other)
            back = (clients == other) & (servers == one)
            slow += -np.log1p(-how_much) * (there | back)
        return slow

    def _uneven(self, cost: FloatArray, rounds: IntArray) -> FloatArray:
        """What each pair is slower by, where those of a round that cost something share a link unevenly."""
        slower = cost.copy()
        for number in np.unique(rounds[cost > 0]).tolist():
            places = np.flatnonzero((rounds == number) & (cost > 0))
            share = float(np.exp(-cost[places].max()))
            slower[places] = np.log(uneven_times(places.size, share, self.rng))
        return slower

    def _noise(self, clients: IntArray, servers: IntArray, rounds: IntArray) -> FloatArray:
        noise, rng, pairs = self.noise, self.rng, clients.size
        _, number = np.unique(rounds, return_inverse=True)
        number = number.reshape(-1)
        count = int(number.max(initial=0)) + 1
        today = self.lasting + rng.normal(0, noise.node_today, self.machine.nodes)
        single = (
            rng.standard_t(noise.tail, pairs) * noise.pair / np.sqrt(noise.tail / (noise.tail - 2))
        )
        spikes = np.log(rng.uniform(1.1, 10, pairs)) * (rng.random(pairs) < noise.spike_share)
        state = noise.slow_state * _slow_rounds(count, noise.slow_share, rng)
        of_round = rng.normal(0, noise.round, count) + state
        of_round += np.linspace(0, noise.drift, count)
        waits = rng.exponential(noise.wait, pairs) if noise.wait else 0.0
        return np.asarray(
            today[clients] + today[servers] + single + spikes + of_round[number] + waits
        )


def _some(values: PairValues, kept: NDArray[np.bool_]) -> PairValues:
    return replace(
        values,
        clients=values.clients[kept],
        servers=values.servers[kept],
        values=values.values[kept],
        rounds=values.rounds[kept],
    )


def _slow_rounds(count: int, share: float, rng: np.random.Generator) -> FloatArray:
    """(count,) 1 in the rounds of a slower state, which comes in stretches of about a tenth of the run."""
    stretch = max(1, count // 10)
    starts = rng.random(count // stretch + 1) < share
    return np.repeat(starts, stretch)[:count].astype(np.float64)
