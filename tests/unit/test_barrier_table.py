"""The library's barriers, which stand in a native table, are those of the closed forms that predict them."""

from __future__ import annotations

from collections import Counter

import pytest
from prediction import fit_of

from chiplog import _native
from chiplog.collectives.algorithm import Task
from chiplog.collectives.registry import algorithms
from chiplog.schedule.arrays import SEND
from chiplog.tune.choose import choose

US = 1e-6
LOGGP = {"L": 2.5 * US, "o_s": 1.5 * US, "o_r": 1.5 * US, "g": 1 * US, "G": 6e-9}
NAMES = _native.barrier_algorithms()


def native_messages(name: str, ranks: int, peers: int) -> Counter[tuple[int, int]]:
    """How many messages go from which rank to which."""
    return Counter(
        (rank, other)
        for rank in range(ranks)
        for tells, _ in _native.barrier_schedule(name, ranks, rank, peers)
        for other in tells
    )


def predicted_messages(name: str, ranks: int, peers: int) -> Counter[tuple[int, int]]:
    operations = algorithms("barrier")[name].schedule(Task(ranks, peers=peers)).operations
    sends = operations[operations["kind"] == SEND]
    return Counter(zip(sends["rank"].tolist(), sends["peer"].tolist(), strict=True))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("peers", [1, 2, 3, 5])
def test_the_library_sends_the_messages_that_are_predicted(name: str, peers: int) -> None:
    for ranks in (1, 2, 3, 4, 7, 8, 9, 20, 33):
        found = native_messages(name, ranks, peers)
        assert found == predicted_messages(name, ranks, peers), ranks


@pytest.mark.parametrize("name", NAMES)
def test_every_rank_waits_for_the_messages_that_are_sent_to_it(name: str) -> None:
    for ranks in (2, 5, 16):
        heard = Counter(
            (other, rank)
            for rank in range(ranks)
            for _, hears in _native.barrier_schedule(name, ranks, rank, 3)
            for other in hears
        )
        assert heard == native_messages(name, ranks, 3)


def test_numbers_of_peers_worth_a_trial_belong_to_algorithms_that_take_them() -> None:
    for name in NAMES:
        tried = [peers for ranks in (2, 8, 64) for peers in _native.barrier_trials(name, ranks)]
        assert all((peers > 0) == algorithms("barrier")[name].takes_peers for peers in tried), name


def test_all_barriers_of_the_library_are_ranked_and_the_fastest_is_held_against_n_of_1() -> None:
    fit = fit_of("loggp", LOGGP, spread=0.001, last_bytes=1 << 24)
    tuning = choose([fit], "barrier", (8, 64), NAMES, peers=_native.barrier_trials)
    for choice in tuning.choices:
        ranked = {one.algorithm for one in choice.ranking}
        assert ranked == {one for one in NAMES if _native.barrier_trials(one, choice.ranks)}
        assert "combining-tree" in ranked
        times = [one.seconds for one in choice.ranking]
        assert times == sorted(times)
        assert (choice.best, choice.best_peers) == (
            choice.ranking[0].algorithm,
            choice.ranking[0].peers,
        )
        assert choice.baseline == "n-way-dissemination"
        assert choice.baseline_seconds >= times[0]


def test_wrong_arguments_are_refused() -> None:
    for wrong in (("no such", 4, 0, 1), ("linear", 4, 4, 1), ("n-way-dissemination", 4, 0, 0)):
        with pytest.raises(ValueError, match=r"there is no|needs"):
            _native.barrier_schedule(*wrong)
