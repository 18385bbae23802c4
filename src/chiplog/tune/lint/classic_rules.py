"""Open MPI's classic rules as its reader takes them: numbers, whatever stands between them.

The reader skips what is no number without a word, reads a leading zero as octal, and ignores the whole file where a
number is missing or out of range (coll_tuned_dynamic_file.c of Open MPI 4.1, 5.0 and main). It knows no lines: after a
count that announces more or fewer than follow, it reads all that comes at the wrong places, and what it then finds
wrong is not the cause. So counts are checked by how the lines are laid out: people and programs write each rule on a
line of its own, and between rules stand two numbers before the first rule of a number of ranks, and four before that of
an operation.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby

from chiplog.counts import counted
from chiplog.outside import LARGEST_INTEGER
from chiplog.tune.formats.openmpi_rules import OPERATIONS
from chiplog.tune.lint.rule import FileIgnored, Rule, quoted, wrong
from chiplog.tune.settings import MOST_INT

MOST_DIGITS = 40
"""Given: a number with more digits is none that Open MPI keeps, in whatever base."""
OPERATION, ENTRY, SIZE = (
    ("operation", "operations"),
    ("number of ranks", "numbers of ranks"),
    ("message size", "message sizes"),
)
"""What counts count: by names for one and for several."""
RULE_NUMBERS = (4, 5)
"""Given: how many numbers a rule has in Open MPI's format."""
OF_FILE, OF_OPERATION, OF_ENTRY = 5, 4, 2
"""Given: how many numbers stand before the first rule of a file, an operation and a number of ranks there."""
_HEADER = re.compile(r"rule-file-version-(\d{1,9})")
_WORD = re.compile(
    r"(?P<space>\s+)|(?P<comment>#[^\n]*)|(?P<number>[+-]?(?:0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*))|(?P<other>\S)"
)


@dataclass(frozen=True)
class NumberInText:
    """A number, and where it stands."""

    value: int
    text: str
    line: int
    start: int
    end: int


@dataclass
class ClassicSizeRule:
    """From `size` bytes on: this algorithm."""

    size: NumberInText
    algorithm: NumberInText
    fan_out: NumberInText
    segment: NumberInText


@dataclass
class RankEntry:
    """From `ranks` on: these rules for sizes."""

    ranks: NumberInText
    announced: NumberInText
    rules: list[ClassicSizeRule] = field(default_factory=list)


@dataclass
class OperationRules:
    """All rules of one operation."""

    number: NumberInText
    entries: list[RankEntry] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The operation, by its number."""
        return OPERATIONS[self.number.value]


@dataclass
class Classic:
    """What a file holds."""

    operations: list[OperationRules]
    stray: list[Rule]
    """Words that are no numbers, numbers that are not what they look like, and what is not read at all."""
    ignored: FileIgnored | None
    """Why Open MPI ignores the whole file; what was read up to there is kept."""
    wrong_counts: list[Rule]
    """By which the rest is read at the wrong places, or not at all."""


class _ClassicReader:
    def __init__(self, text: str, has_header: bool) -> None:
        self.text = text
        self.stray: list[Rule] = []
        header = _HEADER.match(text) if has_header else None
        self.version = int(header[1]) if header else 1
        self.numbers = self._numbers(header.end() if header else 0)
        self.at = 0

    def _numbers(self, start: int) -> list[NumberInText]:
        numbers, word, line = [], "", 1 + self.text.count("\n", 0, start)
        for match in _WORD.finditer(self.text, start):
            if match.lastgroup == "other":
                word += match[0]
                continue
            if word and match.lastgroup != "number":
                self._note_word(word, line)
                word = ""
            if match.lastgroup == "number":
                numbers.append(NumberInText(_value(match[0]), match[0], line, *match.span()))
                word = word and word + match[0]
            line += match[0].count("\n")
        if word:
            self._note_word(word, line)
        return numbers

    def _note_word(self, word: str, line: int) -> None:
        reason = "it is no number: Open MPI skips it silently"
        self.stray.append(wrong(line, quoted(word), reason))

    def next(self, what: str, most: int = MOST_INT) -> NumberInText:
        if self.at >= len(self.numbers):
            line = 1 + self.text.count("\n", 0, len(self.text.rstrip()))
            raise FileIgnored(line, f"the file ends where {what} is due: it is truncated")
        number = self.numbers[self.at]
        self.at += 1
        if not 0 <= number.value <= most:
            raise FileIgnored(
                number.line, f"{what} is {quoted(number.text)}; it must be 0 to {most}"
            )
        if len(number.text) > 1 and number.text[0] == "0" and number.text[1] not in "xX":
            reason = (
                f"{number.text} is read as octal, {number.value}: write it without leading zeros"
            )
            self.stray.append(wrong(number.line, what, reason))
        return number

    def count(self, what: str, numbers_each: int) -> NumberInText:
        number = self.next(what)
        numbers_left = len(self.numbers) - self.at
        if number.value * numbers_each > numbers_left:
            raise FileIgnored(
                number.line,
                f"{what} is {number.value}, which takes {number.value * numbers_each} numbers; {numbers_left} follow: "
                "it is truncated, or the count is wrong",
            )
        return number

    @property
    def has_fifth(self) -> bool:
        """Does a further number of this rule stand on the same line? Read where the header says version 2 or more."""
        if self.version < 2 or self.at >= len(self.numbers) or self.at == 0:
            return False
        between = self.text[self.numbers[self.at - 1].end : self.numbers[self.at].start]
        return not between.strip(" \t") and self.numbers[self.at].text[0].isdigit()


def entries_taken(
    named: Sequence[int], values: Sequence[int], *, shifts: bool = False
) -> list[int]:
    """By value the entry that Open MPI's reader takes: it stops at the first that is larger; the first holds below.

    Since 6.0, where it `shifts` numbers of ranks by one entry, it takes the one at which it stops, or the last.
    """
    largest = list(accumulate(named, max))
    if shifts:
        return [bisect_right(largest[:-1], value) for value in values]
    return [max(bisect_right(largest, value) - 1, 0) for value in values]


def parse_classic(text: str, has_header: bool) -> Classic:
    """What Open MPI reads; `has_header` where the release knows the line "rule-file-version-N"."""
    reader = _ClassicReader(text, has_header)
    operations: list[OperationRules] = []
    ignored = None
    try:
        _read(reader, operations)
    except FileIgnored as error:
        ignored = error
    return Classic(operations, reader.stray, ignored, _wrong_counts(reader, operations, ignored))


def _wrong_counts(
    reader: _ClassicReader, operations: list[OperationRules], ignored: FileIgnored | None
) -> list[Rule]:
    """Those that the layout shows, where it does not agree with what was read."""
    rules = [
        rule for operation in operations for entry in operation.entries for rule in entry.rules
    ]
    across_lines = any(rule.size.line != rule.segment.line for rule in rules)
    has_rest = reader.at < len(reader.numbers)
    if ignored is not None:
        return _miscounted(reader.numbers, "Open MPI ignores the whole file")
    if across_lines:
        return _miscounted(reader.numbers, "all that comes after is read wrongly")
    return _miscounted(reader.numbers, "the rest is not read") if has_rest else []


def _read(reader: _ClassicReader, operations: list[OperationRules]) -> None:
    announced = reader.next("the number of operations", len(OPERATIONS))
    for _ in range(announced.value):
        operation = OperationRules(reader.next("the operation's number", len(OPERATIONS) - 1))
        operations.append(operation)
        for _ in range(reader.count("the number of communicator sizes", 2).value):
            entry = RankEntry(
                reader.next("the communicator size"),
                reader.count("the number of message sizes", RULE_NUMBERS[0]),
            )
            operation.entries.append(entry)
            for _ in range(entry.announced.value):
                entry.rules.append(_size_rule(reader, first=not entry.rules))
    if reader.at < len(reader.numbers):
        rest = reader.numbers[reader.at]
        reason = (
            f"line {announced.line} announces {announced.value} operations, which end before it"
        )
        reader.stray.append(wrong(rest.line, quoted(rest.text), f"it is not read: {reason}"))


def _size_rule(reader: _ClassicReader, *, first: bool) -> ClassicSizeRule:
    rule = ClassicSizeRule(
        reader.next("the message size", LARGEST_INTEGER),
        reader.next("the algorithm"),
        reader.next("the fan-out"),
        reader.next("the segment size"),
    )
    if reader.has_fifth:
        reader.next("the number of requests")
    if first and rule.size.value:
        raise FileIgnored(
            rule.size.line,
            f"the first message size of a communicator size must be 0, not {rule.size.value}",
        )
    return rule


def _value(text: str) -> int:
    digits = text.lstrip("+-")
    if len(digits) > MOST_DIGITS:
        return -1 if text[0] == "-" else LARGEST_INTEGER + 1
    base = 16 if digits[:2].lower() == "0x" else 8 if digits[0] == "0" else 10  # Given: C's
    number = int(digits, base)
    return -number if text[0] == "-" else number


@dataclass
class _Count:
    """What is announced, by its names for one and for several, and how many of it follow."""

    announced: NumberInText
    names: tuple[str, str]
    follow: int = 0


def _miscounted(numbers: Sequence[NumberInText], ending: str) -> list[Rule]:
    """The counts that are wrong, by line; none where the layout does not tell. `ending` says what comes of them."""
    return [
        wrong(
            count.announced.line,
            f"{counted(count.announced.value, *count.names)} announced here",
            f"{counted(count.follow, 'follows', 'follow')}: {ending}",
        )
        for count in _counts(numbers)
        if count.follow != count.announced.value
    ]


def _counts(numbers: Sequence[NumberInText]) -> list[_Count]:
    """All counts of a file in order; none where the numbers between its rules are not as many as there should be."""
    lines = [list(line) for _, line in groupby(numbers, lambda number: number.line)]
    counts: list[_Count] = []
    operations = entries = None
    before: list[NumberInText] = []
    for line in lines:
        if len(line) not in RULE_NUMBERS:
            before += line
            continue
        if len(before) == OF_FILE and operations is None:
            operations = _Count(before.pop(0), OPERATION)
            counts.append(operations)
        if len(before) == OF_OPERATION and operations is not None:
            operations.follow += 1
            entries = _Count(before[1], ENTRY)
            counts.append(entries)
            before = before[2:]
        if len(before) == OF_ENTRY and entries is not None:
            entries.follow += 1
            counts.append(_Count(before[1], SIZE))
        elif before or operations is None:
            return []
        before = []
        counts[-1].follow += 1
    return [] if before else counts
