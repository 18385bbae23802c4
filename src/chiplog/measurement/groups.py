"""What the header of a run says of its ranks: their groups, how they are bound, and how their C library copies."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from chiplog.dataset.disturbance import oversubscription
from chiplog.plan import PlanOptions, Request
from chiplog.plan.patterns import find_pattern
from chiplog.plan.request import SeriesRequest

Header = Mapping[str, Any]
LAUNCHER = "launcher"
"""The placement of ranks that their launcher gave CPUs of their own."""
NOT_BY_THE_LAUNCHER = (
    "let the launcher bind nothing, e.g. by srun --cpu-bind=none or mpirun --bind-to none"
)
MORE_SOCKETS = "use a host with several sockets or NUMA nodes, and ranks enough to fill one"


def between_groups(request: Request, header: Header, *, every: bool) -> Request:
    """The request with its series of k pairs between the first two groups of the header, or between every two.

    Series of more pairs than two groups have are left out. A header without groups leaves the request as it is.
    """
    groups = header.get("pair_groups") or ()
    if not groups:
        return request
    chosen = groups if every else groups[:1]
    series = (placed for asked in request.series for placed in _between(asked, chosen))
    return replace(request, series=tuple(series))


def _is_over_pairs(pattern: str) -> bool:
    facts = find_pattern(pattern)
    return facts is not None and facts.is_over_pairs


def _between(asked: SeriesRequest, groups: list[dict[str, Any]]) -> Iterator[SeriesRequest]:
    if not _is_over_pairs(asked.pattern):
        yield asked
        return
    for group in groups:
        if asked.pairs <= group["pairs"]:
            first, second = group["between"]
            yield replace(asked, between=(first, second))


def is_distinct(launch: int, options: PlanOptions, header: Header) -> bool:
    """Whether this launch measures what no launch of another placement does.

    On one socket (and NUMA node) all placements bind the ranks alike: then those of the first are enough.
    """
    return launch % len(options.placements) == 0 or header.get("placements_differ") is not False


def with_notes(header: Header, options: PlanOptions) -> dict[str, Any]:
    """The header for the run file: with the plan, whether ranks share CPUs, and what the plan asks for in vain."""
    crowded = oversubscription(header)
    return {
        **header,
        "plan": options.to_json(),
        "oversubscribed": None if crowded is None else asdict(crowded),
        "c_library": c_library(),
        "warnings": [*header.get("warnings", ()), *_notes(header, options)],
    }


def _notes(header: Header, options: PlanOptions) -> Iterator[dict[str, Any]]:
    if len(options.placements) > 1 and header.get("placements_differ") is False:
        yield {
            "fact": f"{' and '.join(options.placements)} bind these ranks alike, so they are measured once",
            "number": 1,
            "unit": "placement",
            "remedy": NOT_BY_THE_LAUNCHER if header.get("placement") == LAUNCHER else MORE_SOCKETS,
        }
    pairs = max((group["pairs"] for group in header.get("pair_groups", ())), default=None)
    if (
        any(map(_is_over_pairs, options.patterns))
        and pairs is not None
        and pairs < options.ranks // 2
    ):
        yield {
            "fact": "no two groups of ranks have half of the ranks each, so there are fewer pairs",
            "number": pairs,
            "unit": "pairs",
            "remedy": "start as many ranks on each of two nodes",
        }


MAPS = Path("/proc/self/maps")
_LOADER = re.compile(r"(/\S*/ld-linux\S*)")
_THRESHOLD = re.compile(
    r"^glibc\.cpu\.x86_(?:rep_movsb|non_temporal)_threshold: (\w+)", re.MULTILINE
)
TIME_LIMIT_SECONDS = 2.0
"""Given: how long the loader may take to list its tunables."""


def c_library() -> dict[str, Any] | None:
    """The header's `c_library`: the sizes in bytes at which copies change; None where it doesn't tell."""
    try:
        loader = _LOADER.search(MAPS.read_text())
        if loader is None:
            return None
        listed = subprocess.run(
            [loader[1], "--list-tunables"],
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_SECONDS,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    limits = sorted({int(value, 0) for value in _THRESHOLD.findall(listed)})
    return {"loader": loader[1], "copy_limits_bytes": limits} if limits else None
