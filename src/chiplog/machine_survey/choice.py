"""What is measured again after the sweep: suspects and healthy nodes beside others, then who is slow in isolation.

Some whole rounds of the sweep are measured, in which each node meets others, so all healthy nodes are controls; and
rounds of the suspected pairs, of which hundreds fit into one. So how many rounds there are does not grow with the
machine. Nodes and pairs that are slow in them follow one pair after the other, and slow uplinks each filled by itself,
with controls: only then it shows whether they are slow alone.
"""

from __future__ import annotations

import random
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

import numpy as np

from chiplog.machine_survey.judge.evidence import SurveyEvidence
from chiplog.machine_survey.judge.verdict import to_isolate
from chiplog.machine_survey.machine_verdict import sweep_fits
from chiplog.machine_survey.pair_values import confirmation_values
from chiplog.machine_survey.plan import confirmation_requests, isolation_requests
from chiplog.machine_survey.settings import SETTINGS
from chiplog.machine_survey.sweep import suspects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chiplog.dataset.series import Dataset
    from chiplog.machine_survey.plan import Sweep
    from chiplog.machine_survey.rounds import Pairs
    from chiplog.machine_survey.slowness_model import PairFit
    from chiplog.machine_survey.sweep import Suspects
    from chiplog.plan.request import Request


def choose_confirmation(dataset: Dataset, sweep: Sweep) -> tuple[Request, ...]:
    """Returns the requests that follow on those of `sweep`, whose first visit is in `dataset`.

    The same samples and options give the same requests, so that an interrupted confirmation can be resumed.
    """
    drawn = random.Random(sweep.options.seed).sample(
        range(len(sweep.rounds)), min(SETTINGS.confirmation_rounds, len(sweep.rounds))
    )
    chosen: dict[str, list[int]] = {}
    pairs: dict[str, list[Pairs]] = {}
    shuffle = random.Random(sweep.options.seed)
    for kind, fit in sweep_fits(dataset).items():
        in_time = _rounds_in_time(dataset, kind)
        chosen[kind] = [in_time[place] for place in drawn if place < len(in_time)]
        pairs[kind] = pair_rounds(fit, shuffle)
    return confirmation_requests(sweep, chosen, pairs)


def choose_isolation(dataset: Dataset, sweep: Sweep, first_number: int) -> tuple[Request, ...]:
    """Returns the requests that follow on all others, which are in `dataset`; none where nobody's bandwidth is slow.

    The same samples and options give the same requests, numbered from `first_number` on.
    """
    fit = sweep_fits(dataset).get("bandwidth")
    if fit is None:
        return ()
    slow = to_isolate(SurveyEvidence(fit, confirmation_values(dataset, "bandwidth")))
    shuffle = random.Random(sweep.options.seed)
    parts = pairs_to_isolate(fit, slow.nodes, slow.pairs, shuffle)
    uplinks = uplinks_to_isolate(fit, slow.uplinks, shuffle)
    return isolation_requests(sweep, parts, uplinks, first_number)


def _rounds_in_time(dataset: Dataset, purpose: str) -> list[int]:
    """Returns the rounds of the sweep, in the order in which they were measured."""
    of_sweep = (series for series in dataset.series if series.visit == 0 and series.by_pair)
    return list(
        dict.fromkeys(
            series.round
            for series in of_sweep
            if series.tag.get("purpose") == purpose and series.round is not None
        )
    )


def pair_rounds(fit: PairFit, shuffle: random.Random) -> list[Pairs]:
    """Returns rounds of the suspected pairs, the worst first; nodes that are left over make other pairs, at random.

    None where no pair is a suspect, and at most as many as SETTINGS.most_confirmation_rounds leaves.
    """
    suspected = [(client, server) for client, server in suspects(fit).pairs.tolist()]
    known = {frozenset(pair) for pair in suspected}
    usable = fit.usable
    nodes = np.union1d(fit.values.clients[usable], fit.values.servers[usable]).tolist()
    rounds = []
    for part in _disjoint(suspected)[
        : SETTINGS.most_confirmation_rounds - SETTINGS.confirmation_rounds
    ]:
        busy = {node for pair in part for node in pair}
        free = [node for node in nodes if node not in busy]
        shuffle.shuffle(free)
        others = zip(free[::2], free[1::2], strict=False)
        rounds.append((*part, *(pair for pair in others if frozenset(pair) not in known)))
    return rounds


def pairs_to_isolate(
    fit: PairFit,
    slow_nodes: Sequence[int],
    slow_pairs: Sequence[tuple[int, int]],
    shuffle: random.Random,
) -> list[Pairs]:
    """Returns pairs to measure one after the other: the first of the slow ones, and others drawn at random beside them.

    Slow nodes have healthy partners: of other leaves, or of their own where its uplink is suspected. Suspected uplinks
    are avoided. Controls are of the classes of the slow ones. Each part is of disjoint pairs. There are none where
    nobody is slow.
    """
    if not slow_nodes and not slow_pairs:
        return []
    suspicions = suspects(fit)
    suspected = {*slow_pairs, *map(tuple, suspicions.pairs.tolist())}
    others = _other_pairs(fit, suspicions, suspected)
    suspicious = {*suspicions.nodes.tolist(), *slow_nodes}
    leaves = fit.leaves.tolist()
    wanted = list(slow_pairs[: SETTINGS.most_isolated_pairs])
    for node in slow_nodes[: SETTINGS.most_isolated_nodes]:
        partners = _partners(fit, suspicions, suspicious, node)
        drawn = shuffle.sample(partners, min(SETTINGS.partners, len(partners)))
        wanted += [(node, partner) for partner in drawn]
    classes = {leaves[client] == leaves[server] for client, server in wanted}
    controls = []
    for is_within in classes:
        alike = [pair for pair in others if (leaves[pair[0]] == leaves[pair[1]]) == is_within]
        most = SETTINGS.isolated_controls // len(classes)
        controls += shuffle.sample(alike, min(most, len(alike)))
    return _disjoint([*wanted, *controls])


def _partners(fit: PairFit, suspicions: Suspects, suspicious: set[int], node: int) -> list[int]:
    """Returns the nodes that a slow one may be paired with: healthy ones of the other leaves, or of its leaf."""
    leaves = fit.leaves.tolist()
    seen = np.union1d(fit.values.clients[fit.usable], fit.values.servers[fit.usable]).tolist()
    healthy = [partner for partner in seen if partner not in suspicious]
    stays_in_leaf = leaves[node] in suspicions.uplinks  # which must not be taken for the node
    partners = [
        partner for partner in healthy if (leaves[partner] == leaves[node]) == stays_in_leaf
    ]
    if stays_in_leaf and len(partners) < SETTINGS.least_partners:  # all in doubt: most are healthy
        partners = [
            partner for partner in seen if leaves[partner] == leaves[node] and partner != node
        ]
    partners = partners or healthy
    clear = [
        partner
        for partner in partners
        if stays_in_leaf or leaves[partner] not in suspicions.uplinks
    ]
    return clear if len(clear) >= SETTINGS.partners else partners


def _other_pairs(
    fit: PairFit, suspicions: Suspects, suspected: set[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Returns pairs that nothing speaks against; across suspected uplinks only where there are few others."""
    clients, servers = fit.values.clients[fit.usable], fit.values.servers[fit.usable]
    pairs = zip(clients.tolist(), servers.tolist(), strict=True)
    slow_leaves = set(suspicions.uplinks.tolist())
    bad = set(suspicions.nodes.tolist())
    others = sorted({pair for pair in pairs if not bad & set(pair)} - suspected)
    leaves = fit.leaves.tolist()
    clear = [pair for pair in others if not slow_leaves & {leaves[node] for node in pair}]
    return clear if len(clear) >= 2 * SETTINGS.isolated_controls else others


def _disjoint(pairs: Sequence[tuple[int, int]]) -> list[Pairs]:
    parts: list[list[tuple[int, int]]] = []
    for pair in pairs:
        free = (part for part in parts if not set(pair) & {end for busy in part for end in busy})
        part = next(free, None)
        if part is None:
            parts.append([pair])
        else:
            part.append(pair)
    return [tuple(part) for part in parts]


def uplinks_to_isolate(
    fit: PairFit, slow_uplinks: Sequence[int], shuffle: random.Random
) -> list[Pairs]:
    """Returns rounds that each fill one leaf's uplink: of the slow ones, the worst first, and of some healthy ones.

    The leaf's nodes are the clients; their partners are healthy nodes of as many other leaves as there are. A leaf is
    left out where there are too few of these to fill its uplink. There are none where no healthy leaf can be measured.
    """
    suspected_parts = suspects(fit)
    members = _members(fit)
    suspected = {*suspected_parts.uplinks.tolist(), *slow_uplinks}
    suspected_nodes = set(suspected_parts.nodes.tolist())
    healthy = {
        leaf: [node for node in nodes if node not in suspected_nodes]
        for leaf, nodes in members.items()
        if leaf not in suspected
    }
    slow = [
        _filling(leaf, members[leaf], healthy, shuffle)
        for leaf in slow_uplinks[: SETTINGS.most_isolated_uplinks]
    ]
    others = [leaf for leaf, nodes in healthy.items() if len(nodes) >= SETTINGS.least_of_leaf]
    drawn = shuffle.sample(others, len(others))
    controls = [_filling(leaf, healthy[leaf], healthy, shuffle) for leaf in drawn]
    known = [pairs for pairs in controls if pairs][: SETTINGS.control_leaves]
    return [*filter(None, slow), *known] if known and any(slow) else []


def _members(fit: PairFit) -> dict[int, list[int]]:
    """Returns the nodes of each leaf that have pairs."""
    ends = np.union1d(fit.values.clients[fit.usable], fit.values.servers[fit.usable])
    leaves = fit.leaves[ends]
    return {leaf: ends[leaves == leaf].tolist() for leaf in np.unique(leaves).tolist()}


def _filling(
    leaf: int, nodes: list[int], healthy: dict[int, list[int]], shuffle: random.Random
) -> Pairs:
    """Returns all nodes of a leaf with partners spread over other leaves; () where these are too few."""
    others = [shuffle.sample(ends, len(ends)) for other, ends in healthy.items() if other != leaf]
    shuffle.shuffle(others)
    partners = [node for node in chain.from_iterable(zip_longest(*others)) if node is not None]
    return (
        tuple(zip(nodes, partners, strict=False))
        if len(partners) >= SETTINGS.full_uplink * len(nodes)
        else ()
    )
