"""Runs of nccl-tests, each a launch: the default's, and those of what was forced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from chiplog.dataset.import_file import read_source
from chiplog.dataset.importer import IMPORTERS, Imported, Options
from chiplog.errors import UsageError
from chiplog.tune.nccl.rules import COLLECTIVES, NcclCandidate

KIND = "nccl-tests"
DEFAULT = "default"


@dataclass(frozen=True, order=True)
class NcclCell:
    """One collective at one size."""

    operation: str
    message_bytes: int


@dataclass
class NcclRuns:
    """All runs, of one number of ranks on one number of nodes."""

    ranks: int = 0  # Given: none yet
    nodes: int = 0  # Given: none yet
    resolution_seconds: float = 0.0  # Given: that of no file
    seconds: dict[NcclCell, dict[str, dict[NcclCandidate | None, list[float]]]] = field(
        default_factory=dict
    )
    """By cell, by way to call it (out of place or in place, type, reduction), by who was forced: a number a launch.

    None is NCCL's default."""

    def add(self, candidate: NcclCandidate | None, imported: Imported, path: Path) -> None:
        """Takes in one file; UsageError where its ranks or nodes are others, or its file does not name them."""
        nodes, ranks = len(set(imported.hosts)), len(imported.hosts)
        if not ranks:
            raise UsageError(
                f"{path}: it names no devices, so it is unknown for how many nodes a rule would be; keep the lines "
                "'# Rank ...' that nccl-tests prints."
            )
        if self.ranks and (ranks, nodes) != (self.ranks, self.nodes):
            raise UsageError(
                f"{path}: is of {ranks} ranks on {nodes} nodes, the files before it of {self.ranks} on {self.nodes}: "
                "a file of rules each."
            )
        self.ranks, self.nodes = ranks, nodes
        self.resolution_seconds = imported.resolution_seconds or 0.0
        launches: dict[tuple[NcclCell, str, int], list[float]] = {}
        for record in imported.records:
            for series in record.series:
                if series.pattern not in COLLECTIVES:
                    raise UsageError(
                        f"{path}: is of {series.pattern}, for which NCCL's plug-ins choose nothing; they do for "
                        f"{', '.join(COLLECTIVES)}."
                    )
                place = series.operation.partition(",")[0]
                way = f"{place} {record.tag.get('variant', '')}".strip()
                cell = NcclCell(series.pattern, series.message_bytes)
                launches.setdefault((cell, way, record.launch), []).extend(series.seconds)
        for (cell, way, _), seconds in launches.items():
            by_candidate = self.seconds.setdefault(cell, {}).setdefault(way, {})
            by_candidate.setdefault(candidate, []).append(float(np.median(seconds)))


def read_runs(named: Sequence[str]) -> NcclRuns:
    """The runs of `NAME=FILE`, NAME is `default` or what was forced; CorruptFile names what is wrong in a file."""
    importer = IMPORTERS.load(KIND)
    runs = NcclRuns()
    names = set()
    for word in named:
        name, equals, file = word.partition("=")
        if not equals or not file:
            raise UsageError(
                f"'{word[:80]}' is no NAME=FILE, such as default=out.txt or ring/ll=ring.txt."
            )
        candidate = None if name == DEFAULT else NcclCandidate.parse(name)
        names.add(candidate)
        path = Path(file)
        source = read_source(path, is_log=importer.is_log)
        runs.add(candidate, importer.read(source, Options()), path)
    if None not in names or len(names) < 2:
        raise UsageError(
            "runs of the default (default=FILE) and of something that was forced are needed."
        )
    return runs
