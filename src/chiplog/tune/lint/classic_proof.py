"""Which classic rule does each call take? Found out with copies of the file, without a table of algorithms.

An algorithm that the release does not have makes the call fail, with an error that is returned. In copy b that is the
algorithm of every rule whose number has bit b set. Which copies make a call fail is then the number of its rule in
binary: ten runs are enough for a thousand rules.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from chiplog.tune.formats.openmpi_rules import BY_ALL_BLOCKS, settings_alone
from chiplog.tune.lint.calls import (
    CALLED,
    MOST_BYTES,
    OK,
    SKIPPED,
    Caller,
    CallsEnded,
    OperationCall,
)
from chiplog.tune.lint.classic_lint import RulePlace
from chiplog.tune.lint.openmpi_release import OpenMpiRelease
from chiplog.tune.lint.rule import Rule
from chiplog.tune.lint.size_notes import BY_ONE_ELEMENT

NO_ALGORITHM = "9999"
MOST_CALLS = 500
"""Given: rules beyond are not proved."""
ELEMENT_BYTES = 8
"""Given: of the datatype that calls are made with where sizes count elements."""


def prove_classic(
    path: Path, text: str, places: Sequence[RulePlace], release: OpenMpiRelease, caller: Caller
) -> list[Rule]:
    """Each rule as before, with what the runs say."""
    calls = [_call(place) if at < MOST_CALLS else None for at, place in enumerate(places)]
    tried = [at for at, call in enumerate(calls) if call is not None]
    if not tried:
        return [_not_tried(place.rule, call) for place, call in zip(places, calls, strict=True)]
    asked = [call for call in calls if call is not None]
    plain = caller.run(asked, settings_alone(path, release.version))
    if not plain.is_done:
        reason = f"the calls did not end with the file in force: {plain.said}"
        return [replace(place.rule, reason=reason) for place in places]
    numbers = _numbers(path, text, places, asked, release, caller)
    judged = [_not_tried(place.rule, call) for place, call in zip(places, calls, strict=True)]
    for index, at in enumerate(tried):
        judged[at] = _told(places, at, plain, index, numbers)
    return judged


def _call(place: RulePlace) -> OperationCall | None:
    """The smallest call that should take the rule; None where there is none, or it is too large."""
    if place.operation not in CALLED or place.ranks[0] < 2:
        return None
    ranks, (first, last) = place.ranks[0], place.sizes
    if place.operation in ("barrier", "alltoallv"):
        return OperationCall(
            place.operation, ranks, 0 if place.operation == "barrier" else ELEMENT_BYTES
        )
    if place.operation in BY_ONE_ELEMENT:
        return (
            OperationCall(place.operation, ranks, ELEMENT_BYTES)
            if _holds(first, last, ranks)
            else None
        )
    each = ranks if place.operation in BY_ALL_BLOCKS else 1
    block = max(1, -(-first // each))
    if block * each > MOST_BYTES or not _holds(first, last, block * each):
        return None
    return OperationCall(place.operation, ranks, block)


def _holds(first: int, last: int | None, size: int) -> bool:
    return first <= size and (last is None or size <= last)


def _not_tried(rule: Rule, call: OperationCall | None) -> Rule:
    if call is None:
        return rule.unproved("no call that is tried here gets to it")
    return rule.unproved(f"it takes {call.ranks} ranks")


def _numbers(
    path: Path,
    text: str,
    places: Sequence[RulePlace],
    calls: Sequence[OperationCall],
    release: OpenMpiRelease,
    caller: Caller,
) -> Mapping[int, int]:
    """By index of the call, the number of the rule that it takes, from 1; 0 where it takes none of the file."""
    number_of_call = dict.fromkeys(range(len(calls)), 0)
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / path.name
        for bit in range(len(places).bit_length()):
            marked = [place.span for at, place in enumerate(places, 1) if at >> bit & 1]
            copy.write_text(_marked(text, marked), encoding="utf-8")
            ended = caller.run(calls, settings_alone(copy, release.version))
            for index in number_of_call:
                if ended.calls.get(index, SKIPPED) not in (OK, SKIPPED):
                    number_of_call[index] |= 1 << bit
    return number_of_call


def _marked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in sorted(spans):
        parts += [text[at:start], NO_ALGORITHM]
        at = end
    return "".join([*parts, text[at:]])


def _told(
    places: Sequence[RulePlace], at: int, plain: CallsEnded, index: int, numbers: Mapping[int, int]
) -> Rule:
    rule, how = places[at].rule, plain.calls.get(index, SKIPPED)
    if how == SKIPPED:
        needed = places[at].ranks[0]
        return rule.unproved(f"it takes {needed} ranks, and {plain.ranks} were started")
    if how != OK:
        return replace(rule, legal=False, taken=True, reason=f"the call fails with it: {how}")
    number = numbers[index]
    if number == at + 1:
        return replace(rule, taken=True)
    if 1 <= number <= len(places):
        return rule.not_taken(f"the rule of line {places[number - 1].rule.line} is taken instead")
    return rule.not_taken(
        "no rule of the file is taken for it: the file is not read, or something outranks it"
    )
