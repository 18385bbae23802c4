"""What an MPICH's library itself says: the keys and algorithms that it compares with, and its own trees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from chiplog.collectives.mpis.mpich import FIRST_KNOWN
from chiplog.tune.mpich_tests import LEAF, State, settled
from chiplog.tune.mpich_tree import Carried, Tree, carried
from chiplog.tune.settings import MOST_INT
from chiplog.tune.version import InstalledRelease

FIRST_UNKNOWN = (6, 0)
"""Given: the first release whose reader of trees is not known to be the one that is described here."""
_BY_MESSAGE = ("allreduce", "bcast", "reduce", "alltoall")
_BY_BLOCKS = ("alltoallv", "alltoallw", "allgather", "allgatherv")
_SCATTERS = ("reduce_scatter", "reduce_scatter_block")
BOTH_KINDS = {
    "avg_msg_size": _BY_MESSAGE,
    "total_msg_size": (*_BY_MESSAGE, *_BY_BLOCKS, "gather", "scatter", *_SCATTERS),
    "count": ("bcast", "allreduce", "reduce", "allgather", "allgatherv", *_SCATTERS),
    "is_sendbuf_inplace": ("alltoall", "alltoallv", "alltoallw"),
    "is_commutative": ("allreduce", "reduce", *_SCATTERS),
    "is_op_built_in": ("allreduce", "reduce"),
    "is_block_regular": ("reduce_scatter",),
}
"""By test, the operations that MPICH can ask it of (csel.c of 4.0 to 5.0); for others it aborts at the first call."""
NEVER_OF = {"count": ("ibcast",)}


@dataclass(frozen=True)
class MpichRelease(InstalledRelease):
    """A release of MPICH."""

    kind: str = field(default="mpich", init=False)

    @property
    def is_known(self) -> bool:
        """Does it read trees as described here?"""
        return FIRST_KNOWN <= self.version < FIRST_UNKNOWN

    @cached_property
    def _carried(self) -> Carried:
        return carried(self.mpi) if self.mpi else Carried(frozenset(), ())

    @cached_property
    def words(self) -> frozenset[str]:
        """The keys, and the beginnings of keys, in its library and its own trees; empty where it is not here."""
        keys = set(self._carried.words)
        for tree in self._carried.trees:
            for path in _paths(tree):
                keys.update(path)
        return frozenset(keys)

    @cached_property
    def own(self) -> Tree:
        """The tree by which it chooses without a file; empty where that is not known."""
        trees = self._carried.trees
        return max(trees, key=len) if trees else {}

    @cached_property
    def guards(self) -> dict[str, frozenset[str]]:
        """By algorithm, the tests that all its leaves of the own trees stand below."""
        tests_above: dict[str, frozenset[str]] = {}
        for tree in self._carried.trees:
            for path in _paths(tree):
                tests_above[path[-1]] = tests_above.get(path[-1], frozenset(path)) & frozenset(path)
        return tests_above

    def chooses(self, algorithm: str, collective: str, state: State) -> bool:
        """Does its own tree lead all calls of that state to this leaf?"""
        branch = self.own.get(f"collective={collective}")
        if branch is None:
            return False
        settled_branch = settled(branch, replace(state, is_searched=False))
        return list(settled_branch) == [algorithm]

    def knows_test(self, key: str) -> bool:
        """Is the test one that its library compares keys with?"""
        if key in self.words:
            return not key.endswith(("<", "<=", "="))
        number = re.fullmatch(r"(\w+<=?)(\d{1,10})", key)
        if number:
            return number[1] in self.words and int(number[2]) <= MOST_INT
        return (key == "any" or key.endswith("=any")) and "=any" in self.words

    def can_ask(self, collective: str, test: str) -> bool:
        """Can it ask this test of the operation, without an abort?"""
        allowed = BOTH_KINDS.get(test)
        if allowed is None:
            return True
        blocking = collective.removeprefix("i") if collective.startswith("i") else collective
        return blocking in allowed and collective not in NEVER_OF.get(test, ())


def _paths(tree: object, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Each leaf of a tree of the library's own, which is not deep, with the tests above it."""
    if not isinstance(tree, dict):
        return
    for key, below in tree.items():
        if key.startswith(LEAF):
            yield (*above, key)
        else:
            yield from _paths(below, (*above, key))
