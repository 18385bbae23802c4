"""What pairs that share nodes say of a spread, against simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from chiplog.machine_survey.robust import shared_ends

COMPLETE = np.array(list(itertools.combinations(range(4), 2))).T


def test_disjoint_pairs_count_fully() -> None:
    assert shared_ends(np.arange(12), np.arange(12, 24)) == pytest.approx((1.0, 1.0))


@pytest.mark.parametrize("ends", [COMPLETE, np.concatenate((COMPLETE, COMPLETE + 4), axis=1)])
def test_pairs_that_share_nodes_spread_more_than_they_seem_to(ends: np.ndarray) -> None:
    nodes = np.random.default_rng(1).normal(0, 1, (50_000, 8))
    seen = (nodes[:, ends[0]] + nodes[:, ends[1]]).var(axis=1, ddof=1)
    wider, independent = shared_ends(*ends)
    assert wider**2 * seen.mean() == pytest.approx(2.0, rel=0.03)
    freedom = 2 * seen.mean() ** 2 / seen.var()
    assert independent * (ends.shape[1] - 1) == pytest.approx(freedom, rel=0.05)
