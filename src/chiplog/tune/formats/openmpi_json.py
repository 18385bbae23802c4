"""Open MPI's rules as JSON, for 6.0 and later: all bounds are inclusive, and the first rule that fits is taken."""

from __future__ import annotations

import json

from chiplog.tune.check.proof import json_object
from chiplog.tune.choice import Tuning
from chiplog.tune.formats.openmpi_han import companions
from chiplog.tune.formats.openmpi_rules import (
    OWN_DECISION,
    TWO_PROCESSES,
    looked_up_bytes,
    native_of,
    offered,
    settings,
)
from chiplog.tune.ranges import RankRule, rules
from chiplog.tune.version import Version
from chiplog.tune.writer import TuningFormat

FILE_VERSION = 3
"""Given: the version of the format that Open MPI 6.0 reads."""


def text(tuning: Tuning, _: Version) -> str:
    """Only what leaves the default: what no rule fits, Open MPI decides by itself."""
    entries = rules(tuning)
    ends = [entry.first_ranks - 1 for entry in entries[1:]]
    comm_entries = []
    for entry, last in zip(entries, [*ends, None], strict=True):
        sizes = _sizes(tuning.operation, entry)
        if sizes and last is not None:
            comm_entries.append(
                {
                    "comm_size_min": entry.first_ranks,
                    "comm_size_max": last,
                    "comm_rank_distribution": "any",
                    "rules": sizes,
                }
            )
    content = {
        "rule_file_version": FILE_VERSION,
        "module": "tuned",
        "collectives": {tuning.operation: comm_entries},
    }
    return json.dumps(content, indent=2) + "\n"


def _sizes(operation: str, entry: RankRule) -> list[dict[str, object]]:
    firsts = [
        looked_up_bytes(operation, entry.first_ranks, size.first_bytes) for size in entry.sizes
    ]
    size_entries = []
    for place, rule in enumerate(entry.sizes):
        if rule.key is None:
            continue
        used = native_of(operation, rule.key)
        if used.number == OWN_DECISION:
            continue
        size_entry: dict[str, object] = {"msg_size_min": firsts[place], "alg": used.name}
        if place + 1 < len(firsts):
            size_entry["msg_size_max"] = firsts[place + 1] - 1
        if used.segment_bytes:
            size_entry["seg_size"] = used.segment_bytes
        if used.fan_out:
            size_entry["faninout"] = used.fan_out
        size_entries.append(size_entry)
    return size_entries


def marked(text: str) -> str:
    """Open MPI's JSON rules with one for barriers put before all others."""
    rules = json_object(text)
    collectives = rules.setdefault("collectives", {})
    rule = {"comm_rank_distribution": "any", "rules": [{"alg": TWO_PROCESSES}]}
    collectives["barrier"] = [rule, *collectives.get("barrier", [])]
    return json.dumps(rules)


FORMAT = TuningFormat(offered, text, settings, companions=companions)
