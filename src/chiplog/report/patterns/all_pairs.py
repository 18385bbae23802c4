"""Every two ranks once: the spread over the pairs of each class, and the slowest pair by name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from chiplog.report import format
from chiplog.report.document import Inline, Table, line, number_columns
from chiplog.report.header import items
from chiplog.report.patterns.run import PatternRun, spread, thinned_note

ALL_PAIRS = "all_pairs"
WITHIN, BETWEEN, ALL = "within a host", "between hosts", "all"
Pair = tuple[int, int]
Group = tuple[int, str, str]
"""Size in bytes, direction, class."""


def tables(run: PatternRun) -> tuple[Table, ...]:
    """By size and class of pairs: how many, the quickest, the median and the slowest of their medians."""
    medians = pair_medians(run)
    hosts = _hosts(run)
    directions = sorted({direction for _, direction, _ in medians}, reverse=True)
    return tuple(_table(run, direction, medians, hosts) for direction in directions)


def _table(
    run: PatternRun, direction: str, medians: Mapping[Group, Mapping[Pair, float]], hosts: list[str]
) -> Table:
    of_direction = {key: pairs for key, pairs in medians.items() if key[1] == direction}
    one_way = direction == "one-way"
    sizes = sorted({size for size, _, _ in of_direction})
    classes = sorted({name for _, _, name in of_direction}, reverse=True)
    shown = spread(sizes, max(1, run.most_rows // len(classes)))
    rows = tuple(
        _row(size, name, of_direction[size, direction, name], hosts)
        for size in shown
        for name in classes
        if (size, direction, name) in of_direction
    )
    time = "one-way time per message of a window" if one_way else "half round trip"
    convention = f"{time}; the median of each pair's samples, compared over the pairs"
    heads = number_columns(
        "size", "class", "pairs", "quickest", "median", "slowest", "slowest pair", "rate"
    )
    notes = (
        *thinned_note(len(shown), len(sizes), "sizes"),
        line(
            "Rate: of the median pair, one way. Who is slow, and whether it is sure: chiplog survey."
        ),
    )
    return Table(run.caption("All pairs by size", convention), heads, rows, notes)


def _row(size: int, name: str, pairs: Mapping[Pair, float], hosts: list[str]) -> tuple[Inline, ...]:
    seconds = np.array(list(pairs.values()))
    slowest = max(pairs, key=lambda pair: pairs[pair])
    times = (float(seconds.min()), float(np.median(seconds)), float(seconds.max()))
    rate = format.brief(size / times[1], "B/s") if size and times[1] > 0 else format.NOTHING
    return (
        line(format.message_size(size)),
        line(name),
        line(format.count(len(pairs))),
        *(line(format.brief(time, "s")) for time in times),
        line("-".join(_name(rank, hosts) for rank in slowest)),
        line(rate),
    )


def _hosts(run: PatternRun) -> list[str]:
    return [str(item) for item in items(run.header, "hosts")]


def pair_medians(run: PatternRun) -> dict[Group, dict[Pair, float]]:
    """The median time of each pair in seconds, one way."""
    hosts = _hosts(run)
    rounds = [series for series in run.series if series.pattern == ALL_PAIRS]
    samples: dict[Group, dict[Pair, list[np.ndarray]]] = defaultdict(lambda: defaultdict(list))
    for series in rounds:
        share = 0.5 if series.direction == "round-trip" else 1.0
        for pair in series.by_pair:
            if pair.seconds.size:
                key = (
                    series.message_bytes,
                    series.direction,
                    _class(pair.client, pair.server, hosts),
                )
                ranks = (min(pair.client, pair.server), max(pair.client, pair.server))
                samples[key][ranks].append(share * pair.seconds)
    return {
        key: {pair: float(np.median(np.concatenate(all_of))) for pair, all_of in pairs.items()}
        for key, pairs in samples.items()
    }


def _class(client: int, server: int, hosts: list[str]) -> str:
    """Whether the two ranks share a host, where there are several."""
    if len(set(hosts)) < 2 or max(client, server) >= len(hosts):
        return ALL
    return WITHIN if hosts[client] == hosts[server] else BETWEEN


def _name(rank: int, hosts: list[str]) -> str:
    """The host of a rank where each has its own, else its number."""
    return hosts[rank] if len(set(hosts)) == len(hosts) and rank < len(hosts) else str(rank)
