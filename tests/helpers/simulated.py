"""Runs of the probe's `sim` transport whose true parameters are known, many of them from one probe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chiplog.dataset.lines import Where, decode_line
from chiplog.dataset.records import record_series
from chiplog.dataset.series import Dataset, Series
from chiplog.measurement.probes import base_probe
from chiplog.measurement.session import Session
from chiplog.plan.request import Request, SeriesRequest, StopRule

ENOUGH_NS = 10**10
"""A budget that never ends a record."""


def simulated_runs(
    target: str,
    series: Sequence[SeriesRequest],
    *,
    repetitions: int = 1,
    samples: int = 20,
    visits: int = 1,
    seed: int = 0,
) -> Iterator[Dataset]:
    """A complete run of `series` for each repetition, with noise of its own where the target has noise.

    Each of the visits takes so many samples of every series. All repetitions come from one probe, which goes on drawing
    from `seed`; `target` says how many ranks there are.
    """
    command = [str(base_probe()), "--target", target, "--seed", str(seed)]
    with Session(command) as session:
        header = session.header
        for repetition in range(repetitions):
            measured: list[Series] = []
            for visit in range(visits):
                number = repetition * visits + visit
                stop = StopRule(0.01, samples, samples, ENOUGH_NS)
                line = session.measure(
                    Request(number, visit, tuple(series), stop, {}, check_payload=False)
                )
                where = Where(target, number)
                measured += record_series(decode_line(line.encode(), where), where)
            yield Dataset(header, tuple(measured), True, target)


def over_peers(peers: Sequence[int], message_bytes: int = 8) -> tuple[SeriesRequest, ...]:
    """Round trips to p peers and the time to post p sends, for each p of `peers`."""
    return tuple(
        series
        for p in peers
        for series in (
            SeriesRequest("one_to_many", message_bytes, peers=p),
            SeriesRequest("send_overhead", message_bytes, p, peers=p),
        )
    )


def over_pairs(pairs: Sequence[int], sizes: Sequence[int]) -> tuple[SeriesRequest, ...]:
    """Round trips of k pairs at once, for each k of `pairs` and each of the `sizes` in bytes."""
    return tuple(SeriesRequest("pairs", size, pairs=k) for size in sizes for k in pairs)
