"""Surveys whose truth is known: a simulated survey's file in which chosen pairs are slower."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from command import chiplog

from chiplog.dataset.lines import encode_line

NETWORK = "sim:L=5us,o=1us,g=2us,G=0.5ns,noise=0.02"
Factor = Callable[[int, int, bool], float]
"""Of client, server, and whether it is a bandwidth: how many times as long its messages take."""


def simulated_survey(folder: Path, ranks: int, *options: object) -> Path:
    """A survey of a network whose nodes are all alike."""
    made = chiplog("survey", NETWORK, "--ranks", ranks, "-o", folder, *options)
    assert made.code == 0, made.stderr
    return folder


def slowed(
    survey: Path,
    out: Path,
    factor: Factor,
    *,
    leaves: Mapping[str, Sequence[int]] | None = None,
    hosts: Sequence[str] | None = None,
) -> Path:
    """The same survey with some pairs slowed.

    `leaves` are the ranks of the leaves that it says were declared, `hosts` those on which it says that its ranks ran.
    """
    out.mkdir()
    header, *lines = map(json.loads, (survey / "pairs.jsonl").read_bytes().splitlines())
    if leaves is not None:
        of_rank = {rank: place for place, ranks in enumerate(leaves.values()) for rank in ranks}
        header["plan"] |= {
            "leaves": [of_rank[rank] for rank in range(header["ranks"])],
            "leaf_names": list(leaves),
        }
    if hosts is not None:
        header |= {"hosts": list(hosts), "clock": {**header["clock"], "name": "tsc"}}
    changed = (encode_line(one) for one in (header, *(_slowed(one, factor) for one in lines)))
    (out / "pairs.jsonl").write_bytes(b"".join(changed))
    return out


def _slowed(line: dict[str, Any], factor: Factor) -> dict[str, Any]:
    for series in line.get("series", ()):
        if series["pattern"] != "all_pairs":
            continue  # what nodes do alone
        is_bandwidth = series["direction"] == "one-way"
        for pair in series.get("by_pair", ()):
            times = factor(pair["client"], pair["server"], is_bandwidth)
            pair["samples_ns"] = [round(times * one) for one in pair["samples_ns"]]
    return line
