"""n* of the n-way dissemination barrier: the few candidates hold the best of all n, at every number of ranks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from prediction import fit_of

from chiplog.collectives.algorithm import Task
from chiplog.collectives.barrier.n_way_dissemination import last_peers, round_count
from chiplog.collectives.registry import load
from chiplog.fitting.result import Fit
from chiplog.models.lop_paper import identifiable
from chiplog.prediction.n_way import (
    best_peers,
    best_peers_exhaustively,
    candidates,
    ragged_candidates,
)
from chiplog.prediction.predict import speaker_for

US = 1e-6
MOST_RANKS = 1024
RDMA = identifiable((16.7937, 0.0058, 4.4642, 4.4751, -0.0642, 12.9209))
LOP = fit_of("lop", {k: v * US if k in ("C", "l1", "A") else v for k, v in RDMA.items()})
LOGFP = fit_of("logfp", {"L": 5 * US, "g": 5 * US, "f": 7, "o_min": 0.18 * US, "o_max": 1.6 * US})


def one_round(fit: Fit) -> Callable[[int], float]:
    """The time of one round with n peers, asked of the model itself."""
    barrier = load("barrier", "n-way-dissemination")
    space = speaker_for([fit], [barrier], Task(2)).space([(barrier, Task(2))])
    middle = np.full((1, len(space.symbols)), 0.5)

    def seconds(n: int) -> float:
        return float(space.seconds(barrier, Task(n + 1, peers=n), middle, False)[0, 0])

    return seconds


def logp_round(n: int) -> float:
    return 2.5 + 2 * 1.5 + (n - 1) * 1.5


def check_all_ranks(seconds: Callable[[int], float]) -> None:
    times = np.array([seconds(n) for n in range(1, MOST_RANKS)])
    for ranks in range(2, MOST_RANKS + 1):
        rounds = np.array([round_count(ranks, n) for n in range(1, ranks)])
        every = rounds * times[: ranks - 1]
        best = best_peers(ranks, lambda n, all_n=every: all_n[n - 1])  # type: ignore[misc]
        assert every[best - 1] == pytest.approx(every.min(), rel=1e-12)
        assert best == 1 + int(np.flatnonzero(every <= every.min() * (1 + 1e-12))[0])
        assert len(candidates(ranks)) <= (ranks - 1).bit_length()


@pytest.mark.parametrize("fit", [LOP, LOGFP], ids=lambda fit: fit.model)
def test_the_candidates_hold_the_best_of_all_n_from_2_to_1024_ranks(fit: Fit) -> None:
    check_all_ranks(one_round(fit))


def test_under_logp_too() -> None:
    """R (L + 2 o + (n-1) max(g, o)), from 2 to 1024 ranks."""
    check_all_ranks(logp_round)


@settings(max_examples=60, deadline=None)
@example(ranks=13, L=13.0, o=4.0, g=8.0)
@given(
    ranks=st.integers(2, 40),
    L=st.floats(0.1, 100),
    o=st.floats(0.05, 5),
    g=st.floats(0.05, 10),
)
def test_under_the_closed_form_of_logp_no_other_n_is_faster(
    ranks: int, L: float, o: float, g: float
) -> None:
    """It follows each message, so a last round with fewer peers counts as what it is."""
    fit = fit_of("logp", {"L": L * US, "o_s": o * US, "o_r": o * US, "g": g * US})
    barrier = load("barrier", "n-way-dissemination")
    speaker = speaker_for([fit], [barrier], Task(ranks))
    known: dict[int, float] = {}

    def seconds(n: int) -> float:
        if n not in known:
            known[n] = float(speaker.seconds(barrier, Task(ranks, peers=n))[0])
        return known[n]

    best = seconds(best_peers(ranks, seconds))
    assert best == pytest.approx(seconds(best_peers_exhaustively(ranks, seconds)), rel=1e-9)


def test_the_candidates_are_the_smallest_n_for_each_number_of_rounds_and_of_last_peers() -> None:
    for ranks in range(2, 200):
        smallest: dict[tuple[int, int], int] = {}
        for n in range(1, ranks):
            smallest.setdefault((round_count(ranks, n), last_peers(ranks, n)), n)
        assert ragged_candidates(ranks) == sorted(smallest.values())
