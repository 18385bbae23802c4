"""Published and hand-checked figures of the simulator: L=2500 o=1500 g=1000 G=6 O=0 ns, S=65535 B throughout."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from chiplog.collectives.algorithm import Task, TreeCosts
from chiplog.collectives.registry import load
from chiplog.simulation import LogGOPS, simulate

L, o, g, G = 2500, 1500, 1000, 6
PARAMETERS = LogGOPS.from_ns(L=L, o=o, g=g, G=G, O=0, S_bytes=65535)


def finish_ns(operation: str, name: str, task: Task) -> list[float]:
    return (simulate(load(operation, name).schedule(task), PARAMETERS).finish_ps / 1000).tolist()


def test_a_dissemination_barrier_of_16_ranks_takes_22000_ns() -> None:
    assert finish_ns("barrier", "dissemination", Task(16)) == [22000] * 16


def test_a_binomial_reduce_of_1024_bytes_over_8_ranks_ends_as_loggopsim_says() -> None:
    expected = [34914, 24776, 13138, 13138, 1500, 1500, 1500, 1500]
    assert finish_ns("reduce", "binomial", Task(8, 1024)) == expected


def test_a_binomial_broadcast_of_131072_ranks_takes_17_levels_although_17_sends_are_ready_at_once() -> (
    None
):
    assert max(finish_ns("bcast", "binomial", Task(131072))) == 93500


def test_an_allreduce_by_recursive_doubling_of_256_ranks_ends() -> None:
    assert finish_ns("allreduce", "recursive-doubling", Task(256)) == [8 * (L + 2 * o)] * 256


GOLDEN_ROUNDS = {
    64: [6, 4, 3, 3, 3, 3, 2, 2],
    100: [7, 5, 4, 3, 3, 3, 3, 3],
    1000: [10, 7, 5, 5, 4, 4, 4, 4],
    17: [5, 3, 3, 2, 2, 2, 2, 2],
}


@pytest.mark.parametrize("ranks", GOLDEN_ROUNDS)
def test_n_way_dissemination_takes_the_golden_number_of_rounds(ranks: int) -> None:
    """Where L hides the other receives, every round takes L + 2 o + (n - 1) max(o, g)."""
    patient = LogGOPS.from_ns(L=100_000, o=150, g=100, G=0)
    for peers, rounds in enumerate(GOLDEN_ROUNDS[ranks], start=1):
        schedule = load("barrier", "n-way-dissemination").schedule(Task(ranks, peers=peers))
        rests = simulate(schedule, patient).makespan_ps / 100_000_000
        assert int(rests) == rounds


@pytest.mark.parametrize(("ranks", "peers"), [(125, 4), (216, 5)])
def test_exact_powers_take_no_round_too_many(ranks: int, peers: int) -> None:
    patient = LogGOPS.from_ns(L=100_000, o=150, g=100, G=0)
    schedule = load("barrier", "n-way-dissemination").schedule(Task(ranks, peers=peers))
    finish = simulate(schedule, patient).finish_ps.tolist()
    assert finish == [3 * (100_000 + 2 * 150 + (peers - 1) * 150) * 1000] * ranks


def levels(ranks: int) -> int:
    return (ranks - 1).bit_length()


ClosedForm = Callable[[int, int], int]
ONE_WAY = L + 2 * o
ANY_RANKS = (*range(1, 40), 100, 255, 256, 257, 300)
POWERS_OF_TWO = (1, 2, 4, 8, 16, 32, 64, 128, 256)

CLOSED_FORMS: dict[tuple[str, str], tuple[tuple[int, ...], ClosedForm]] = {
    ("barrier", "dissemination"): (ANY_RANKS, lambda P, wire: levels(P) * (ONE_WAY + wire)),
    ("barrier", "double-ring"): (
        ANY_RANKS,
        lambda P, wire: 2 * P * (ONE_WAY + wire) if P > 1 else 0,
    ),
    ("bcast", "linear"): (
        ANY_RANKS,
        lambda P, wire: (P - 2) * max(o, g + wire) + ONE_WAY + wire if P > 1 else 0,
    ),
    ("allgather", "ring"): (ANY_RANKS, lambda P, wire: (P - 1) * (ONE_WAY + wire)),
    ("alltoall", "pairwise"): (ANY_RANKS, lambda P, wire: (P - 1) * (ONE_WAY + wire)),
    ("reduce", "binomial"): (POWERS_OF_TWO, lambda P, wire: levels(P) * (ONE_WAY + wire)),
}
"""By the number of ranks P and (s - 1) G; with the numbers of ranks for which the form holds."""


@pytest.mark.parametrize("key", CLOSED_FORMS)
@pytest.mark.parametrize("message_bytes", [1, 200])
def test_the_closed_form_is_what_the_simulation_says(
    key: tuple[str, str], message_bytes: int
) -> None:
    sizes, form = CLOSED_FORMS[key]
    for ranks in sizes:
        found = max(finish_ns(*key, Task(ranks, message_bytes)))
        assert found == form(ranks, (message_bytes - 1) * G), ranks


def test_no_tree_is_faster_than_the_logp_optimal_one() -> None:
    costs = TreeCosts(between_sends=max(o, g), until_received=L + 2 * o)
    for ranks in range(2, 200):
        best = max(finish_ns("bcast", "logp-optimal", Task(ranks, costs=costs)))
        for name in ("linear", "binomial"):
            assert best <= max(finish_ns("bcast", name, Task(ranks)))
