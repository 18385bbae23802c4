"""A tree of MPICH as its reader takes it: tests, one below the other, and algorithms as leaves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from chiplog.tune.lint.json_lines import JsonValue, Member
from chiplog.tune.lint.mpich_release import MpichRelease
from chiplog.tune.lint.rule import MOST_NAME, Rule, quoted, shown, wrong
from chiplog.tune.mpich_tests import LEAF, NUMBERS, PRUNED, TEST, YES_NO, State, applied

OF_THE_MACHINE = ("comm_hierarchy", "is_node_consecutive", "is_multi_threaded")


@dataclass(frozen=True)
class Leaf:
    """An algorithm in the tree."""

    collective: str
    algorithm: str
    """With "algorithm=" or "composition=" before it."""
    state: State
    rule: Rule
    place: JsonValue
    """The object that holds the algorithm; a mark replaces its members."""


_Place = tuple[JsonValue, State, tuple[str, ...], str]
"""A branch, what is known of calls there, the tests above it, and the operation."""
_OF = re.compile(
    r"MPI\w*?_(?:POSIX_mpi_)?(?P<of>\w+?)_(?P<kind>intra|inter|allcomm|release_gather|ipc)\w*"
)


class TreeReader:
    """Walks a tree once: what is wrong in `rules`, the leaves that calls can reach in `leaves`."""

    def __init__(self, release: MpichRelease) -> None:
        self.release = release
        self.rules: list[Rule] = []
        self.leaves: list[Leaf] = []
        self.whole = True
        """Is it the whole tree, in which each operation must have a leaf for each call?"""

    def wrong(self, line: int, text: str, reason: str) -> None:
        """Add what is wrong at a line."""
        self.rules.append(wrong(line, text, reason))

    def walk(self, root: JsonValue) -> None:
        """Without recursion: the depth is limited by the parser, not by Python."""
        work: list[_Place] = [(root, State(), (), "")]
        while work:
            value, state, path, collective = work.pop()
            work.extend(reversed(list(self._level(value, state, path, collective))))

    def _level(
        self, value: JsonValue, state: State, path: tuple[str, ...], collective: str
    ) -> Iterator[_Place]:
        members = self._without_repeated(value)
        if not members:
            where = quoted(path[-1]) if path else "the file"
            self.wrong(value.line, where, "nothing stands below it: MPICH aborts as it starts")
        if any(_key(member).startswith(LEAF) for member in members):
            self._leaf(value, members, state, path, collective)
            return
        state_left: State | None = state
        all_legal = True
        for at, member in enumerate(members):
            key = _key(member)
            if member.value.kind != "object":
                self.wrong(
                    member.line, quoted(key), "its value is no object: MPICH aborts as it starts"
                )
                continue
            name = key.partition("=")[2] if key.startswith("collective=") else collective
            if not self._is_legal(member, key, path, name, is_last=at + 1 == len(members)):
                all_legal = False
                continue
            inside, outside = (
                (None, None) if state_left is None else applied(state_left, key, member.line)
            )
            if inside is None:
                self._hidden(member, key, state_left, state)
            else:
                yield member.value, inside, (*path, key), name
            state_left = outside
        if all_legal:
            self._rest(members, collective, state_left)

    def _without_repeated(self, value: JsonValue) -> list[Member]:
        """The library keeps a key's first place, and its last value."""
        last: dict[str, Member] = {}
        order: dict[str, Member] = {}
        for member in value.members:
            if member.key in order:
                before = last[member.key]
                self.wrong(
                    before.line,
                    quoted(member.key),
                    f"line {member.line} has the key again and replaces it",
                )
            order.setdefault(member.key, member)
            last[member.key] = member
        return [last[key] for key in order]

    def _is_legal(
        self, member: Member, key: str, path: tuple[str, ...], collective: str, *, is_last: bool
    ) -> bool:
        reason = self._illegal(key, path, collective, is_last=is_last)
        if reason:
            self.wrong(member.line, quoted(key), reason)
        return reason is None

    def _illegal(
        self, key: str, path: tuple[str, ...], collective: str, *, is_last: bool
    ) -> str | None:
        if key.startswith("collective="):
            if any(not key_above.startswith(PRUNED) for key_above in path):
                return "an operation can stand only at the top: MPICH aborts"
            prefix = f"_{collective.capitalize()}_"
            known = any(
                prefix in word or f"mpi_{collective}_" in word for word in self.release.words
            )
            if self.release.words and not known:
                return f"{self.release} knows no such operation"
            return None
        if self.release.words and not self.release.knows_test(key):
            return f"unknown key: {self.release} aborts as it starts"
        match = TEST.fullmatch(key)
        if key == "any":
            name = "any"
        elif match is None:
            return "unknown key"
        else:
            name = match[1]
        if not collective and name not in ("comm_type", "comm_size", "comm_hierarchy", "any"):
            return "it stands above the operation: MPICH aborts"
        takes_all = (key == "any" or key.endswith("=any")) and not key.startswith("comm_hierarchy")
        if takes_all and not is_last:
            return "it takes all that is left, so it must be the last: MPICH aborts as it starts"
        if collective and not key.endswith("=any") and not self.release.can_ask(collective, name):
            return f"{self.release} can't ask this of {collective}: it aborts at the first call"
        return None

    def _hidden(self, member: Member, key: str, state_left: State | None, state: State) -> None:
        name = TEST.fullmatch(key)
        before = state_left or state
        line = before.lines.get(name[1], 0) if name else 0
        because = (
            f"the test of line {line} has taken all of these"
            if line and line != member.line
            else ("the tests above it take all of these")
        )
        for leaf in _leaves_below(member):
            rule = Rule(leaf.line, f"{quoted(key)}: {_short(_key(leaf))}")
            self.rules.append(rule.not_taken(f"no call gets here: {because}"))

    def _rest(self, members: list[Member], collective: str, state_left: State | None) -> None:
        if state_left is None or not members or not collective:
            return
        last = members[-1]
        match = TEST.fullmatch(_key(last))
        name = match[1] if match else ""
        if name in NUMBERS and not _key(last).endswith("=any"):
            can_end = not self.release.words or self.release.knows_test(f"{name}=any")
            reason = (
                f"no '{name}=any' takes the rest: MPICH aborts as it starts"
                if can_end
                else f"nothing takes the rest, and {self.release} knows no '{name}=any': leave this test out"
            )
            self.wrong(last.line, quoted(_key(last)), reason)
        elif (
            self.whole
            and name.startswith("is_")
            and name not in ("is_multi_threaded", "is_node_consecutive")
        ):
            self.wrong(
                last.line,
                quoted(_key(last)),
                "no branch takes the rest: MPICH aborts at the first such call",
            )

    def _leaf(
        self,
        value: JsonValue,
        members: list[Member],
        state: State,
        path: tuple[str, ...],
        collective: str,
    ) -> None:
        leaf = [member for member in members if _key(member).startswith(LEAF)][-1]
        key = _key(leaf)
        text = f"{shown(collective) or 'all'}, {shown(path[-1]) if path else 'all'}: {_short(key)}"
        for other in members:
            if other is not leaf:
                self.wrong(
                    other.line,
                    quoted(_key(other)),
                    f"it stands beside {_short(key)}, which is taken for all",
                )
        reason = self._illegal_leaf(key, collective, state)
        if reason:
            self.wrong(leaf.line, text, reason)
            return
        self._parameters(leaf, key)
        legal = True if self.release.words else None
        why = None if legal else f"not proved: {self.release} is not here to ask"
        rule = Rule(leaf.line, text, legal, None, why)
        self.leaves.append(Leaf(collective, key, state, rule, value))

    def _illegal_leaf(self, key: str, collective: str, state: State) -> str | None:
        name = key.partition("=")[2]
        if self.release.words and key not in self.release.words:
            return f"{self.release} has no {_short(key)}: it aborts as it starts"
        of = _OF.fullmatch(name)
        if of is None or not collective:
            return None if collective else "it stands above all operations: MPICH aborts"
        if of["of"].lower() != collective:
            return f"{_short(key)} is an algorithm of {of['of'].lower()}, not of {collective}: MPICH aborts at the call"
        kinds = state.facts.get("comm_type", frozenset())
        has_inter = any(f"_{of['of']}_inter_" in word for word in self.release.words)
        if of["kind"] in ("intra", "inter") and kinds and of["kind"] not in kinds and has_inter:
            return f"{_short(key)} is for {of['kind']}communicators; these calls are of others"
        return self._against_own(key, state)

    def _against_own(self, key: str, state: State) -> str | None:
        """In place, or across nodes, where the release's own tree never uses the algorithm."""
        for guard in self.release.guards.get(key, ()):
            test, _, answer = guard.partition("=")
            if test == "is_sendbuf_inplace" and state.facts.get(test, YES_NO) != {answer}:
                may = "only in place" if answer == "yes" else "not in place"
                return f"{self.release} can use {_short(key)} {may}; here calls of the other kind get to it"
            if guard == "comm_size=node_comm_size" and "yes" not in _only(state, "node_comm_size"):
                return (
                    f"{_short(key)} is for communicators on one node; it must stand below '{guard}'"
                )
        return None

    def _parameters(self, leaf: Member, key: str) -> None:
        for member in leaf.value.members:
            name = _key(member).partition("=")[0] + "="
            if self.release.words and name not in self.release.words:
                self.wrong(
                    member.line,
                    quoted(_key(member)),
                    f"unknown parameter of {_short(key)}: MPICH ignores it",
                )


def _only(state: State, name: str) -> frozenset[str]:
    values = state.facts.get(name, YES_NO)
    return values if len(values) == 1 else frozenset()


def _key(member: Member) -> str:
    """MPICH takes the blanks out of keys."""
    return member.key.replace(" ", "")


def _short(key: str) -> str:
    return shown(key.partition("=")[2], MOST_NAME)


def _leaves_below(member: Member) -> list[Member]:
    leaves, work = [], [member]
    while work:
        below = work.pop()
        if _key(below).startswith(LEAF):
            leaves.append(below)
        else:
            work.extend(reversed(below.value.members))
    return leaves or [member]
