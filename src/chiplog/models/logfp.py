"""LogfP: LogP for one process to many, where the first f messages are free of the gap.

    o(p)   = o_min + o_max/p                                              so o(1) = o_min + o_max
    RTT(p) = 2L + p o(p) + o(1)                                           p <= f
    RTT(p) = 2L + o(p) + o(1) + max((p-1) o(p), (p-f) g)                  p > f

RTT(p) is the total of p messages and their answers. It is continuous at f, and its second branch equals the first up to
P* = (f g + o_max - o_min)/(g - o_min), approximately: only beyond P* do times tell f and g. The model is one of RDMA,
where the receiver's CPU has no part; for send and receive, 2 o_r is added.

At several sizes, s bytes make L and g longer by (s-1) G, o(p) by (s-1) O_s and o_r by (s-1) O_r.

Source: T. Hoefler, T. Mehlan, F. Mietke, W. Rehm, "LogfP - a model for small messages in InfiniBand", PMEO-PDS 2006.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chiplog.models.colours import GREEN
from chiplog.models.protocol import Model, ParameterSpec, Points, Theta, payload_steps

Seconds = NDArray[np.float64]


def overhead(sends: ArrayLike, theta: Theta, message_bytes: ArrayLike = 1) -> Seconds:
    """`o(p) = o_min + o_max/p` in seconds, shape of `sends`."""
    per_byte = payload_steps(message_bytes) * theta.get("O_s", 0.0)
    return np.asarray(
        theta["o_min"] + theta["o_max"] / np.asarray(sends, dtype=np.float64) + per_byte
    )


def _gaps(peers: ArrayLike, steps: ArrayLike, theta: Theta) -> Seconds:
    """`(p-f) g` in seconds, 0 up to f; `steps` are s - 1 bytes."""
    waiting = np.maximum(np.asarray(peers, dtype=np.float64) - theta["f"], 0.0)
    return np.asarray(waiting * (theta["g"] + np.asarray(steps) * theta.get("G", 0.0)))


def _one_to_many(points: Points, theta: Theta) -> Seconds:
    p, size = points.peers.astype(np.float64), points.message_bytes
    steps = payload_steps(size)
    o = overhead(p, theta, size)
    network = theta["L"] + steps * theta.get("G", 0.0)
    receive = theta.get("o_r", 0.0) + steps * theta.get("O_r", 0.0)
    ends = 2.0 * (network + receive) + o + overhead(1, theta, size)
    posting = (p - 1.0) * o
    if "f" not in theta or "g" not in theta:
        return np.asarray(ends + posting)
    return np.asarray(ends + np.maximum(posting, _gaps(p, steps, theta)))


def to_many_seconds(peers: int, message_bytes: int, theta: Theta, *, is_list: bool) -> float:
    """Seconds until the last of the messages to all peers has arrived.

    Those of a list go out after all of them have been posted.
    """
    steps = payload_steps(message_bytes)
    o = overhead(peers, theta, message_bytes)
    network = o + theta["L"] + steps * theta.get("G", 0.0)
    posting = (peers - 1.0) * o
    gaps = _gaps(peers, steps, theta) if "f" in theta and "g" in theta else 0.0
    return float(network + (posting + gaps if is_list else np.maximum(posting, gaps)))


def _posts(points: Points, theta: Theta) -> Seconds:
    sends = points.sends
    return np.asarray(sends * overhead(sends, theta, points.message_bytes))


LOGFP = Model(
    name="logfp",
    label="LogfP",
    source="Hoefler et al. 2006, LogfP",
    parameters=(
        ParameterSpec("L", "s", 0.0, np.inf, "latency of the network, without the overheads"),
        ParameterSpec("o_min", "s", 0.0, np.inf, "overhead of a send after very many"),
        ParameterSpec("o_max", "s", 0.0, np.inf, "what starting to send costs beyond that"),
        ParameterSpec("o_r", "s", 0.0, np.inf, "receive overhead; 0 for RDMA", needed=False),
        ParameterSpec("f", "", 1.0, np.inf, "messages that the network takes without a gap"),
        ParameterSpec("g", "s", 0.0, np.inf, "least time between two messages after the first f"),
    ),
    formulas={"one_to_many": _one_to_many, "send_overhead": _posts},
    estimators={"one-to-many": "chiplog.fitting.one_to_many.logfp:logfp_estimates"},
    sizes_estimator="chiplog.fitting.one_to_many.logfp_sizes:logfp_size_estimates",
    colour=GREEN.dashed("4 3"),
    speaker="chiplog.prediction.one_to_many:OneToManySpeaker",
    precedence=60,
    headline=40,
)
