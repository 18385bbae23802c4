"""What a designer of programs takes from a fit of k pairs: how many processes of a node should send."""

from __future__ import annotations

import math

import numpy as np

from chiplog.fit.pairs.table import PairTable
from chiplog.fit.result import Segment
from chiplog.fit.text import rate_text, sizes_text
from chiplog.models.protocol import Model, points

DOMINATED = 0.5
"""Share of the longest message's time from which on the start-up, not a rate, is what counts."""


def advice(model: Model, segment: Segment, table: PairTable) -> str | None:
    """One sentence about the sizes of `segment`; None for a model that has no rate of the node, or from one k alone.

    `table` holds the points of the segment.
    """
    if "R_N" not in segment.parameters or np.unique(table.pairs).size < 2:
        return None
    sizes = f"Messages of {sizes_text(segment.first_bytes, segment.last_bytes)}"
    most = int(table.pairs.max())
    theta = {
        name: parameter.value
        for name, parameter in segment.parameters.items()
        if parameter.value is not None
    }
    longest = float(model.seconds(points("pairs", segment.last_bytes, pairs=most), theta)[0]) / 2.0
    if theta.get("s0", 0.0) > DOMINATED * longest:
        return (
            f"{sizes}: start-up, not a rate, takes most of the time, up to {most} senders a node; fewer and longer "
            "messages help."
        )
    if "R_N" not in theta:
        return f"{sizes}: up to k = {most} every further sender helps; spread your off-node messages over all of them."
    node = f"they reach the node's {rate_text(theta['R_N'])}"
    if "k_sat" not in theta:
        fewest = int(table.pairs.min())
        return f"{sizes}: already with k = {fewest} {node}; more senders don't help."
    enough = max(1, math.ceil(theta["k_sat"] - 1e-9))
    if enough == 1:
        return f"{sizes}: one sender is enough, more don't help: {node}."
    return (
        f"{sizes}: from k = {enough} on, more senders don't help ({node}); spread your off-node messages over "
        f"{enough} processes of a node."
    )
