"""One figure for each pair of nodes, made from the raw samples of a survey's run file.

Nodes may share a CPU, as containers and network namespaces of one machine do. A message between two such nodes wakes
nobody on another CPU, so its latency is another one: 12.6 us, not 26 us, on a machine of two CPUs. That says nothing
of links, leaves or nodes, so latencies are judged without it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from chiplog.dataset.disturbance import header_list
from chiplog.machine_survey.nodes import node_names
from chiplog.machine_survey.plan import AGAIN, ALONE, PAIRS_AGAIN, UPLINK
from chiplog.machine_survey.robust import group_medians
from chiplog.machine_survey.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from chiplog.dataset.series import Dataset, Series

    IntArray = NDArray[np.int64]
    FloatArray = NDArray[np.float64]

Kind = Literal["latency", "bandwidth"]
KINDS: tuple[Kind, ...] = ("bandwidth", "latency")
PATTERN = "all_pairs"
NO_CPU = -1
"""Derived: no number of a CPU."""


@dataclass(frozen=True, slots=True)
class PairValues:
    """One figure for each measured pair of nodes: what a sweep says about latency, or about bandwidth."""

    nodes: tuple[str, ...]
    """The nodes' names, in the order of their numbers."""
    clients: IntArray
    """(m,) node numbers; of bandwidth, the node that sends."""
    servers: IntArray
    """(m,) node numbers; of bandwidth, the node that receives."""
    values: FloatArray
    """(m,) half a round trip in seconds, or bytes a second; above 0; NaN where a pair failed."""
    kind: Kind
    rounds: IntArray
    """(m,) the round in which each was measured."""
    cpus: IntArray | None = None
    """(n,) a number for the CPU that each node is bound to, below 0 without one; None where no two share one."""

    @property
    def share_a_cpu(self) -> NDArray[np.bool_]:
        """Returns (m,) whether the pair's two nodes are bound to one CPU."""
        if self.cpus is None:
            return np.zeros(self.values.shape, dtype=np.bool_)
        client_cpus, server_cpus = self.cpus[self.clients], self.cpus[self.servers]
        return np.asarray((client_cpus == server_cpus) & (client_cpus >= 0))


@dataclass(frozen=True, slots=True)
class Confirmation:
    """Figures of one kind from the second stage: suspects again, beside others."""

    rounds: PairValues
    """Whole rounds of the sweep: of nodes and uplinks."""
    pairs: PairValues | None = None
    """Rounds of suspected pairs, and of others beside them."""


@dataclass(frozen=True, slots=True)
class Isolation:
    """Bandwidths from the third stage: those who are slow beside others, and controls, while nobody else sends."""

    pairs: PairValues | None = None
    """Pairs one after the other; None where none were measured so, as of latencies."""
    uplinks: PairValues | None = None
    """Pairs that fill one uplink in each round; likewise."""


def pair_values(dataset: Dataset, kind: Kind, purpose: str | None = None) -> PairValues:
    """Returns the figures of all pairs that a survey has measured, in the order of its rounds.

    Latency is half the minimum of a pair's round trips; bandwidth the message size over the median of its one-way
    times. Samples of one pair in one direction are pooled over records. `purpose` is the records' tag; by default that
    of the sweep itself, `kind`.
    """
    direction = "round-trip" if kind == "latency" else "one-way"
    pooled: dict[tuple[int, int], list[FloatArray]] = defaultdict(list)
    rounds: dict[tuple[int, int], int] = {}
    message_bytes = 0
    for series in dataset.series:
        if not _is_of(series, purpose or kind, direction):
            continue
        message_bytes = series.message_bytes
        for pair in series.by_pair:
            pooled[pair.client, pair.server].append(pair.seconds)
            rounds.setdefault((pair.client, pair.server), series.round or 0)
    ends = np.array(list(pooled), dtype=np.int64).reshape(-1, 2)
    return PairValues(
        nodes=node_names(dataset.header),
        clients=ends[:, 0],
        servers=ends[:, 1],
        values=_figures(kind, list(pooled.values()), message_bytes),
        kind=kind,
        rounds=np.array(list(rounds.values()), dtype=np.int64),
        cpus=cpus_of_ranks(dataset.header),
    )


def _is_of(series: Series, purpose: str, direction: str) -> bool:
    is_all_pairs = series.pattern == PATTERN and series.direction == direction
    return is_all_pairs and series.tag.get("purpose") == purpose


def _figures(kind: Kind, pooled: Sequence[list[FloatArray]], message_bytes: int) -> FloatArray:
    """Returns (pairs,) the figure of each pair; NaN of one without a sample, or whose time is not above 0."""
    of_pair = [parts[0] if len(parts) == 1 else np.concatenate(parts) for parts in pooled]
    sizes = np.array([samples.size for samples in of_pair], dtype=np.int64)
    seconds = np.concatenate([*of_pair, np.zeros(0)])
    pairs = np.repeat(np.arange(sizes.size), sizes)
    if kind == "latency":
        typical = np.full(sizes.size, np.inf)
        np.minimum.at(typical, pairs, seconds)
        typical = np.where(sizes > 0, typical / 2, np.nan)
    else:
        typical = group_medians(seconds, pairs, sizes.size)
    typical = np.where(typical > 0, typical, np.nan)
    return typical if kind == "latency" else message_bytes / typical


def cpus_of_ranks(header: Mapping[str, object]) -> IntArray | None:
    """Returns (ranks,) a number for the CPU of each bound rank, NO_CPU of others; None where no two share one."""
    kernels, binding = header_list(header.get("kernels")), header_list(header.get("binding"))
    ranks = header.get("ranks")
    if len(kernels) != ranks or len(binding) != ranks:
        return None
    number: dict[tuple[str, str], int] = {}
    cpus = np.full(len(kernels), NO_CPU, dtype=np.int64)
    for rank, (kernel, allowed) in enumerate(zip(kernels, map(header_list, binding), strict=True)):
        if len(allowed) == 1:
            cpus[rank] = number.setdefault((str(kernel), str(allowed[0])), len(number))
    return cpus if len(number) < np.count_nonzero(cpus != NO_CPU) else None


def time_on_one_cpu(sweep: PairValues) -> float:
    """Returns how many times as long latencies of pairs that share a CPU are as others'; 1 where few do, or all.

    By the medians of a sweep.
    """
    shared = sweep.share_a_cpu
    known = np.isfinite(sweep.values)
    on_one_cpu, on_two_cpus = sweep.values[known & shared], sweep.values[known & ~shared]
    if min(on_one_cpu.size, on_two_cpus.size) < SETTINGS.least_on_one_cpu:
        return 1.0
    return float(np.median(on_one_cpu) / np.median(on_two_cpus))


def evened(values: PairValues, times: float) -> PairValues:
    """Returns the latencies as they would be if no two nodes shared a CPU; `times` as `time_on_one_cpu` says."""
    if times == 1:
        return values
    figures: FloatArray = np.where(values.share_a_cpu, values.values / times, values.values)
    return replace(values, values=figures)


def survey_visits(dataset: Dataset) -> list[int]:
    """Returns the numbers of the visits: the first one is the sweep."""
    return sorted({series.visit for series in dataset.series if series.pattern == PATTERN})


def sweep_values(dataset: Dataset, visits: list[int]) -> dict[Kind, PairValues]:
    """Returns the figures of the first one of `visits`, of each kind that was measured in it."""
    sweeps = {kind: _of_visits(dataset, kind, visits[:1]) for kind in KINDS}
    return {kind: sweep for kind, sweep in sweeps.items() if np.isfinite(sweep.values).any()}


def confirmation_values(dataset: Dataset, kind: Kind) -> Confirmation:
    """Returns all figures of a kind after the sweep, but those of the isolation, each time for itself."""
    later = survey_visits(dataset)[1:]
    pairs = _of_visits(dataset, kind, later, (kind + PAIRS_AGAIN,))
    return Confirmation(_of_visits(dataset, kind, later), pairs)


def isolation_values(dataset: Dataset, kind: Kind) -> Isolation:
    """Returns all figures of the isolation; none of latencies."""
    if kind == "latency":
        return Isolation()
    later = survey_visits(dataset)[1:]
    pairs, uplinks = (
        _of_visits(dataset, kind, later, (purpose + AGAIN,)) for purpose in (ALONE, UPLINK)
    )
    return Isolation(pairs, uplinks)


def _of_visits(
    dataset: Dataset, kind: Kind, visits: list[int], purposes: tuple[str, ...] = ()
) -> PairValues:
    """Returns the figures of these visits; rounds are numbered in the order of time, so that drift is seen as such.

    A round trip is the same from either end, so the ends of a latency are put in the order of the nodes: then all
    repeats of a pair count together. Those of nodes that share a CPU are evened.
    """
    parts = []
    first_round = 0
    for visit in visits or [-1]:
        series = tuple(series for series in dataset.series if series.visit == visit)
        for purpose in purposes or (kind, kind + AGAIN):
            part = pair_values(replace(dataset, series=series), kind, purpose)
            rounds = _in_time(part.rounds)
            parts.append(replace(part, rounds=rounds + first_round))
            first_round += int(rounds.max(initial=-1)) + 1
    clients = np.concatenate([pair.clients for pair in parts])
    servers = np.concatenate([pair.servers for pair in parts])
    if kind == "latency":
        clients, servers = np.minimum(clients, servers), np.maximum(clients, servers)
    values = replace(
        parts[0],
        clients=clients,
        servers=servers,
        values=np.concatenate([pair.values for pair in parts]),
        rounds=np.concatenate([pair.rounds for pair in parts]),
    )
    return evened(values, _time_on_one_cpu(dataset)) if kind == "latency" else values


def _time_on_one_cpu(dataset: Dataset) -> float:
    """Returns that ratio by the first visit, whose pairs are not chosen; 1 where no two nodes share a CPU."""
    if cpus_of_ranks(dataset.header) is None:
        return 1.0
    first = min(
        (series.visit for series in dataset.series if series.pattern == PATTERN),
        default=0,
    )
    series = tuple(series for series in dataset.series if series.visit == first)
    return time_on_one_cpu(pair_values(replace(dataset, series=series), "latency"))


def _in_time(rounds: IntArray) -> IntArray:
    """Returns rounds renumbered from 0 in the order in which they appear."""
    _, first, number = np.unique(rounds, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[number.reshape(-1)], dtype=np.int64)
