"""One launch of two ranks over UCX: every size in turn, with the settings of UCX that it is to run with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chiplog.dataset.lines import Where, decode_line
from chiplog.dataset.records import record_series
from chiplog.measurement.start import Start, launch_of
from chiplog.plan.request import Request, SeriesRequest, StopRule
from chiplog.tune.measured.launch import CandidateSamples
from chiplog.tune.ucx.protocols import Protocols, read_protocols

TRAIN = 10
"""Given: messages in a row before the answer, of the second of two ways in which programs send."""
MODES = {1: "ping-pong", TRAIN: "train"}
VISITS = 3
"""Given: records of each size in a launch, so that what else runs for a moment does not meet all samples of a size."""
STOP = StopRule(relative_half_width=0.0, min_samples=5, max_samples=40, budget_ns=10_000_000)
"""Given: of one record; launches are repeated, so none need be precise by itself."""

Settings = Mapping[str, str]


@dataclass(frozen=True)
class UcxLaunch:
    """What one launch measured, and what UCX said that it used."""

    protocols: Protocols
    version: str
    is_one_host: bool
    samples: Mapping[int, CandidateSamples]
    """By size; seconds until the answer to one message, or to a train of them, is back."""


Measure = Callable[[Settings, Sequence[int], int], UcxLaunch]
"""Measures sizes, in the order given, with settings of UCX in the environment, in the launch of a number."""


def measure_with(target: str, start: Start) -> Measure:
    """What measures `target`, which is `ucx` with its options."""

    def measure(settings: Settings, sizes: Sequence[int], number: int) -> UcxLaunch:
        with_settings = replace(start, environment={**start.environment, **settings})
        with launch_of(target, 2, with_settings)(number) as session:
            plan = [size for _ in range(VISITS) for size in sizes]
            lines: dict[int, list[str]] = {size: [] for size in sizes}
            for place, size in enumerate(plan):
                lines[size].append(session.measure(_request(place, size)))
            samples = {size: _samples(records) for size, records in lines.items()}
            return _launch(session.header, samples)

    return measure


def _request(number: int, message_bytes: int) -> Request:
    series = tuple(SeriesRequest("prtt", message_bytes, train) for train in MODES)
    return Request(number, 0, series, STOP)


def _samples(records: Sequence[str]) -> CandidateSamples:
    where = Where("the probe")
    series = [
        each for line in records for each in record_series(decode_line(line.encode(), where), where)
    ]
    return CandidateSamples(
        {
            mode: np.concatenate([each.seconds for each in series if each.train == train])
            for train, mode in MODES.items()
        }
    )


def _launch(header: Mapping[str, object], samples: Mapping[int, CandidateSamples]) -> UcxLaunch:
    options, nodes = header.get("options"), header.get("nodes")
    version = options.get("version") if isinstance(options, Mapping) else None
    hosts = set(map(str, nodes)) if isinstance(nodes, Sequence) else set()
    return UcxLaunch(read_protocols(header), str(version or "?"), len(hosts) == 1, samples)
