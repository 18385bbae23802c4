"""The algorithm that Open MPI's classic rules make it take for a call."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path

from chiplog.collectives.mpis import openmpi
from chiplog.collectives.mpis.choice import AlgorithmChoice, CollectiveCall
from chiplog.errors import CorruptFile
from chiplog.tune.formats.openmpi_rules import OWN_DECISION
from chiplog.tune.lint.classic_rules import OperationRules, parse_classic
from chiplog.tune.lint.openmpi_release import OpenMpiRelease
from chiplog.tune.version import Version


def classic_rules(
    text: str, version: Version, path: Path
) -> Callable[[CollectiveCall], AlgorithmChoice | None]:
    """What the file says of a call, to that release; CorruptFile where Open MPI ignores the whole file."""
    release = OpenMpiRelease(version, None)
    rules = parse_classic(text, release.has_header)
    if rules.ignored is not None:
        raise CorruptFile(
            f"{path}, line {rules.ignored.line}: {rules.ignored}: it is ignored as a whole."
        )
    by_name = {operation.name: operation for operation in rules.operations}

    def look_up(call: CollectiveCall) -> AlgorithmChoice | None:
        operation = by_name.get(call.function)
        if operation is None or call.ranks < 2 or call.function not in openmpi.ALGORITHMS:
            return None
        return _rule_of(operation, call, shifts=release.reads_json)

    return look_up


def _rule_of(
    operation: OperationRules, call: CollectiveCall, *, shifts: bool
) -> AlgorithmChoice | None:
    named = [entry.ranks.value for entry in operation.entries]
    at = bisect_right(named[:-1], call.ranks) if shifts else _taker(named, call.ranks)
    if not 0 <= at < len(operation.entries):
        return None
    rules = operation.entries[at].rules
    place = _taker([rule.size.value for rule in rules], openmpi.bytes_in_rules(call))
    if not 0 <= place < len(rules) or rules[place].algorithm.value == OWN_DECISION:
        return None
    rule = rules[place]
    return openmpi.choice_of(call, rule.algorithm.value, rule.segment.value)


def _taker(named: Sequence[int], value: int) -> int:
    """The entry that the reader takes: it stops at the first that is larger; the first also holds below."""
    return max(bisect_right(list(accumulate(named, max)), value) - 1, 0)
