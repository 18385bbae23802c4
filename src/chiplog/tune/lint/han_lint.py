"""Open MPI's rules of coll/han: which component does an operation, by level, number of ranks and size.

The reader (coll_han_dynamic_file.c of Open MPI 5.0 and main) takes none of the file where it finds a mistake. Of
several rules that fit, the last one is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from chiplog.collectives.mpis.openmpi import FIRST_HAN
from chiplog.outside import LARGEST_INTEGER
from chiplog.tune.formats.openmpi_han import HAN, comes_first
from chiplog.tune.formats.openmpi_rules import OPERATIONS
from chiplog.tune.lint.classic_lint import LOOKED_UP_AT_0
from chiplog.tune.lint.openmpi_release import OpenMpiRelease
from chiplog.tune.lint.rule import THE_FILE, FileIgnored, Rule, quoted, shown, wrong
from chiplog.tune.settings import MOST_INT

WHOLE = "global_communicator"
LEVELS = ("intra_node", "inter_node", WHOLE)
"""By number."""
COMPONENTS = ("self", "basic", "libnbc", "tuned", "sm", "adapt", HAN, "xhc")
NOT_PROVED = "not proved: han takes part only where ranks are on several hosts, several on each"
_TOKEN = re.compile(r"#[^\n]*|\S+")


def looks_like_han(text: str) -> bool:
    """Are there names of levels or components, which classic rules have not?"""
    return any(token.text in (*COMPONENTS, *LEVELS) for token in _tokens(text))


@dataclass(frozen=True)
class _HanToken:
    text: str
    line: int


@dataclass(frozen=True)
class _Size:
    bytes: int
    component: _HanToken
    algorithm: str


@dataclass(frozen=True)
class _Entry:
    ranks: int
    line: int
    sizes: list[_Size] = field(default_factory=list)


@dataclass(frozen=True)
class _HanPart:
    """All entries of one operation at one level."""

    operation: str
    level: str
    line: int
    entries: list[_Entry] = field(default_factory=list)


def _tokens(text: str) -> Iterator[_HanToken]:
    line, at = 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        if not match[0].startswith("#"):
            yield _HanToken(match[0], line)


class _HanReader:
    def __init__(self, text: str) -> None:
        self.tokens = list(_tokens(text))
        self.at = 0
        self.last_line = 1 + text.rstrip().count("\n")

    def next(self, what: str) -> _HanToken:
        if self.at >= len(self.tokens):
            raise FileIgnored(self.last_line, f"the file ends where {what} is due: it is truncated")
        self.at += 1
        return self.tokens[self.at - 1]

    def number(self, what: str, least: int = 0, most: int = MOST_INT) -> tuple[int, int]:
        """Its value and line."""
        token = self.next(what)
        is_plain = re.fullmatch(r"0|[1-9][0-9]{0,18}", token.text)
        if not is_plain or not least <= int(token.text) <= most:
            span = f"{least} to {most}" if most > 1 else " or ".join(map(str, range(least, 2)))
            raise FileIgnored(token.line, f"{what} is {quoted(token.text)}; it must be {span}")
        return int(token.text), token.line

    def count(self, what: str, tokens_each: int, least: int = 0) -> int:
        value, line = self.number(what, least)
        tokens_left = len(self.tokens) - self.at
        if value * tokens_each > tokens_left:
            raise FileIgnored(
                line,
                f"{what} is {value}, and {tokens_left} words follow: it is truncated, or the count is wrong",
            )
        return value

    def name(self, what: str, known: Sequence[str]) -> tuple[str, int]:
        """One of `known`, or its number; and its line."""
        token = self.next(what)
        if token.text in known:
            return token.text, token.line
        if re.fullmatch(r"[0-9]{1,2}", token.text) and int(token.text) < len(known):
            return known[int(token.text)], token.line
        names = ", ".join(known) if len(known) < len(OPERATIONS) else "those of MPI, in lower case"
        raise FileIgnored(token.line, f"{what} is {quoted(token.text)}; known are {names}")

    def takes(self, begins: str) -> str | None:
        """The next token if it begins so."""
        if self.at < len(self.tokens) and self.tokens[self.at].text.startswith(begins):
            self.at += 1
            return self.tokens[self.at - 1].text
        return None


def lint_han(text: str, release: OpenMpiRelease) -> list[Rule]:
    """What is known of each rule without a run."""
    if release.version < FIRST_HAN:
        why = f"rules of han are known for Open MPI 5.0 and later, not for {release}"
        return [Rule(1, THE_FILE).unproved(why)]
    reader = _HanReader(text)
    parts: list[_HanPart] = []
    try:
        _read(reader, parts)
    except FileIgnored as error:
        whole = wrong(error.line, THE_FILE, f"{error.reason}; {release} ignores it")
        hidden = f"Open MPI ignores the whole file for line {error.line}"
        return [*_rules(parts, release, hidden), whole]
    rules = list(_rules(parts, release, None))
    if reader.at < len(reader.tokens):
        rest = reader.tokens[reader.at]
        reason = "it is not read: the operations that are announced end before it"
        rules.append(wrong(rest.line, quoted(rest.text), reason))
    return rules


def _read(reader: _HanReader, parts: list[_HanPart]) -> None:
    for _ in range(reader.count("the number of operations", 2, least=1)):
        operation, _ = reader.name("the operation", OPERATIONS)
        for _ in range(reader.count("the number of levels", 2)):
            part = _HanPart(operation, *reader.name("the level", LEVELS))
            parts.append(part)
            for _ in range(reader.count("the number of numbers of ranks", 2)):
                _read_entry(reader, part.entries)


def _read_entry(reader: _HanReader, entries: list[_Entry]) -> None:
    first = "" if entries else "first "
    ranks, line = reader.number(f"the {first}number of ranks", 1, MOST_INT if entries else 1)
    entry = _Entry(ranks, line)
    entries.append(entry)
    for _ in range(reader.count("the number of sizes", 2)):
        first = "" if entry.sizes else "first "
        size, _ = reader.number(f"the {first}size", 0, LARGEST_INTEGER if entry.sizes else 1)
        component = reader.next("the component")
        if component.text not in COMPONENTS:
            known = ", ".join(COMPONENTS)
            raise FileIgnored(
                component.line, f"the component is {quoted(component.text)}; known are {known}"
            )
        algorithm = reader.takes("@") if component.text == HAN else None
        if reader.takes("["):
            while not reader.next("the end of segment lengths, ]").text.endswith("]"):
                pass
        entry.sizes.append(_Size(size, component, algorithm or ""))


def _rules(
    parts: Sequence[_HanPart], release: OpenMpiRelease, ignored: str | None
) -> Iterator[Rule]:
    last = {(part_of_file.operation, part_of_file.level): part_of_file for part_of_file in parts}
    for part in parts:
        hidden = ignored
        again = last[part.operation, part.level]
        if again is not part:
            hidden = hidden or f"line {again.line} begins {part.operation} anew and replaces this"
        elif not comes_first(part.operation, release.version):
            hidden = hidden or f"han of {release} does no {part.operation}"
        later = _hidden([entry_ranks.ranks for entry_ranks in part.entries], "ranks")
        for entry, why in zip(part.entries, later, strict=True):
            yield from _of_entry(part, entry, release, hidden or why)


def _of_entry(
    part: _HanPart, entry: _Entry, release: OpenMpiRelease, hidden: str | None
) -> Iterator[Rule]:
    later = _hidden([size_rule.bytes for size_rule in entry.sizes], "bytes")
    for size, why in zip(entry.sizes, later, strict=True):
        why = hidden or why
        if part.operation in LOOKED_UP_AT_0 and size.bytes > 0:
            why = why or f"han looks {part.operation} up at 0 bytes"
        name = f"{size.component.text} {shown(size.algorithm)}".rstrip()
        text = f"{part.operation}, {entry.ranks} ranks, {size.bytes} B: {name}"
        illegal = _illegal(part, size, release)
        legal = False if illegal else None if release.components is None else True
        reason = "; ".join(filter(None, (illegal, why))) or NOT_PROVED
        yield Rule(size.component.line, text, legal, False if why else None, reason)


def _hidden(values: Sequence[int], unit: str) -> list[str | None]:
    """By value why it is not taken: the last one that is not larger is."""
    reasons: list[str | None] = []
    least: int | None = None
    for value in reversed(values):
        is_hidden = least is not None and least <= value
        reasons.append(
            f"a later entry holds for {value} {unit}, too, and the last one is taken"
            if is_hidden
            else None
        )
        least = value if least is None else min(least, value)
    return reasons[::-1]


def _illegal(part: _HanPart, size: _Size, release: OpenMpiRelease) -> str | None:
    name = size.component.text
    if name == HAN and part.level != WHOLE:
        return f"han can't be its own part: at {part.level} another component must do the operation"
    if release.components is not None and name not in release.components:
        return f"{release} has no component {name} of coll here"
    return None
