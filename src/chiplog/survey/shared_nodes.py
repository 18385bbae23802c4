"""What pairs may share where several ranks run on one node: it is known from the run's header, not from its figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from chiplog.dataset.oversubscription import header_list, is_in_virtual_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

Unit = Literal["leaf", "node", "socket", "group"]
"""What near pairs share: a leaf, if each rank has a node of its own; else a node. On one node a socket, or, if it has
one socket, whatever the figures show."""


@dataclass(frozen=True, slots=True)
class SharedNodes:
    """The node of each rank, or on a single node its socket."""

    unit: Unit
    numbers: NDArray[np.int64] | None
    """(ranks,); None where the header does not tell."""
    names: tuple[str, ...]
    """Of each unit, by number."""


def shared_nodes(header: Mapping[str, object]) -> SharedNodes | None:
    """None where each rank has a node of its own, as simulated ranks have, or where hosts are unknown."""
    hosts = list(map(str, header_list(header.get("hosts"))))
    if len(hosts) != header.get("ranks") or is_in_virtual_time(header):
        return None
    names = tuple(dict.fromkeys(hosts))
    if len(names) == len(hosts):
        return None
    if len(names) > 1:
        return SharedNodes("node", np.array([names.index(host) for host in hosts]), names)
    sockets = [
        place.get("socket") if isinstance(place, Mapping) else None
        for place in header_list(header.get("places"))
    ]
    known = tuple(dict.fromkeys(sockets))
    if len(sockets) != len(hosts) or None in known or len(known) < 2:
        return SharedNodes("group", None, ())
    numbers = np.array([known.index(socket) for socket in sockets])
    return SharedNodes("socket", numbers, tuple(f"socket {socket}" for socket in known))
