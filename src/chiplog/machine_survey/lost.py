"""A node that is lost in mid-sweep: its pairs are named, and the other nodes are measured without it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chiplog.errors import RunFailed
from chiplog.json_values import members

if TYPE_CHECKING:
    from chiplog.dataset.series import Dataset

CHOOSES_NODES = ("-w", "--nodelist", "-x", "--exclude", "-F", "--nodefile")
"""Options of srun beside which another `--exclude` would be refused, or take the first one back."""


class NodeLost(RunFailed):
    """A node was lost in mid-sweep; `ranks` is how many there were with it."""

    def __init__(self, sentence: str, *, node: str, reason: str, ranks: int) -> None:
        super().__init__(sentence)
        self.node = node
        self.reason = reason
        self.ranks = ranks


@dataclass(frozen=True)
class LostNode:
    """A node that was lost, why, the run file in which it was, and the nodes with which it was not measured."""

    node: str
    reason: str
    path: Path
    missing: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Returns the loss for scripts."""
        return {
            **members(self, "node", "reason"),
            "run": str(self.path),
            "missing": list(self.missing),
        }


def lost_node(error: NodeLost, dataset: Dataset) -> LostNode:
    """Returns what `dataset`, the run file in which the node was lost, has of it."""
    from chiplog.machine_survey.pair_values import KINDS, pair_values

    measured = []
    for kind in KINDS:
        values = pair_values(dataset, kind)
        nodes = values.nodes
        ends = zip(values.clients.tolist(), values.servers.tolist(), strict=True)
        measured.append({frozenset((nodes[client], nodes[server])) for client, server in ends})
    with_all = set.intersection(*measured)
    missing = [
        other
        for other in nodes
        if other != error.node and frozenset((error.node, other)) not in with_all
    ]
    return LostNode(error.node, error.reason, Path(dataset.source), tuple(missing))


def launcher_without(launcher: str | None, nodes: Sequence[str], ranks: int) -> str | None:
    """Returns the launcher's words that start `ranks` ranks, one a node, on other nodes; None if that isn't known.

    >>> launcher_without("srun -N 4", ["n3"], 3)
    'srun -N 4 --exclude=n3 --nodes=3 --ntasks=3'
    """
    if launcher is None or ranks < 2 or any("#" in node for node in nodes):
        return None
    words = shlex.split(launcher)
    if not words or os.path.basename(words[0]) != "srun":
        return None
    if any(word.split("=")[0] in CHOOSES_NODES for word in words):
        return None
    return f"{launcher} --exclude={','.join(nodes)} --nodes={ranks} --ntasks={ranks}"


def file_without(path: Path, nodes: Sequence[str]) -> Path:
    """Returns the run file of the survey that goes on without these nodes, beside `path`.

    >>> file_without(Path("survey/pairs.jsonl"), ["n3", "n7"]).name
    'pairs-without-n3-n7.jsonl'
    """
    return path.with_name(f"{path.stem}-without-{'-'.join(nodes)}{path.suffix}")
