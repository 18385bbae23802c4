"""The verdict of a survey's run file: of bandwidths and latencies, of the nodes' CPUs and memory, and of the leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from chiplog.json_values import members
from chiplog.machine_survey.judge.evidence import SurveyEvidence
from chiplog.machine_survey.judge.hosts import HostVerdict, judge_hosts, without_explained
from chiplog.machine_survey.judge.verdict import SweepVerdict, sweep_verdict
from chiplog.machine_survey.leaves import (
    Difference,
    Unit,
    declared_leaves,
    differences,
    divided,
    each_in_a_leaf,
    measured_leaves,
    named_leaves,
    shared_nodes,
)
from chiplog.machine_survey.nodes import node_names
from chiplog.machine_survey.pair_values import (
    confirmation_values,
    isolation_values,
    survey_visits,
    sweep_values,
)
from chiplog.machine_survey.slowness_model import fit_pairs
from chiplog.machine_survey.sweep import uplink_fill
from chiplog.machine_survey.topology import leaf_numbers

if TYPE_CHECKING:
    from chiplog.dataset.series import Dataset
    from chiplog.machine_survey.findings import Finding
    from chiplog.machine_survey.leaves import SharedNodes
    from chiplog.machine_survey.pair_values import IntArray, Kind, PairValues
    from chiplog.machine_survey.slowness_model import PairFit
    from chiplog.machine_survey.topology import Topology

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
    hosts: HostVerdict | None = None
    """What each node does alone; None where that was not measured, or of too few nodes."""
    unit: Unit = "leaf"
    """What `leaves` are: where several ranks run on a node, nodes or sockets."""

    def leaf_name(self, number: int) -> str:
        """Returns what a leaf is called."""
        return self.leaf_names[number] if number < len(self.leaf_names) else f"{self.unit} {number}"

    @property
    def accused(self) -> tuple[Finding, ...]:
        """Returns all accused ones; a node or a pair only if no slow CPU or memory of its nodes may explain it."""
        return (*(self.hosts.accused if self.hosts else ()), *self._by_pairs[0])

    @property
    def inconclusive(self) -> tuple[Finding, ...]:
        """Returns all suspects of which nothing is concluded."""
        doubts = tuple(
            finding for verdict in self.verdicts.values() for finding in verdict.inconclusive
        )
        return (*self._by_pairs[1], *doubts)

    @property
    def _by_pairs(self) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
        findings = [finding for verdict in self.verdicts.values() for finding in verdict.accused]
        return without_explained(findings, self.hosts)

    def to_json(self) -> dict[str, Any]:
        """Returns the verdict for scripts; `detectable` on top is that of bandwidths if there are any."""
        detectable = {
            kind: {
                LINK if name == "pair" else name: least
                for name, least in verdict.detectable.items()
            }
            for kind, verdict in self.verdicts.items()
        }
        first = next(iter(detectable.values()), {"node": None, "uplink": None, LINK: None})
        return {
            "detectable": {**first, **detectable, "own": self.hosts and self.hosts.detectable},
            **members(self, "accused", "inconclusive"),
            "topology": {
                **members(self, "leaves", "agrees", "differences"),
            },
        }


def verdict_of_run(dataset: Dataset, topology: Topology | None = None) -> MachineVerdict:
    """Judges a survey; `topology` is the declared one, which the measured leaves are held against.

    Without it, what was declared when the survey began counts. Leaves are those that the pairs show (latency first),
    else the declared ones. UsageError where the topology declares none of the nodes.
    """
    visits = survey_visits(dataset)
    sweeps = sweep_values(dataset, visits)
    shared = shared_nodes(dataset.header)
    leaves = _leaves(dataset, topology, sweeps, shared)
    fits = _fits(sweeps, leaves.numbers)
    verdicts = {
        kind: _verdict(dataset, fit, leaves.names, has_later_visits=len(visits) > 1)
        for kind, fit in fits.items()
    }
    unit: Unit = shared.unit if shared else "leaf"
    count = None
    if leaves.numbers is not None and unit == "leaf":
        count = int(np.unique(leaves.numbers[leaves.numbers >= 0]).size)
    return MachineVerdict(
        verdicts,
        len(visits),
        count,
        leaves.agrees,
        leaves.differences,
        fits,
        leaves.names,
        judge_hosts(dataset),
        unit,
    )


@dataclass(frozen=True, slots=True)
class _Leaves:
    """The leaves by which a survey is judged."""

    numbers: IntArray | None
    """(n,) of each node; None where neither a file nor the pairs show any."""
    names: tuple[str, ...]
    agrees: bool | None = None
    differences: tuple[Difference, ...] = ()


def _leaves(
    dataset: Dataset,
    topology: Topology | None,
    sweeps: dict[Kind, PairValues],
    shared: SharedNodes | None,
) -> _Leaves:
    """Returns the measured leaves, with their declared names and what contradicts these; else the declared ones."""
    nodes = tuple(node_names(dataset.header))
    declared, names = leaf_numbers(topology, nodes) if topology else declared_leaves(dataset)
    measured = measured_leaves(sweeps, shared, declared)
    if shared is not None:
        declared, names = None, shared.names
    if measured is None:
        return _Leaves(declared, names)
    if declared is None:
        return _Leaves(measured, names)
    measured = divided(measured, declared)
    contradictions = differences(nodes, declared, names, measured)
    names_of_measured = named_leaves(measured, declared, names)
    return _Leaves(measured, names_of_measured, not contradictions, contradictions)


def _fits(sweeps: dict[Kind, PairValues], leaves: IntArray | None) -> dict[Kind, PairFit]:
    of_each = None if leaves is None else each_in_a_leaf(leaves)
    return {kind: fit_pairs(values, of_each) for kind, values in sweeps.items()}


def _verdict(
    dataset: Dataset, fit: PairFit, leaf_names: tuple[str, ...], *, has_later_visits: bool
) -> SweepVerdict:
    """Judges one kind of figure; no slow uplink would be found by pairs that did not fill it."""
    kind = fit.values.kind
    evidence = SurveyEvidence(fit)
    if has_later_visits:
        confirmation = confirmation_values(dataset, kind)
        evidence = SurveyEvidence(fit, confirmation, isolation_values(dataset, kind))
    verdict = sweep_verdict(evidence, leaf_names)
    fill = uplink_fill(fit) if kind == "bandwidth" else None
    if fill is None or fill.shows_slow_ones:
        return verdict
    return replace(verdict, detectable={**verdict.detectable, "uplink": None})


def sweep_fits(dataset: Dataset) -> dict[Kind, PairFit]:
    """Returns the fits of the first visit, of each kind, with the leaves that it shows, or the plan's."""
    sweeps = sweep_values(dataset, [0])
    shared = shared_nodes(dataset.header)
    declared = declared_leaves(dataset)[0]
    leaves = measured_leaves(sweeps, shared, declared)
    if leaves is None and shared is None:
        leaves = declared
    return _fits(sweeps, leaves)
