"""The profile of LogfP's f, in closed form, against a search by brute force."""

from __future__ import annotations

import numpy as np
import pytest

from chiplog.fitting.one_to_many.profile import Problem, profile


def problem(seed: int, peers: np.ndarray) -> Problem:
    rng = np.random.default_rng(seed)
    overhead = 0.18 + 1.6 / peers
    posting = (peers - 1) * overhead
    rest = 10.0 + np.maximum(posting, (peers - 5) * 1.5) + rng.standard_normal(peers.size)
    return Problem(peers, rng.uniform(0.5, 2.0, peers.size), rest[:, None], posting[:, None])


def brute_force(asked: Problem, f: int) -> float:
    gaps = np.linspace(0.0, 30.0, 60001)[:, None] * np.maximum(asked.peers - f, 0.0)
    target = asked.rest[:, 0] - np.maximum(asked.posting[:, 0], gaps)
    c = np.maximum(target @ asked.weight / asked.weight.sum(), 0.0)
    return float(np.min((target - c[:, None]) ** 2 @ asked.weight))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("peers", [np.arange(1.0, 13.0), np.array([1.0, 2.0, 4.0, 7.0, 12.0])])
def test_the_profile_is_the_least_sum_of_squares_for_every_f(seed: int, peers: np.ndarray) -> None:
    asked = problem(seed, peers)
    found = profile(asked, np.arange(1, 13))
    for index, f in enumerate(found.f.tolist()):
        least = brute_force(asked, f)
        assert found.squares[index, 0] <= least * (1 + 1e-12)
        assert found.squares[index, 0] == pytest.approx(least, rel=1e-3)
    assert np.all(found.c >= 0)
    assert np.all(found.g >= 0)


def test_at_the_most_peers_there_is_no_gap_left() -> None:
    found = profile(problem(1, np.arange(1.0, 9.0)), np.array([8]))
    assert found.waiting[0, 0] == 0
