"""Which ranks belong on one node: those whose messages would gain most from the shorter way."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from chiplog.schedule.arrays import SEND, Schedule
from chiplog.simulation.conditions import PairClasses

MOST_RANKS = 512
"""Given: of more ranks the exchange of every two would take minutes."""
ROUNDING = 1e-9
"""Derived: share of a time; times nearer to each other are the same."""
Weights = NDArray[np.float64]
"""By class, rank and rank: the time of all messages between two ranks if the two were of the class."""
Groups = NDArray[np.int64]
"""Of each rank."""


def better_groups(schedule: Schedule, pairs: PairClasses) -> tuple[int, ...] | None:
    """The group of each rank with which messages take least in all, as many ranks in each group as now.

    None where nothing is better, or where there are too many ranks. Groups that launchers make by themselves, blocks
    and turns, are taken where none is better. From these and from groups that are filled with the heaviest pairs, two
    ranks are exchanged as long as that saves time. Source: B. W. Kernighan, S. Lin, "An efficient heuristic procedure
    for partitioning graphs", Bell System Technical Journal 49 (1970).
    """
    if schedule.ranks > MOST_RANKS or len(set(pairs.group_of_rank)) < 2:
        return None
    weights = _weights(schedule, pairs)
    between = np.array(pairs.class_of_groups)
    now = np.array(pairs.group_of_rank)
    plain = [blocks_of(now), turns_of(now)]
    starts = [now, *plain, _filled(weights, between, now)]
    choices = [now, *plain, *(_exchanged(weights, between, start) for start in starts)]
    costs = [_cost(weights, between, groups) for groups in choices]
    least = min(costs) + ROUNDING * costs[0]
    best = next(place for place, cost in enumerate(costs) if cost <= least)
    return tuple(choices[best].tolist()) if best else None


def blocks_of(groups: Groups) -> Groups:
    """The first ranks in the first group, the next ones in the second, and so on."""
    return np.sort(groups)


def turns_of(groups: Groups) -> Groups:
    """Rank after rank in the next group that has room."""
    room = np.bincount(groups)
    turns: list[int] = []
    while len(turns) < groups.size:
        here = np.flatnonzero(room)
        turns += here.tolist()
        room[here] -= 1
    return np.array(turns)


def is_alike(groups: Sequence[int], others: Groups) -> bool:
    """Do both put the same ranks together?"""
    pairs = set(zip(groups, others.tolist(), strict=True))
    return len(pairs) == len(set(groups)) == len(set(others.tolist()))


def _weights(schedule: Schedule, pairs: PairClasses) -> Weights:
    operations = schedule.operations[schedule.operations["kind"] == SEND]
    sizes, place = np.unique(operations["amount"], return_inverse=True)
    weights = np.zeros((len(pairs.classes), schedule.ranks, schedule.ranks))
    for number, protocols in enumerate(pairs.classes):
        firsts = [protocol.first_bytes for protocol in protocols[1:]]
        rows = np.searchsorted(firsts, sizes, side="right").tolist()
        times = [
            protocols[row].one_way_ps_of(size)
            for row, size in zip(rows, sizes.tolist(), strict=True)
        ]
        ends = operations["rank"], operations["peer"]
        np.add.at(weights[number], ends, np.array(times)[place])
        np.fill_diagonal(weights[number], 0.0)
    return weights


def _cost(weights: Weights, between: Groups, groups: Groups) -> float:
    classes = between[np.ix_(groups, groups)]
    return float(np.take_along_axis(weights, classes[np.newaxis], axis=0).sum())


def _filled(weights: Weights, between: Groups, groups: Groups) -> Groups:
    """Each group is filled, one rank after the other, with the rank that gains most from being there."""
    inside, outside = int(between[0, 0]), int(between[0, groups.max()])
    gains = weights[outside] - weights[inside]
    gains = gains + gains.T
    filled = np.full(groups.size, -1)
    for group, size in enumerate(np.bincount(groups).tolist()):
        here = np.zeros(groups.size)
        for _ in range(size):
            is_open = filled < 0
            wanted = here if here.any() else np.where(is_open, gains, 0.0)[:, is_open].sum(axis=1)
            rank = int(np.argmax(np.where(is_open, wanted, -np.inf)))
            filled[rank] = group
            here += gains[rank]
    return filled


def _exchanged(weights: Weights, between: Groups, start: Groups) -> Groups:
    """The best exchange of two ranks, again and again, until none saves time."""
    groups, cost = start.copy(), _cost(weights, between, start)
    while True:
        saved = _saved_by_exchange(weights, between, groups)
        pair = list(divmod(int(np.argmax(saved)), groups.size))
        exchanged = groups.copy()
        exchanged[pair] = groups[pair[::-1]]
        lower = _cost(weights, between, exchanged)
        if not lower < cost * (1.0 - ROUNDING):
            return groups
        groups, cost = exchanged, lower


def _saved_by_exchange(weights: Weights, between: Groups, groups: Groups) -> Weights:
    """How much less all messages take when two ranks change places, shape (ranks, ranks)."""
    ranks = np.arange(groups.size)
    elsewhere = _cost_elsewhere(weights, between, groups)
    move = elsewhere - elsewhere[ranks, groups][:, np.newaxis]
    moves = move[:, groups]
    classes, inside = between[np.ix_(groups, groups)], np.diag(between)[groups]

    def of_class(chosen: Groups) -> Weights:
        both = np.broadcast_to(chosen, classes.shape)[np.newaxis]
        return np.asarray(np.take_along_axis(weights, both, axis=0)[0])

    now, then = of_class(classes), of_class(classes.T)
    rows, columns = of_class(inside[:, np.newaxis]), of_class(inside[np.newaxis])
    together = rows + columns.T + columns + rows.T
    return together - now - now.T - then - then.T - moves - moves.T


def _cost_elsewhere(weights: Weights, between: Groups, groups: Groups) -> Weights:
    """What the messages of each rank take if it alone is in each group, shape (ranks, groups)."""
    is_in = np.eye(len(between))[groups]
    sent, received = weights @ is_in, weights.transpose(0, 2, 1) @ is_in
    others = np.arange(len(between))
    columns = [
        sent[between[group], :, others].sum(axis=0)
        + received[between[:, group], :, others].sum(axis=0)
        for group in others
    ]
    return np.stack(columns, axis=1)
