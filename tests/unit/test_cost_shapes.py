"""The quick ways to a closed form give to the last bit what following each message gives."""

from __future__ import annotations

import numpy as np
import pytest

from chiplog.collectives.cost_shapes import (
    burst,
    levels,
    run_combine,
    shared_binomial_release,
)
from chiplog.collectives.costs import Message, Rank, Seconds
from chiplog.collectives.shapes import distances, tree_edges

US = 1e-6
DRAWS = 50


def costs(seed: int, factor: float = 1.0) -> Message:
    """Five costs of some microseconds, shape (DRAWS,)."""
    rng = np.random.default_rng(seed)
    send, gap, way, receive, lead = rng.uniform(0.0, 5.0 * US * factor, (5, DRAWS))
    return Message(send, gap, way, receive, np.minimum(lead, np.minimum(gap, way)))


def followed_burst(message: Message, count: int, draw: int) -> float:
    """When one draw's CPU is free, message by message."""
    send, gap, way, receive, lead = (
        float(np.broadcast_to(one, DRAWS)[draw])
        for one in (
            message.send_busy,
            message.gap,
            message.way,
            message.receive_busy,
            message.lead,
        )
    )
    cpu = send_nic = receive_nic = 0.0
    arrivals: list[float] = []
    received = 0
    while received < count:
        send_at = max(cpu, send_nic) if len(arrivals) < count else np.inf
        arrival = arrivals[received] if received < len(arrivals) else np.inf
        receive_at = max(cpu, receive_nic + lead, arrival)
        if send_at <= receive_at:
            arrivals.append(send_at + way)
            cpu, send_nic = send_at + send, send_at + gap
        else:
            cpu, receive_nic = receive_at + receive, receive_at + gap - lead
            received += 1
    return cpu


@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_a_burst_is_followed_message_by_message_in_each_draw(count: int) -> None:
    message = costs(count)
    found = burst(message, count, Rank()).free
    assert found.tolist() == [followed_burst(message, count, draw) for draw in range(DRAWS)]


@pytest.mark.parametrize("ranks", [2, 3, 8, 11, 100])
@pytest.mark.parametrize("late_run", [None, 2])
def test_a_tree_of_runs_hears_its_children_as_they_come(ranks: int, late_run: int | None) -> None:
    """With `late_run`, one child's blocks come after those of larger runs, in some draws."""

    def blocks(run: int) -> Message:
        return costs(run, 50.0 if run == late_run else 1.0 + run / 4.0)

    def root(count: int) -> Rank:
        runs = [min(1 << i, count - (1 << i)) for i in range(levels(count))]
        arrivals: list[Seconds] = [root(run).send(blocks(run))[1] for run in runs]
        return Rank().receive_all([blocks(run) for run in runs], arrivals)

    assert run_combine(blocks, ranks).tolist() == root(ranks).free.tolist()


@pytest.mark.parametrize("ranks", [*range(1, 40), 63, 64, 65, 100])
def test_sends_that_share_the_network_all_end_with_the_last_one_of_their_rank(ranks: int) -> None:
    """Followed down the tree: a rank's children, however many, have the message at the same time."""
    message = costs(ranks)
    children: dict[int, list[int]] = {rank: [] for rank in range(ranks)}
    for distance in distances(ranks):
        parents, others = tree_edges(ranks, distance)
        for parent, child in zip(parents, others, strict=True):
            children[int(parent)].append(int(child))
    has_it = {0: np.zeros(DRAWS)}
    for rank in range(ranks):  # a parent's number is below its children's
        for child in children[rank]:
            later = (len(children[rank]) - 1) * message.between_sends
            has_it[child] = has_it[rank] + message.one_way + later
    last = np.maximum.reduce(list(has_it.values()))
    np.testing.assert_allclose(shared_binomial_release(message, ranks), last, rtol=1e-12)
