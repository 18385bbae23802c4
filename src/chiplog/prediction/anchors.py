"""Anchors: measured collective operations, mostly of fewer ranks, that correct what a model predicts.

An anchor corrects the algorithm that it measured. Those of the asked size decide alone where there are some: an anchor
tells most of the regime that it was measured in.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.registry import algorithms
from chiplog.errors import UsageError
from chiplog.prediction.convention import TimeConvention
from chiplog.statistics import TAILS

OPTION = "--anchor"
MOST_ANCHORS = 256
"""Given: of one algorithm: each may be simulated."""


@dataclass(frozen=True)
class Anchor:
    """A measured collective operation: how long it took, in seconds, and of what."""

    operation: str
    ranks: int
    message_bytes: int
    seconds: float
    source: str
    """The file that it is from."""
    algorithm: str | None = None
    """None where the file does not say which one it was."""
    peers: int | None = None
    """Of a rank in one round, of algorithms that have such a number."""
    width: float = 0.0
    """Half of the time's 95 % interval, as a logarithm; 0 where it is not known."""
    convention: TimeConvention | None = None
    """What the time is; None: the one that is asked for."""

    def task(self, asked: Task, algorithm: Algorithm) -> Task:
        """What was measured, with the segments and dimensions that are asked for; UsageError where it can't be."""
        task = replace(
            asked,
            ranks=self.ranks,
            message_bytes=self.message_bytes,
            peers=self.peers or asked.peers,
        )
        if not algorithm.accepts(task):
            raise UsageError(
                f"{OPTION} {self.source}: {algorithm.name} can't be of {self.ranks} ranks."
            )
        return task


def anchors_by_algorithm(
    anchors: Sequence[Anchor], operation: str, algorithm: str | None, peers: int | None
) -> dict[str, list[Anchor]]:
    """The anchors of the operation by their algorithms; of `algorithm` alone where one is named.

    An anchor that does not say its algorithm is of the named one, and one without a number of peers has `peers`.
    UsageError where none is left, and where an anchor's algorithm is not known.
    """
    of_operation = [anchor for anchor in anchors if anchor.operation == operation]
    if not of_operation:
        raise UsageError(
            f"{OPTION}: {_listed(anchor.operation for anchor in anchors)} was measured, but {operation} is asked for."
        )
    unnamed = next((anchor for anchor in of_operation if anchor.algorithm is None), None)
    if unnamed is not None and algorithm is None:
        raise UsageError(
            f"{OPTION} {unnamed.source}: does not say by which algorithm {operation} was measured: name it with "
            "--algorithm."
        )
    named: dict[str, list[Anchor]] = {}
    for anchor in of_operation:
        name = anchor.algorithm or algorithm or ""
        if algorithm in (None, name):
            if name not in algorithms(operation):
                raise UsageError(
                    f"{OPTION} {anchor.source}: '{name[:40]}' does no {operation}; there are "
                    f"{', '.join(algorithms(operation))}."
                )
            named.setdefault(name, []).append(replace(anchor, peers=anchor.peers or peers))
    if not named:
        raise UsageError(
            f"{OPTION}: {_listed(anchor.algorithm or '' for anchor in of_operation)} was measured, but {algorithm} is "
            "asked for."
        )
    return named


def _listed(names: Iterable[str]) -> str:
    """Each name once, at most three of them."""
    once = list(dict.fromkeys(names))
    return ", ".join(once[:3]) + (" and others" if len(once) > 3 else "")  # Given


def nearest_anchors(anchors: Sequence[Anchor], asked: Task) -> list[Anchor]:
    """Those of the asked size, or all where there is none; each number of ranks and size once."""
    nearest = [anchor for anchor in anchors if anchor.message_bytes == asked.message_bytes]
    together: dict[tuple[object, ...], list[Anchor]] = {}
    for anchor in nearest or anchors:
        key = (anchor.ranks, anchor.message_bytes, anchor.peers, anchor.convention)
        together.setdefault(key, []).append(anchor)
    return [_as_one(repeated) for repeated in together.values()]


def _as_one(repeated: Sequence[Anchor]) -> Anchor:
    """Measurements of the same operation as one: their geometric mean, with their scatter in its interval."""
    if len(repeated) == 1:
        return repeated[0]
    count = len(repeated)
    logs = np.log([anchor.seconds for anchor in repeated])
    scatter = float(stdtrit(count - 1, TAILS[1]) * np.std(logs, ddof=1)) / math.sqrt(count)
    own = math.sqrt(float(np.mean([anchor.width**2 for anchor in repeated])))
    seconds = math.exp(float(logs.mean()))
    return replace(repeated[0], seconds=seconds, width=math.hypot(scatter, own))


def is_beyond_anchors(anchors: Sequence[Anchor], asked: Task) -> bool:
    """Whether all anchors have one number of ranks, or one size, and another is asked for: they tell no growth."""
    ranks = {anchor.ranks for anchor in anchors}
    sizes = {anchor.message_bytes for anchor in anchors}
    told = ((ranks, asked.ranks), (sizes, asked.message_bytes))
    return any(len(values) == 1 and wanted not in values for values, wanted in told)


def check_anchors(algorithm: Algorithm, anchors: Sequence[Anchor]) -> None:
    """UsageError where there are too many, or where one does not say how many peers a rank had in a round."""
    if len(anchors) > MOST_ANCHORS:
        raise UsageError(
            f"{OPTION}: {len(anchors)} times of {algorithm.name}; at most {MOST_ANCHORS} are used."
        )
    without = next((anchor for anchor in anchors if anchor.peers is None), None)
    if algorithm.takes_peers and without is not None:
        raise UsageError(
            f"{OPTION} {without.source}: does not say how many peers a rank had in a round of {algorithm.name}: give "
            "--peers."
        )
