"""Which of Open MPI's classic rules are legal, and which are hidden by others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chiplog.tune.lint.classic_rules import (
    Classic,
    ClassicSizeRule,
    OperationRules,
    RankEntry,
    entries_taken,
    parse_classic,
)
from chiplog.tune.lint.openmpi_release import TWO_RANKS_ONLY, OpenMpiRelease
from chiplog.tune.lint.rule import NamedSize, Rule, all_ignored
from chiplog.tune.lint.size_notes import unreachable

LOOKED_UP_AT_0 = ("barrier", "alltoallv")
"""Operations whose size coll/tuned does not know; it looks up 0 bytes."""
FEWEST_RANKS = 2
"""Given: communicators of one rank never use coll/tuned."""


Range = tuple[int, int | None]
"""First and last; None is without end."""


@dataclass(frozen=True)
class RulePlace:
    """A rule of a classic file, where its numbers stand, and which calls get there."""

    rule: Rule
    operation: str
    ranks: Range
    """The first and last number of ranks that take the rule's entry; None: without end."""
    sizes: Range
    """The same of the bytes that are looked up."""
    span: tuple[int, int]
    """Where its algorithm stands in the text."""


def lint_classic(text: str, release: OpenMpiRelease) -> tuple[list[Rule], list[RulePlace]]:
    """All that is wrong without a run, and the rules that a run can prove."""
    rules_file = parse_classic(text, release.has_header)
    places = [
        place
        for at, operation in enumerate(rules_file.operations)
        for place in _of_operation(operation, rules_file.operations[at + 1 :], release)
    ]
    if rules_file.wrong_counts:
        return _miscounted(rules_file, places), []
    rules = [*rules_file.stray, *(place.rule for place in places)]
    if rules_file.ignored is not None:
        return all_ignored(rules, rules_file.ignored, release), []
    wrong = [rule for rule in rules if rule.is_wrong]
    return wrong, [place for place in places if not place.rule.is_wrong]


def _miscounted(rules_file: Classic, places: Sequence[RulePlace]) -> list[Rule]:
    """The wrong counts, and what stands before them: all else is read at the wrong places."""
    causes = rules_file.wrong_counts
    first = causes[0].line
    before = [rule for rule in rules_file.stray if rule.line < first]
    for place in places:
        if place.rule.line < first and rules_file.ignored is not None:
            before.append(place.rule.not_taken(f"Open MPI ignores the whole file for line {first}"))
        elif place.rule.line < first:
            before.append(place.rule.unproved("not run: a count of the file is wrong"))
    return [*before, *causes]


def _of_operation(
    operation: OperationRules, later: Sequence[OperationRules], release: OpenMpiRelease
) -> list[RulePlace]:
    again = [
        operation_rules
        for operation_rules in later
        if operation_rules.number.value == operation.number.value
    ]
    known = release.algorithms
    hidden = None
    if again:
        hidden = f"line {again[0].number.line} begins {operation.name} anew and replaces this"
    elif known is not None and operation.name not in known:
        hidden = f"coll/tuned of {release} has no {operation.name}: it never looks for these rules"
    ranks = _ranks(operation.entries, release)
    rule_places = []
    for entry, (taken, reason) in zip(operation.entries, ranks, strict=True):
        sizes = _sizes(operation.name, entry.rules)
        for rule, size in zip(entry.rules, sizes, strict=True):
            judged = _judged(operation.name, entry.ranks.value, rule, taken, release)
            out_of_reach = taken and size[0] and unreachable(operation.name, *size[0], taken[0])
            if why := hidden or reason or size[1] or out_of_reach:
                judged = judged.not_taken("; ".join(filter(None, (judged.reason, why))))
            span = (rule.algorithm.start, rule.algorithm.end)
            place = RulePlace(judged, operation.name, taken or (0, 0), size[0] or (0, 0), span)
            rule_places.append(place)
    return rule_places


def _judged(
    operation: str, named: int, rule: ClassicSizeRule, ranks: Range | None, release: OpenMpiRelease
) -> Rule:
    """Is the rule's algorithm legal for the `ranks` that take it, in an entry that is `named` for so many?"""
    name = release.algorithm_name(operation, rule.algorithm.value)
    fewer = " and fewer" if ranks and ranks[0] < max(named, FEWEST_RANKS) else ""
    text = f"{operation}, {named}{fewer} ranks, {rule.size.value} B: {name}"
    illegal = release.wrong_algorithm(operation, rule.algorithm.value) or _two_ranks(name, ranks)
    legal = False if illegal else None if release.algorithms is None else True
    fewest = max(ranks[0] if ranks else named, FEWEST_RANKS)
    size = NamedSize(operation, fewest, rule.size.value)
    return Rule(rule.algorithm.line, text, legal, reason=illegal, size=size)


def _two_ranks(name: str, ranks: Range | None) -> str | None:
    if not TWO_RANKS_ONLY.fullmatch(name) or ranks is None or ranks == (2, 2):
        return None
    return f"{name} fails on other than 2 ranks; this entry holds for {_span(ranks)}"


def _ranks(
    entries: Sequence[RankEntry], release: OpenMpiRelease
) -> list[tuple[Range | None, str | None]]:
    """By entry the numbers of ranks that take it, and why they are not those that it names."""
    named = [entry.ranks.value for entry in entries]
    wanted = [max(ranks, FEWEST_RANKS) for ranks in named]
    taken = _taken(named, FEWEST_RANKS, shifts=release.reads_json)
    takers = entries_taken(named, wanted, shifts=release.reads_json)
    by_entry: list[tuple[Range | None, str | None]] = []
    for at, span in enumerate(taken):
        if _holds(span, wanted[at]) or (named[at] < FEWEST_RANKS and span is None):
            by_entry.append((span, None))
            continue
        line = entries[takers[at]].ranks.line
        reason = f"a communicator of {wanted[at]} ranks does not get here: the entry of line {line} is taken"
        if span is not None:
            reason += f", and this entry holds for {_span(span)} ranks"
        by_entry.append((span, reason))
    return by_entry


def _holds(span: Range | None, value: int) -> bool:
    return span is not None and span[0] <= value and (span[1] is None or value <= span[1])


def _taken(named: Sequence[int], fewest: int, *, shifts: bool = False) -> list[Range | None]:
    """By entry the values from `fewest` on that take it; the first such range of each."""
    borders = sorted({fewest, *(value for value in named if value > fewest)})
    takers = entries_taken(named, borders, shifts=shifts) if named else []
    ranges: list[Range | None] = [None] * len(named)
    ends: list[int | None] = [*(border - 1 for border in borders[1:]), None]
    for begin, end, taker in zip(borders, ends, takers, strict=False):
        before = ranges[taker]
        if before is None:
            ranges[taker] = (begin, end)
        elif before[1] is not None and before[1] + 1 == begin:
            ranges[taker] = (before[0], end)
    return ranges


def _sizes(
    operation: str, rules: Sequence[ClassicSizeRule]
) -> list[tuple[Range | None, str | None]]:
    """By rule the bytes that take it, and why they are not those that it names."""
    named = [rule.size.value for rule in rules]
    if operation in LOOKED_UP_AT_0:
        taker = entries_taken(named, [0])[0] if named else 0
        return [
            ((0, 0), None)
            if at == taker
            else (
                None,
                f"coll/tuned looks {operation} up at 0 bytes: line {rules[taker].size.line} is taken",
            )
            for at in range(len(rules))
        ]
    by_rule: list[tuple[Range | None, str | None]] = []
    for at, (span, taker) in enumerate(
        zip(_taken(named, 0), entries_taken(named, named), strict=True)
    ):
        if taker == at:
            by_rule.append((span, None))
            continue
        reason = f"{named[at]} bytes do not get here: line {rules[taker].size.line} is taken"
        if span is not None:
            reason += f", and this rule holds for {_span(span)} bytes"
        by_rule.append((span, reason))
    return by_rule


def _span(span: Range) -> str:
    return f"{span[0]} and more" if span[1] is None else f"{span[0]} to {span[1]}"
