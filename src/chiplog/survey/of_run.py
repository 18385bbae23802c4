"""The verdict of a survey's run file: its first visit is the sweep, the later ones are the second measurement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from chiplog.survey.leaves import (
    Difference,
    SharedNodes,
    Unit,
    differences,
    divided,
    infer_leaves,
    shared_nodes,
)
from chiplog.survey.nodes import node_names
from chiplog.survey.own import OwnVerdict, own_verdict, without_explained
from chiplog.survey.pair_values import (
    PATTERN,
    Kind,
    PairValues,
    SecondMeasurement,
    cpus_of_ranks,
    evened,
    pair_values,
    time_on_one_cpu,
)
from chiplog.survey.plan import AGAIN, ALONE, PAIRS_AGAIN, UPLINK, stored_leaves
from chiplog.survey.topology import UNDECLARED, Topology, leaf_numbers
from chiplog.survey.uplinks import UplinkFill, uplink_fill
from chiplog.survey.verdict import Finding, SweepVerdict, confirmed, fit_pairs

if TYPE_CHECKING:
    from chiplog.dataset.series import Dataset
    from chiplog.survey.pair_fit import PairFit
    from chiplog.survey.pair_values import IntArray

KINDS: tuple[Kind, ...] = ("bandwidth", "latency")
LINK = "link"
"""What scripts call the detectable effect of a single pair."""


@dataclass(frozen=True, slots=True)
class MachineVerdict:
    """What a survey says of the machine: of bandwidths and of latencies, of its nodes alone, and of its leaves."""

    verdicts: dict[Kind, SweepVerdict]
    visits: int
    """How often each pair was measured: with one visit nobody is accused."""
    leaves: int | None
    """The number of leaves; None where neither a file nor the pairs show any, and where ranks share nodes."""
    agrees: bool | None
    """Whether the declared leaves are the measured ones; None where one of both is missing."""
    differences: tuple[Difference, ...]
    fits: dict[Kind, PairFit]
    """The fit of the sweep, of each kind that was measured."""
    leaf_names: tuple[str, ...] = ()
    """The declared names of the leaves, by number."""
    own: OwnVerdict | None = None
    """What each node does alone; None where that was not measured, or of too few nodes."""
    unit: Unit = "leaf"
    """What `leaves` are: where several ranks run on a node, nodes or sockets."""

    def leaf_name(self, number: int) -> str:
        """What a leaf is called."""
        return self.leaf_names[number] if number < len(self.leaf_names) else f"{self.unit} {number}"

    @property
    def accused(self) -> tuple[Finding, ...]:
        """All accused ones; a node or a pair only if no slow CPU or memory of its own may explain it."""
        return (*(self.own.accused if self.own else ()), *self._by_pairs[0])

    @property
    def inconclusive(self) -> tuple[Finding, ...]:
        """All suspects of which nothing is concluded."""
        doubts = tuple(
            finding for verdict in self.verdicts.values() for finding in verdict.inconclusive
        )
        return (*self._by_pairs[1], *doubts)

    @property
    def _by_pairs(self) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
        findings = [finding for verdict in self.verdicts.values() for finding in verdict.accused]
        return without_explained(findings, self.own)

    def to_json(self) -> dict[str, Any]:
        """The verdict for scripts; `detectable` on top is that of bandwidths if there are any."""
        detectable = {
            kind: {
                LINK if name == "pair" else name: least
                for name, least in verdict.detectable.items()
            }
            for kind, verdict in self.verdicts.items()
        }
        first = next(iter(detectable.values()), {"node": None, "uplink": None, LINK: None})
        return {
            "detectable": {**first, **detectable, "own": self.own and self.own.detectable},
            "accused": [finding_json(finding) for finding in self.accused],
            "inconclusive": [finding_json(finding) for finding in self.inconclusive],
            "topology": {
                "leaves": self.leaves,
                "agrees": self.agrees,
                "differences": [asdict(difference) for difference in self.differences],
            },
        }


def finding_json(finding: Finding) -> dict[str, Any]:
    """A finding for scripts; ends of its interval that are unknown are None."""
    bounds = {"low": finding.low, "high": finding.high}
    known = {name: value if np.isfinite(value) else None for name, value in bounds.items()}
    return {**asdict(finding), **known}


def verdict_of_run(dataset: Dataset, topology: Topology | None = None) -> MachineVerdict:
    """Judges a survey; `topology` is the declared one, which the measured leaves are held against.

    Without it, what was declared when the survey began counts. Leaves are those that the pairs show (latency first),
    else the declared ones. UsageError where the topology declares none of the nodes.
    """
    visits = sorted({series.visit for series in dataset.series if series.pattern == PATTERN})
    known = _first_visit(dataset, visits)
    nodes = tuple(node_names(dataset.header))
    declared, names = leaf_numbers(topology, nodes) if topology else declared_leaves(dataset)
    shared = shared_nodes(dataset.header)
    measured = _measured_leaves(known, shared, declared)
    contradictions: tuple[Difference, ...] = ()
    agrees = None
    if shared is not None:
        declared, names = None, shared.names
    if declared is not None and measured is not None:
        measured = divided(measured, declared)
        contradictions = differences(nodes, declared, names, measured)
        agrees = not contradictions
        measured, names = _named(measured, declared, names)
    leaves = measured if measured is not None else declared
    verdicts = {}
    fits = {}
    for kind, sweep in known.items():
        again = measured_again(dataset, kind) if len(visits) > 1 else None
        fits[kind] = fit_pairs(sweep, None if leaves is None else _each_its_own(leaves))
        verdicts[kind] = confirmed(fits[kind], again, names)
        if kind == "bandwidth":
            verdicts[kind] = _of_full_uplinks(verdicts[kind], uplink_fill(fits[kind]))
    unit: Unit = shared.unit if shared else "leaf"
    count = None
    if leaves is not None and unit == "leaf":
        count = int(np.unique(leaves[leaves >= 0]).size)
    own = own_verdict(dataset)
    return MachineVerdict(
        verdicts, len(visits), count, agrees, contradictions, fits, names, own, unit
    )


def _of_full_uplinks(verdict: SweepVerdict, fill: UplinkFill | None) -> SweepVerdict:
    """The same, but no slow uplink would be found by pairs that did not fill it."""
    if fill is None or fill.shows_slow_ones:
        return verdict
    return replace(verdict, detectable={**verdict.detectable, "uplink": None})


def sweep_fits(dataset: Dataset) -> dict[Kind, PairFit]:
    """The fits of the first visit, of each kind that was measured, with the leaves that it shows, or the plan's."""
    known = _first_visit(dataset, [0])
    shared = shared_nodes(dataset.header)
    declared = declared_leaves(dataset)[0]
    leaves = _measured_leaves(known, shared, declared)
    if leaves is None and shared is None:
        leaves = declared
    of_each = None if leaves is None else _each_its_own(leaves)
    return {kind: fit_pairs(values, of_each) for kind, values in known.items()}


def declared_leaves(dataset: Dataset) -> tuple[IntArray | None, tuple[str, ...]]:
    """(n,) the leaf of each node that was declared when the survey began, or None, and the leaves' names by number."""
    plan = dataset.header.get("plan")
    if not isinstance(plan, Mapping):
        return None, ()
    leaves, names = stored_leaves(plan, len(node_names(dataset.header)), dataset.source)
    return (None, ()) if leaves is None else (np.array(leaves, dtype=np.int64), names or ())


def measured_again(dataset: Dataset, kind: Kind) -> SecondMeasurement:
    """All figures of a kind after the sweep, each time for itself."""
    later = sorted({series.visit for series in dataset.series if series.pattern == PATTERN})[1:]
    alone, uplinks = (
        _sweep(dataset, kind, later, (purpose + AGAIN,)) if kind == "bandwidth" else None
        for purpose in (ALONE, UPLINK)
    )
    pairs = _sweep(dataset, kind, later, (kind + PAIRS_AGAIN,))
    return SecondMeasurement(_sweep(dataset, kind, later), pairs, alone, uplinks)


def _first_visit(dataset: Dataset, visits: list[int]) -> dict[Kind, PairValues]:
    sweeps = {kind: _sweep(dataset, kind, visits[:1]) for kind in KINDS}
    return {kind: sweep for kind, sweep in sweeps.items() if np.isfinite(sweep.values).any()}


def _sweep(
    dataset: Dataset, kind: Kind, visits: list[int], purposes: tuple[str, ...] = ()
) -> PairValues:
    """The figures of these visits; rounds are numbered in the order of time, so that drift is seen as such.

    A round trip is the same from either end, so the ends of a latency are put in the order of the nodes: then all
    repeats of a pair count together. Those of nodes that share a CPU are evened.
    """
    parts = []
    first_round = 0
    for visit in visits or [-1]:
        series = tuple(one_series for one_series in dataset.series if one_series.visit == visit)
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
    """By the first visit, whose pairs are not chosen; 1 where no two nodes share a CPU."""
    if cpus_of_ranks(dataset.header) is None:
        return 1.0
    first = min(
        (one_series.visit for one_series in dataset.series if one_series.pattern == PATTERN),
        default=0,
    )
    series = tuple(one_series for one_series in dataset.series if one_series.visit == first)
    return time_on_one_cpu(pair_values(replace(dataset, series=series), "latency"))


def _in_time(rounds: IntArray) -> IntArray:
    """Rounds renumbered from 0 in the order in which they appear."""
    _, first, number = np.unique(rounds, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[number.reshape(-1)], dtype=np.int64)


def _measured_leaves(
    known: dict[Kind, PairValues], shared: SharedNodes | None, declared: IntArray | None
) -> IntArray | None:
    """(n,) the leaf of each node as the pairs show it; where ranks share nodes, the node of each rank.

    Bandwidths may be as large between leaves as within, so they divide what was declared, and unite nothing.
    """
    if shared is not None and shared.numbers is not None:
        return shared.numbers
    for kind in ("latency", "bandwidth"):
        if kind in known:
            leaves = infer_leaves(known[kind])
            if leaves is not None and declared is not None and kind == "bandwidth":
                return divided(leaves, declared)
            if leaves is not None:
                return leaves
    return None


def _named(
    measured: IntArray, declared: IntArray, names: tuple[str, ...]
) -> tuple[IntArray, tuple[str, ...]]:
    """The measured leaves, with the declared names by number where most of a leaf's nodes have one."""
    named = []
    for number in range(int(measured.max(initial=-1)) + 1):
        declared_here = declared[(measured == number) & (declared != UNDECLARED)]
        named.append(
            names[np.bincount(declared_here).argmax()] if declared_here.size else f"leaf {number}"
        )
    return measured, tuple(named)


def _each_its_own(leaves: IntArray) -> IntArray:
    """Leaves in which each node of unknown leaf has one of its own."""
    unknown = np.flatnonzero(leaves < 0)
    result = leaves.copy()
    result[unknown] = int(leaves.max(initial=-1)) + 1 + np.arange(unknown.size)
    return result
