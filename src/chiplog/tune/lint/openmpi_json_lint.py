"""Open MPI's JSON rules (6.0 and later): all bounds are inclusive, and the first rule that fits is taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chiplog.tune.formats.openmpi_rules import OPERATIONS
from chiplog.tune.lint.classic_lint import FEWEST_RANKS, LOOKED_UP_AT_0
from chiplog.tune.lint.json_lines import JsonValue, Member, parse_json
from chiplog.tune.lint.openmpi_release import OpenMpiRelease
from chiplog.tune.lint.rule import (
    THE_FILE,
    FileIgnored,
    NamedSize,
    Rule,
    all_ignored,
    quoted,
    shown,
    wrong,
)
from chiplog.tune.lint.size_notes import unreachable
from chiplog.tune.settings import MOST_INT, WITHOUT_END

TOP_KEYS = ("rule_file_version", "module", "collectives", "$schema")
RANK_KEYS = ("comm_size_min", "comm_size_max", "comm_rank_distribution", "rules")
SIZE_KEYS = ("msg_size_min", "msg_size_max", "alg", "faninout", "seg_size", "reqs")
DISTRIBUTIONS = ("any", "one-per-node", "single-node")
"""The keys and values of the release 6.0, by its schema in docs/tuning-apps."""
MOST_BEFORE = 2000
"""Given: rules that may hide a later one; beyond, nothing is said to be hidden."""


@dataclass(frozen=True)
class _Range:
    first: int
    last: int

    def holds(self, other: _Range) -> bool:
        return self.first <= other.first and other.last <= self.last


class _Linter:
    def __init__(self, release: OpenMpiRelease) -> None:
        self.release = release
        self.rules: list[Rule] = []

    def wrong(self, line: int, text: str, reason: str) -> None:
        self.rules.append(wrong(line, text, reason))

    def unknown_keys(self, value: JsonValue, known: Sequence[str]) -> None:
        last = {member.key: member for member in value.members}
        for member in value.members:
            if member.key not in known:
                names = ", ".join(known)
                self.wrong(member.line, quoted(member.key), f"unknown key; Open MPI knows {names}")
            elif last[member.key] is not member:
                self.wrong(member.line, quoted(member.key), "the key stands there again below")

    def file(self, root: JsonValue) -> None:
        self.unknown_keys(root, TOP_KEYS)
        collectives = root.get("collectives")
        if collectives is None or collectives.kind != "object":
            raise FileIgnored(root.line, "there is no object 'collectives'")
        for member in collectives.members:
            self.operation(member)

    def operation(self, member: Member) -> None:
        if member.key not in OPERATIONS:
            raise FileIgnored(member.line, f"unknown operation {quoted(member.key)}")
        if member.value.kind != "array":
            raise FileIgnored(member.line, f"{member.key} is no array of entries")
        before: list[tuple[int, _Range]] = []
        for entry in member.value.members:
            self.entry(member.key, entry.value, before)

    def entry(self, operation: str, entry: JsonValue, before: list[tuple[int, _Range]]) -> None:
        if entry.kind != "object":
            raise FileIgnored(entry.line, "an entry for communicators must be an object")
        self.unknown_keys(entry, RANK_KEYS)
        ranks = self.range(entry, "comm_size", MOST_INT)
        distribution = entry.get("comm_rank_distribution")
        where = "any" if distribution is None else distribution.text
        if where not in DISTRIBUTIONS:
            assert distribution is not None
            self.wrong(
                distribution.line,
                f"comm_rank_distribution {quoted(where)}",
                f"unknown; Open MPI takes it for 'any', and knows {', '.join(DISTRIBUTIONS)}",
            )
        real = _Range(max(ranks.first, FEWEST_RANKS), ranks.last)
        hidden = _hidden(real, before, "ranks")
        if where not in DISTRIBUTIONS[1:]:
            before.append((entry.line, ranks))
        rules = entry.get("rules")
        if rules is None or rules.kind not in ("array", "object"):
            raise FileIgnored(entry.line, "this entry has no array 'rules'")
        sizes: list[tuple[int, _Range]] = []
        for member in rules.members:
            self.rule(operation, ranks, member.value, sizes, hidden)

    def rule(
        self,
        operation: str,
        ranks: _Range,
        rule: JsonValue,
        before: list[tuple[int, _Range]],
        hidden: str | None,
    ) -> None:
        if rule.kind != "object":
            raise FileIgnored(rule.line, "a rule must be an object")
        self.unknown_keys(rule, SIZE_KEYS)
        sizes = self.range(rule, "msg_size", WITHOUT_END)
        for key in ("faninout", "seg_size", "reqs"):
            self.number(rule, key, 0)
        algorithm = rule.get("alg")
        if algorithm is None or algorithm.kind not in ("string", "number"):
            self.wrong(rule.line, operation, "the rule has no 'alg', a name or a number")
            return
        text = f"{operation}, {ranks.first} ranks, {sizes.first} B: {shown(algorithm.text)}"
        legal, reason = self.algorithm(operation, algorithm)
        looked_up = _Range(0, 0) if operation in LOOKED_UP_AT_0 else sizes
        if not sizes.holds(looked_up):
            hidden = hidden or f"coll/tuned looks {operation} up at 0 bytes"
        hidden = hidden or _hidden(looked_up, before, "bytes")
        fewest = max(ranks.first, FEWEST_RANKS)
        last = None if sizes.last >= WITHOUT_END else sizes.last
        hidden = hidden or unreachable(operation, sizes.first, last, fewest)
        named = NamedSize(operation, fewest, sizes.first)
        judged = Rule(algorithm.line, text, legal, None, reason, named)
        if hidden:
            judged = judged.not_taken(hidden if legal is not False else f"{reason}; {hidden}")
        if legal is not False:
            before.append((rule.line, sizes))
        self.rules.append(judged)

    def algorithm(self, operation: str, value: JsonValue) -> tuple[bool | None, str | None]:
        if self.release.algorithms is None:
            return None, f"{self.release} is not here to ask for the algorithms of {operation}"
        known = self.release.algorithms.get(operation)
        if known is None:
            return False, f"coll/tuned of {self.release} has no {operation}"
        if value.text in known.values() or value.integer in known:
            return True, None
        return False, f"{self.release} has no algorithm {quoted(value.text)} of {operation}"

    def range(self, value: JsonValue, name: str, most: int) -> _Range:
        first = self.number(value, f"{name}_min", 0)
        last = self.number(value, f"{name}_max", most)
        if first > last:
            line = next(member.line for member in value.members if member.key.startswith(name))
            self.wrong(line, name, f"the range {first} to {last} is empty, so nothing gets here")
        return _Range(first, last)

    def number(self, value: JsonValue, key: str, default: int) -> int:
        number = value.get(key)
        if number is None:
            return default
        if number.kind == "string" and number.text[:3] in ("inf", "Inf", "INF"):
            return WITHOUT_END
        if number.integer is None:
            raise FileIgnored(number.line, f"{key} is {quoted(number.text)}, no whole number")
        if number.integer < 0:
            self.wrong(number.line, f"{key} {number.integer}", "it is negative")
        return number.integer


def lint_openmpi_json(text: str, release: OpenMpiRelease) -> list[Rule]:
    """What is known of each rule without a run."""
    if not release.reads_json:
        reason = f"{release} reads no JSON, which is for 6.0 and later: it ignores the file"
        return [wrong(1, THE_FILE, reason)]
    linter = _Linter(release)
    try:
        linter.file(parse_json(text))
    except FileIgnored as error:
        return all_ignored(linter.rules, error, release)
    return linter.rules


def _hidden(wanted: _Range, before: Sequence[tuple[int, _Range]], unit: str) -> str | None:
    """The lines that together take all of a range before it; None where something is left."""
    before = before[:MOST_BEFORE]
    first_left = wanted.first
    lines: list[int] = []
    while first_left <= wanted.last:
        taker = next(
            (
                (line, earlier)
                for line, earlier in before
                if earlier.first <= first_left <= earlier.last
            ),
            None,
        )
        if taker is None:
            return None
        lines.append(taker[0])
        first_left = taker[1].last + 1
    if not lines:
        return None
    which = "line " + ", ".join(map(str, dict.fromkeys(lines)))
    return f"{which} takes all these {unit} before it, and the first that fits is taken"
