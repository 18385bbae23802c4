"""LoP's latencies over the number of peers, L(p) and L_list(p), from round trips and post times of the same p.

    L(p) = RTT(p)/2 - o(p) - o(1)          L_list(p) = RTT(p)/2 - p o(p) - o(1)

They are those of all p messages; the paper prints them with RTT(p)/p in place of RTT(p) (`chiplog.models.lop_paper`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from chiplog.fit.one_to_many.observed import ObservedToMany
from chiplog.fit.predictions.predictor import Predictor, measured_curve
from chiplog.fit.quantities.quantity import Quantity
from chiplog.fit.result import Curve
from chiplog.models.lop_paper import latency, list_latency
from chiplog.models.protocol import Model, points

Array = NDArray[np.float64]
_Derive = Callable[..., Array]

LATENCIES: dict[str, _Derive] = {
    "L_over_peers": latency,
    "L_list_over_peers": list_latency,
    "L_printed_over_peers": partial(latency, paper_literal=True),
    "L_list_printed_over_peers": partial(list_latency, paper_literal=True),
}
"""The curves of latencies by their quantity."""


def latency_curves(model: Model, observed: ObservedToMany, predict: Predictor) -> Iterator[Curve]:
    """The latencies at every p of which round trip and post time were measured; none without o(1).

    What a model without post times predicts is made with the measured ones.
    """
    totals, posts = observed.round_trips, observed.overheads
    peers = np.intersect1d(totals.peers, posts.peers)
    if 1 not in posts.peers or not peers.size:
        return
    p = peers.astype(np.float64)
    of_trips, of_posts = np.isin(totals.peers, peers), np.isin(posts.peers, peers)
    trips, overheads = _with_draws(totals.quantity)[of_trips], _with_draws(posts.quantity)
    first, overheads = overheads[posts.peers == 1][0], overheads[of_posts]
    size = observed.message_bytes
    predicted_trips = predict(points("one_to_many", size, peers=peers)) / p
    predicted_overheads, predicted_first = overheads[:, 0], first[0]
    if "send_overhead" in model.patterns:
        counts = np.concatenate(([1], peers))
        of_model = predict(points("send_overhead", size, peers=counts)) / counts
        predicted_overheads, predicted_first = of_model[1:], of_model[0]
    samples = np.minimum(totals.quantity.samples[of_trips], posts.quantity.samples[of_posts])
    for name, derive in LATENCIES.items():
        table = derive(p[:, None], trips / p[:, None], overheads, first)
        measured = Quantity(
            name,
            np.full(peers.shape, size, dtype=np.int64),
            table[:, 0],
            table[:, 1:].std(axis=1),
            table[:, 1:],
            totals.quantity.series | posts.quantity.series,
            samples,
            is_difference=True,
        )
        predicted = derive(p, predicted_trips, predicted_overheads, predicted_first)
        yield replace(measured_curve(measured), predicted_seconds=predicted, peers=peers)


def _with_draws(quantity: Quantity) -> Array:
    """Value and draws side by side, shape (peers, 1 + draws)."""
    return np.column_stack((quantity.value, quantity.draws))
