"""LoP as its paper prints it: six parameters, and the times that it derives from round trip and overhead.

    RTT(p)/p = l1/(l2 + p) + l3 + l4 (1 - exp(l5 (p - l6)))        l5 < 0

    consistent      L_tot(p) = p t_rtt(p)/2 - o(p) - o(1)            t_1:n = o(n) + L_tot(n)
                    L_list(p) = p t_rtt(p)/2 - p o(p) - o(1)         t_list = n o(n) + L_tot(n)
    as printed      L(p) = t_rtt(p)/2 - o(1) - o(p)                  t_1:n = o(n) + n L(n)
                    L_list(p) = t_rtt(p)/2 - (p o(p) + o(1))         t_list = n o(n) + n L(n)

The adapter begins with the first message of p as soon as that is posted, but with those of a list after all of them
are. So L_list is meant for round trips that were measured with lists; with these, a list takes p o(p) + L_list(p). From
round trips with a post for each message, t_list adds L_tot, what the network needs after the first post, to the posting
of the whole list.

t_rtt(p) is RTT(p)/p, the round trip per message; the paper's "RTT T2(p)" is RTT(p)/2. All times in seconds here; any
unit gives that unit back.

Source: T. Hoefler, W. Rehm, "A communication model for small messages with InfiniBand", PARS workshop 2005, section 4.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Seconds = NDArray[np.float64]


def printed_curve(peers: ArrayLike, l: Sequence[float]) -> Seconds:
    """`RTT(p)/p` from the six printed parameters l1 to l6, shape of `peers`."""
    p = np.asarray(peers, dtype=np.float64)
    l1, l2, l3, l4, l5, l6 = l
    return np.asarray(l1 / (l2 + p) + l3 + l4 * (1.0 - np.exp(l5 * (p - l6))))


def identifiable(l: Sequence[float]) -> dict[str, float]:
    """The five identifiable parameters of the same curve: C, l1, l2, A and tau.

    >>> sorted(identifiable((1.0, 0.0, 2.0, 3.0, -0.5, 0.0)).items())
    [('A', 3.0), ('C', 5.0), ('l1', 1.0), ('l2', 0.0), ('tau', 2.0)]
    """
    l1, l2, l3, l4, l5, l6 = l
    amplitude = float(l4 * np.exp(-l5 * l6))
    return {"C": l3 + l4, "l1": l1, "l2": l2, "A": amplitude, "tau": -1.0 / l5}


def latency(
    peers: ArrayLike,
    per_message: ArrayLike,
    overhead: ArrayLike,
    first_overhead: float,
    *,
    is_list: bool = False,
    paper_literal: bool = False,
) -> Seconds:
    """`L_tot(p)` in seconds; of a list `L_list(p)`, what all p messages take after they were posted as one list.

    `per_message` is RTT(p)/p, `overhead` is o(p), `first_overhead` is o(1), all in seconds. `paper_literal` gives the
    printed forms, in which the round trip is that of one message; the posts of a list are all the same.
    """
    p = np.asarray(peers, dtype=np.float64)
    half = np.asarray(per_message, dtype=np.float64) / 2.0
    posts = np.asarray(overhead) * (p if is_list else 1.0)
    return np.asarray(half * (1.0 if paper_literal else p) - (posts + first_overhead))


def to_many_seconds(
    peers: ArrayLike,
    per_message: ArrayLike,
    overhead: ArrayLike,
    first_overhead: float,
    *,
    is_list: bool = False,
    paper_literal: bool = False,
) -> Seconds:
    """`t_1:n` in seconds, until all of n peers have their message; of messages posted as one list `t_list`."""
    p = np.asarray(peers, dtype=np.float64)
    way = latency(p, per_message, overhead, first_overhead, paper_literal=paper_literal)
    posts = np.asarray(overhead) * (p if is_list else 1.0)
    return np.asarray(posts + way * (p if paper_literal else 1.0))
