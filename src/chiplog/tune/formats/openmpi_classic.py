"""Open MPI's classic rules file, for 4.1 and 5.0.

Numbers, each in decimal without leading zeros, since one would make it octal. An entry holds from its number of ranks
up to the next entry's, and from its size up to the next size's; the first entry also holds below, so it is that of 0.
Algorithm 0 leaves the choice to Open MPI. There is no header with a version: releases before 4.1.8 and 5.0.7 ignore a
file with one without a word.
"""

from __future__ import annotations

import re

from chiplog.errors import UsageError
from chiplog.tune.check.proof import NotRules
from chiplog.tune.choice import Tuning
from chiplog.tune.formats.openmpi_han import companions
from chiplog.tune.formats.openmpi_rules import (
    FIRST_JSON,
    OPERATIONS,
    TWO_PROCESSES,
    check_version,
    looked_up_bytes,
    native_of,
    offered,
    settings,
)
from chiplog.tune.ranges import RankRule, rules
from chiplog.tune.version import Version, version_text
from chiplog.tune.writer import TuningFormat

BARRIER_ID = OPERATIONS.index("barrier")
_NUMBER = re.compile(r"#[^\n]*|\b\d+\b")


def text(tuning: Tuning, version: Version) -> str:
    """UsageError for releases that want JSON: they take classic entries for other numbers of ranks than they say."""
    check_version(version)
    if version >= FIRST_JSON:
        raise UsageError(
            f"--version {version_text(version)}: classic rules are for 4.1 and 5.0; 6.0 shifts them by one entry."
        )
    entries = rules(tuning)
    lines = [
        f"1 # collectives{tuning.caution}",
        f"{OPERATIONS.index(tuning.operation)} # {tuning.operation}",
        f"{len(entries)} # numbers of ranks",
    ]
    for entry in entries:
        lines += _entry(tuning.operation, entry)
    return "\n".join(lines) + "\n"


def _entry(operation: str, entry: RankRule) -> list[str]:
    lines = [f"{entry.first_ranks} {len(entry.sizes)} # ranks, sizes"]
    for rule in entry.sizes:
        size = looked_up_bytes(operation, entry.first_ranks, rule.first_bytes)
        if rule.key is None:
            lines.append(f"{size} 0 0 0 # Open MPI's own")
            continue
        used = native_of(operation, rule.key)
        lines.append(f"{size} {used.number} {used.fan_out} {used.segment_bytes} # {used.name}")
    return lines


def marked(text: str) -> str:
    """Open MPI's classic rules with all barrier algorithms replaced; all else stays as it is, mistakes included.

    Without rules for barriers, some are added. Raises NotRules where the numbers end too early.
    """
    places = [match for match in _NUMBER.finditer(text) if not match[0].startswith("#")]
    numbers = [int(place[0]) for place in places]
    algorithms = list(_barrier_algorithms(numbers))
    if algorithms:
        return _replaced(text, [(places[at].span(), str(TWO_PROCESSES)) for at in algorithms])
    more = _replaced(text, [(places[0].span(), str(numbers[0] + 1))])
    return f"{more}\n{BARRIER_ID} 1 0 1 0 {TWO_PROCESSES} 0 0\n"


def _barrier_algorithms(numbers: list[int]) -> list[int]:
    """Where among the numbers those of the barrier's algorithms stand."""
    places, at = [], 0

    def following() -> int:
        nonlocal at
        if at >= len(numbers):
            raise NotRules(f"the file ends after {len(numbers)} numbers, where more are announced")
        at += 1
        return numbers[at - 1]

    for _ in range(following()):
        collective = following()
        for _ in range(following()):
            following()
            for _ in range(following()):
                following()
                if collective == BARRIER_ID:
                    places.append(at)
                for _ in ("algorithm", "fan-out", "segment"):
                    following()
    return places


def _replaced(text: str, replacements: list[tuple[tuple[int, int], str]]) -> str:
    for (start, end), new in sorted(replacements, reverse=True):
        text = text[:start] + new + text[end:]
    return text


FORMAT = TuningFormat(offered, text, settings, companions=companions)
