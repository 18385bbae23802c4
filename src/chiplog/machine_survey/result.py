"""What a survey found: how latency and bandwidth spread over the pairs, and which pairs are the slowest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from chiplog.fitting.verdict import busy_text
from chiplog.json_values import members, plain
from chiplog.machine_state.load import machine_load
from chiplog.machine_survey.link_classes import LinkClass, Sizes, link_classes
from chiplog.machine_survey.machine_verdict import MachineVerdict, verdict_of_run
from chiplog.machine_survey.pair_values import PATTERN, Kind, PairValues, pair_values
from chiplog.machine_survey.plan import AGAIN, ALONE, BANDWIDTH, LATENCY, PAIRS_AGAIN, UPLINK
from chiplog.machine_survey.settings import SETTINGS
from chiplog.machine_survey.sweep import UplinkFill, uplink_fill

if TYPE_CHECKING:
    from chiplog.dataset.series import Dataset, Series
    from chiplog.machine_survey.lost import LostNode
    from chiplog.machine_survey.topology import Topology

SLOWEST = 5
"""Given: pairs that are listed."""


@dataclass(frozen=True)
class PairValue:
    """The figure of one pair, from the node that sends to the one that receives."""

    client: str
    server: str
    value: float


@dataclass(frozen=True)
class Spread:
    """The quartiles of one kind of figure over all measured pairs, and the slowest pairs, the worst first."""

    kind: Kind
    message_bytes: int
    pairs: int
    failed: int
    quartiles: tuple[float, float, float]
    slowest: tuple[PairValue, ...]

    def to_json(self) -> dict[str, Any]:
        """Returns the spread for scripts: latency in seconds, bandwidth in bytes/second."""
        first, median, third = self.quartiles
        return {
            **members(self, "message_bytes", "pairs", "failed"),
            "quartile_25": first,
            "median": median,
            "quartile_75": third,
            "slowest": plain(self.slowest),
        }


@dataclass(frozen=True)
class AtOnce:
    """Bandwidth of pairs at once over that of the same pairs alone: the median, and of how many pairs."""

    ratio: float
    pairs: int

    @property
    def limits(self) -> bool:
        """Returns whether pairs held each other up: their CPUs or links that they share were the limit."""
        return self.ratio < SETTINGS.limited_at_once

    def to_json(self) -> dict[str, Any]:
        """Returns the ratio for scripts."""
        return members(self, "ratio", "pairs", "limits")


@dataclass(frozen=True)
class SurveyResult:
    """A survey in figures; None where nothing of a kind was measured."""

    path: Path
    target: str
    nodes: tuple[str, ...]
    pairs: int
    pairs_in_all: int
    rounds: int
    complete: bool
    latency: Spread | None
    bandwidth: Spread | None
    at_once: AtOnce | None
    verdict: MachineVerdict
    classes: tuple[LinkClass, ...]
    """The classes of links with their parameters."""
    lost: tuple[LostNode, ...] = ()
    """The nodes that were lost before; the figures are those of the others."""
    uplinks: UplinkFill | None = None
    """How often the rounds filled the uplinks; None where no leaves are known."""
    busy: str | None = None
    """What shows that the machine was busy meanwhile; None where nothing does."""
    note: str | None = None
    """What was left aside beside the measurement, such as a broken topology.conf of Slurm's."""

    def to_json(self) -> dict[str, Any]:
        """Returns the result for scripts (chiplog.survey/1)."""
        return {
            "schema": "chiplog.survey/1",
            "run": str(self.path),
            "target": self.target,
            "complete": self.complete,
            "nodes": len(self.nodes),
            "names": list(self.nodes),
            **members(self, "pairs", "pairs_in_all", "rounds", "latency", "bandwidth", "at_once"),
            "uplinks_filled": plain(self.uplinks),
            "classes": plain(self.classes),
            **self.verdict.to_json(),
            "lost": plain(self.lost),
        }


def survey_result(
    dataset: Dataset, topology: Topology | None = None, lost: tuple[LostNode, ...] = ()
) -> SurveyResult:
    """Returns the figures and the verdict of a survey's run file; `topology` is what the machine is declared as."""
    latency, bandwidth = pair_values(dataset, "latency"), pair_values(dataset, "bandwidth")
    nodes = latency.nodes
    measured = _ends(latency) | _ends(bandwidth)
    verdict = verdict_of_run(dataset, topology)
    rounds = {
        series.round
        for series in dataset.series
        if series.pattern == PATTERN and series.by_pair and _is_of_sweep(series)
    }
    return SurveyResult(
        path=Path(dataset.source),
        target=str(dataset.header.get("target", "")),
        nodes=nodes,
        pairs=len(measured),
        pairs_in_all=len(nodes) * (len(nodes) - 1) // 2,
        rounds=len(rounds),
        complete=dataset.complete,
        latency=_spread(latency, _bytes_of(dataset, LATENCY)),
        bandwidth=_spread(bandwidth, _bytes_of(dataset, BANDWIDTH)),
        at_once=_at_once(bandwidth, pair_values(dataset, "bandwidth", ALONE)),
        verdict=verdict,
        classes=link_classes(verdict.fits, _sizes(dataset), verdict.unit),
        lost=lost,
        uplinks=_uplink_fill(verdict),
        busy=busy_text(machine_load(dataset)),
    )


def _uplink_fill(verdict: MachineVerdict) -> UplinkFill | None:
    fit = verdict.fits.get("bandwidth")
    return uplink_fill(fit) if fit is not None and verdict.unit == "leaf" else None


def _is_of_sweep(series: Series) -> bool:
    """Returns whether the round is one of the sweep's, then or again."""
    other_purposes = (ALONE + AGAIN, UPLINK + AGAIN, PAIRS_AGAIN)
    return not str(series.tag.get("purpose")).endswith(other_purposes)


def _ends(values: PairValues) -> set[frozenset[int]]:
    pairs = zip(values.clients.tolist(), values.servers.tolist(), strict=True)
    return {frozenset(pair) for pair in pairs}


def _sizes(dataset: Dataset) -> Sizes:
    windows = dataset.select(pattern=PATTERN, purpose=BANDWIDTH).series
    return Sizes(
        _bytes_of(dataset, LATENCY),
        _bytes_of(dataset, BANDWIDTH),
        max((window.batch for window in windows), default=1),
    )


def _bytes_of(dataset: Dataset, purpose: str) -> int:
    series = dataset.select(pattern=PATTERN, purpose=purpose).series
    return series[0].message_bytes if series else 0


def _spread(values: PairValues, message_bytes: int) -> Spread | None:
    is_known = np.isfinite(values.values)
    if not is_known.any():
        return None
    # Derived: quartiles.
    quartiles = np.quantile(values.values[is_known], [0.25, 0.5, 0.75])
    sign = -1.0 if values.kind == "latency" else 1.0
    order = np.argsort(sign * values.values[is_known], kind="stable")
    worst = np.flatnonzero(is_known)[order][:SLOWEST]
    return Spread(
        values.kind,
        message_bytes,
        int(is_known.sum()),
        int((~is_known).sum()),
        (float(quartiles[0]), float(quartiles[1]), float(quartiles[2])),
        tuple(
            PairValue(
                values.nodes[values.clients[at]],
                values.nodes[values.servers[at]],
                float(values.values[at]),
            )
            for at in worst
        ),
    )


def _at_once(together: PairValues, alone: PairValues) -> AtOnce | None:
    """Returns the ratio over the pairs that were measured both ways; None where there are none."""
    known = _by_ends(alone)
    ratios = [
        value / known[ends]
        for ends, value in _by_ends(together).items()
        if ends in known and np.isfinite(value) and np.isfinite(known[ends])
    ]
    return AtOnce(float(np.median(ratios)), len(ratios)) if ratios else None


def _by_ends(values: PairValues) -> Mapping[tuple[int, int], float]:
    ends = zip(values.clients.tolist(), values.servers.tolist(), strict=True)
    return dict(zip(ends, values.values.tolist(), strict=True))
