"""The tests of MPICH's trees: what is known of calls that pass them, and a tree without those that are decided.

A communicator's tests are asked once, when it is made, down to the first test of a message; what stands below that is
asked at each call (csel.c).
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field, replace

from chiplog.tune.mpich_tree import Tree
from chiplog.tune.settings import WITHOUT_END

LEAF = ("algorithm=", "composition=")
NUMBERS = ("comm_size", "avg_msg_size", "total_msg_size", "count", "comm_avg_ppn")
"""Tests of numbers; without a last branch that takes the rest, MPICH aborts as it starts."""
PRUNED = ("comm_type", "comm_size", "comm_hierarchy", "is_node_consecutive", "comm_avg_ppn")
"""Tests that are asked once a communicator."""
TEST = re.compile(r"(\w+?)(<=|<|=)(\w+)")
ANSWERS = {
    "comm_type": frozenset(("intra", "inter")),
    "comm_hierarchy": frozenset(("parent", "node_roots", "node", "flat")),
}
YES_NO = frozenset(("yes", "no"))


@dataclass(frozen=True)
class State:
    """What is known of a call that gets to a place of the tree."""

    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    facts: dict[str, frozenset[str]] = field(default_factory=dict)
    """By test with words, the answers that are left."""
    lines: dict[str, int] = field(default_factory=dict)
    """By test, the line that decided last."""
    is_searched: bool = False
    """Does the place stand below a test of the message?"""

    def range(self, name: str) -> tuple[int, int]:
        """The numbers that are left."""
        return self.ranges.get(name, (1 if name == "comm_size" else 0, WITHOUT_END))


def applied(state: State, key: str, line: int) -> tuple[State | None, State | None]:
    """Splits the calls of a state by a test: returns those that pass it, and those that fail it.

    Each is None if no call is left.
    """
    match = TEST.fullmatch(key)
    if key.startswith("collective="):
        return state, state
    if match is None or match[3] == "any":
        return state, None
    name, sign, word = match.groups()
    searched = state.is_searched or name not in PRUNED
    if name in NUMBERS and word.isdecimal():
        return _by_number(state, name, sign, int(word), line, searched)
    if name in ("comm_size", "count"):
        name = word if word == "node_comm_size" else f"{name} {word}"
        word = "yes"
    answers_left = state.facts.get(name, ANSWERS.get(name, YES_NO))
    passed, failed = answers_left & {word}, answers_left - {word}
    return (
        _narrowed(state, name, passed, line, searched),
        _narrowed(state, name, failed, line, state.is_searched),
    )


def _has_pow2(state: State) -> bool:
    """Is there a number of ranks left that is a power of two, or none, as the tests say?"""
    low, high = state.range("comm_size")
    answers = state.facts.get("comm_size pow2", YES_NO)
    if answers == {"yes"}:
        return (1 << max(low - 1, 0).bit_length()) <= high
    if answers == {"no"}:
        return any(ranks & (ranks - 1) for ranks in range(low, min(high, low + 2) + 1))
    return True


def _by_number(
    state: State, name: str, sign: str, number: int, line: int, searched: bool
) -> tuple[State | None, State | None]:
    low, high = state.range(name)
    # csel.c takes comm_size<N for comm_size<=N where a test of the message stands above it.
    last = number if sign == "<=" or (name == "comm_size" and state.is_searched) else number - 1
    return (
        _narrowed(state, name, (low, min(high, last)), line, searched),
        _narrowed(state, name, (max(low, last + 1), high), line, state.is_searched),
    )


def _narrowed(
    state: State, name: str, left: frozenset[str] | tuple[int, int], line: int, searched: bool
) -> State | None:
    """The state with the answers, or the range of numbers, that are left of a test; None if no call has these."""
    lines = {**state.lines, name: line}
    if isinstance(left, tuple):
        ranges = {**state.ranges, name: left}
        narrowed = replace(state, ranges=ranges, lines=lines, is_searched=searched)
        is_empty = left[0] > left[1]
    else:
        facts = {**state.facts, name: left}
        narrowed = replace(state, facts=facts, lines=lines, is_searched=searched)
        is_empty = not left
    return narrowed if not is_empty and _has_pow2(narrowed) else None


def settled(tree: Tree, state: State) -> Tree:
    """What the tree does with calls of that state, without the tests that all of them pass, or none.

    Numbers of ranks are asked for with <=, which means the same wherever the branch is put.
    """
    if any(key.startswith(LEAF) for key in tree):
        return copy.deepcopy(tree)
    kept: list[tuple[str, Tree]] = []
    state_left: State | None = state
    for key, below in tree.items():
        if state_left is None:
            break
        inside, outside = applied(state_left, key, 0)
        if inside is not None:
            kept.append((_asked_plainly(key, inside, outside), settled(below, inside)))
        state_left = outside
    if len(kept) == 1 and state_left is None:
        return kept[0][1]
    return dict(kept)


def _asked_plainly(key: str, inside: State, outside: State | None) -> str:
    match = TEST.fullmatch(key)
    if match is None or match[1] not in NUMBERS or not match[3].isdecimal():
        return key
    if outside is None:
        return f"{match[1]}=any"
    return f"comm_size<={inside.range('comm_size')[1]}" if match[1] == "comm_size" else key
