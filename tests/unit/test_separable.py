"""Curves that are linear in most parameters: the searches of all replicates at once end where single ones do."""

from __future__ import annotations

import numpy as np

from chiplog.fitting.one_to_many.separable import SeparableCurve, replicates, solve

PEERS = np.arange(1.0, 33.0)
ERROR = np.full(PEERS.size, 0.01)


def curve() -> SeparableCurve:
    def basis(nonlinear: np.ndarray) -> np.ndarray:
        decay = np.exp(nonlinear)
        return np.stack(np.broadcast_arrays(1.0, np.exp(-PEERS / decay)), axis=-1)

    bounds = np.log([0.1]), np.log([1e3])
    return SeparableCurve(basis, np.log([[1.0], [8.0], [64.0]]), *bounds)


def draws(count: int) -> np.ndarray:
    exact = 2.0 + 3.0 * np.exp(-PEERS / 6.0)
    return exact[:, None] + 0.01 * np.random.default_rng(0).standard_normal((PEERS.size, count))


def test_replicates_end_where_a_search_of_each_alone_does() -> None:
    values = draws(20)
    best = solve(curve(), values[:, 0], ERROR)
    found = replicates(curve(), best, values, ERROR, np.random.default_rng(0))
    alone = [solve(curve(), value, ERROR) for value in values.T]
    # None of the draws gets more noise: the best fit's residuals are as small as the errors say.
    expected = np.array([np.concatenate((one.nonlinear, one.linear)) for one in alone]).T
    assert found.shape == (3, 20)
    np.testing.assert_allclose(found, expected, rtol=2e-3)


def test_a_replicate_never_leaves_its_bounds_nor_has_a_negative_part() -> None:
    flat = np.full((PEERS.size, 5), 2.0) - 0.3 * np.exp(-PEERS / 6.0)[:, None]
    best = solve(curve(), draws(1)[:, 0], ERROR)
    found = replicates(curve(), best, flat, ERROR, np.random.default_rng(0))
    assert np.all(found[1:] >= 0.0)
    assert np.all((found[0] >= np.log(0.1)) & (found[0] <= np.log(1e3)))
