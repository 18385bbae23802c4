"""Are the leaves of MPICH's tree legal for the calls that get there, and are they taken? By runs.

A leaf of another operation makes a call abort. So one leaf after the other is spoiled in a copy of the file, which ends
well otherwise: where the call that should take it aborts, or MPICH's own before it, the leaf is taken.
"""

from __future__ import annotations

import json
import mmap
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from chiplog.tune.formats.mpich_json import VARIABLE
from chiplog.tune.lint.calls import (
    CALLED,
    MOST_BYTES,
    MOST_RANKS_HERE,
    OK,
    SKIPPED,
    Caller,
    CallsEnded,
    OperationCall,
)
from chiplog.tune.lint.json_lines import JsonValue
from chiplog.tune.lint.mpich_release import MpichRelease
from chiplog.tune.lint.mpich_tree_rules import OF_THE_MACHINE, Leaf
from chiplog.tune.lint.rule import Rule
from chiplog.tune.mpich_tests import YES_NO, State
from chiplog.tune.settings import WITHOUT_END

BARRIER, BCAST = "algorithm=MPIR_Barrier_intra_", "algorithm=MPIR_Bcast_intra_binomial"
MOST_RUNS = 60
"""Given: leaves beyond are not proved."""
REDUCTIONS = (*("allreduce", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"),)
MAYBE_IN_PLACE = ("alltoall", "alltoallv")
COUNTED_IN_ALL = ("allgatherv", "reduce_scatter")


def refused(leaves: Sequence[Leaf], release: MpichRelease, caller: Caller) -> dict[int, str]:
    """By leaf, why the release refuses its algorithm for a call that gets there: asked without the file.

    Control variables force one algorithm of each operation a run, with the order to fail where it can't be used.
    """
    by_operation: dict[str, dict[str, list[int]]] = {}
    for at, leaf in enumerate(leaves):
        prefix = f"algorithm=MPIR_{leaf.collective.capitalize()}_intra_"
        is_own = release.chooses(leaf.algorithm, leaf.collective, leaf.state)
        if (
            leaf.algorithm.startswith(prefix)
            and not is_own
            and next(calls_for(leaf), None) is not None
        ):
            short = leaf.algorithm.removeprefix(prefix)
            by_operation.setdefault(leaf.collective, {}).setdefault(short, []).append(at)
    reasons: dict[int, str] = {}
    for turn in range(max(map(len, by_operation.values()), default=0)):
        environment = {
            "MPIR_CVAR_COLLECTIVE_FALLBACK": "error",
            "MPIR_CVAR_DEVICE_COLLECTIVES": "none",
        }
        calls: list[tuple[int, OperationCall]] = []
        for operation, algorithms in by_operation.items():
            if turn < len(algorithms):
                short, places = list(algorithms.items())[turn]
                environment[f"MPIR_CVAR_{operation.upper()}_INTRA_ALGORITHM"] = short
                calls += [(at, call) for at in places for call in _of_any_machine(leaves[at])]
        ended = caller.run([call for _, call in calls], environment)
        for index, (at, call) in enumerate(calls):
            said = ended.calls.get(index, SKIPPED)
            if said not in (OK, SKIPPED):
                reasons.setdefault(at, f"{release} refuses it for {_in_words(call)}")
    return reasons


def _of_any_machine(leaf: Leaf) -> list[OperationCall]:
    """Calls of a leaf; none where it depends on the machine which calls get there."""
    return [] if any(name in leaf.state.facts for name in OF_THE_MACHINE) else list(calls_for(leaf))


def _in_words(call: OperationCall) -> str:
    kinds = {"i": "in place", "u": "a user's operation", "n": "an operation that does not commute"}
    return ", ".join([f"{call.ranks} ranks", *(kinds[flag] for flag in call.flags)])


def prove_tree(
    path: Path, root: JsonValue, leaves: Sequence[Leaf], release: MpichRelease, caller: Caller
) -> list[Rule]:
    """Each leaf's rule, with what the runs say."""
    return _Proof(path, root, leaves, release, caller).rules()


class _Proof:
    def __init__(
        self,
        path: Path,
        root: JsonValue,
        leaves: Sequence[Leaf],
        release: MpichRelease,
        caller: Caller,
    ) -> None:
        self.path, self.root, self.leaves = path, root, leaves
        self.release, self.caller = release, caller
        self.found = [
            leaf.rule.unproved("no call that is tried here gets to it") for leaf in leaves
        ]
        self.calls: dict[int, OperationCall] = {}
        own_operations = _own_operations(root, release)
        for at, leaf in enumerate(leaves):
            call = next(calls_for(leaf), None)
            if leaf.collective in own_operations:
                self._unproved(at, "MPICH's own tree chooses the same for this operation")
            elif call is not None:
                self.calls[at] = call

    def rules(self) -> list[Rule]:
        asked = list(self.calls)
        with tempfile.TemporaryDirectory() as scratch:
            copy = Path(scratch) / self.path.name
            plain = self.caller.run(list(self.calls.values()), self._settings(copy, None))
            if not self._all_end_well(asked, plain):
                return self.found
            possible = [at for at in asked if self.calls[at].ranks <= plain.ranks]
            tried = possible[:MOST_RUNS]
            for at in asked:
                if at not in possible:
                    needed = self.calls[at].ranks
                    self._unproved(at, f"it takes {needed} ranks, and {plain.ranks} were started")
                elif at not in tried:
                    self._unproved(at, f"only {MOST_RUNS} leaves are tried")
            taken = {at: self._is_taken(copy, at) for at in tried}
        for at, is_taken in taken.items():
            operation = self.leaves[at].collective
            if is_taken:
                self.found[at] = replace(self.found[at], taken=True, reason=None)
            elif any(
                is_other_taken and self.leaves[other].collective == operation
                for other, is_other_taken in taken.items()
            ):
                self._elsewhere(at)
            else:
                self._outranked(at)
        return self.found

    def _all_end_well(self, asked: Sequence[int], plain: CallsEnded) -> bool:
        """Where calls fail with the file itself, its leaf is illegal, and nothing else is proved."""
        how_ended = {at: plain.calls.get(index, "") for index, at in enumerate(asked)}
        bad = {at: said for at, said in how_ended.items() if said not in (OK, SKIPPED)}
        aborted = next((at for at, said in bad.items() if not said), None)
        for at, said in bad.items():
            if said or at == aborted:
                how = f"fails with it: {said}" if said else f"aborts with it: {plain.said}"
                self.found[at] = replace(
                    self.found[at], legal=False, taken=True, reason=f"a call {how}"
                )
        for at in asked:
            if bad and not self.found[at].is_wrong:
                self._unproved(at, "not run again: other rules of the file are wrong")
        return not bad

    def _is_taken(self, copy: Path, at: int) -> bool:
        ended = self.caller.run([self.calls[at]], self._settings(copy, at))
        return ended.calls.get(0) is None

    def _settings(self, copy: Path, spoiled: int | None) -> Mapping[str, str]:
        places = {} if spoiled is None else {id(self.leaves[spoiled].place): self._spoiler(spoiled)}
        text = json.dumps(_plain(self.root, places)) + "\n"
        copy.write_text(text if len(text) % mmap.PAGESIZE else text + "\n", encoding="utf-8")
        return {VARIABLE: str(copy)}

    def _spoiler(self, at: int) -> str:
        if self.leaves[at].collective != "barrier":
            return min(word for word in self.release.words if word.startswith(BARRIER))
        return BCAST

    def _outranked(self, at: int) -> None:
        name = f"MPIR_CVAR_{self.leaves[at].collective.upper()}_INTRA_ALGORITHM"
        if os.environ.get(name):
            why = f"the environment's {name} outranks the tree"
            self.found[at] = self.found[at].not_taken(why)
        else:
            self._unproved(at, "on this machine MPICH's device decides before the tree is asked")

    def _elsewhere(self, at: int) -> None:
        leaf = self.leaves[at]
        is_own = self.release.chooses(leaf.algorithm, leaf.collective, leaf.state)
        if is_own or self._depends_on_machine(at):
            self._unproved(at, "on this machine the call takes another leaf")
        else:
            call = self.calls[at]
            why = f"a call of {_in_words(call)}, {call.bytes} B takes another leaf"
            self.found[at] = self.found[at].not_taken(why)

    def _depends_on_machine(self, at: int) -> bool:
        state = self.leaves[at].state
        facts = (*OF_THE_MACHINE, "node_comm_size")
        return any(name in state.facts for name in facts) or "comm_avg_ppn" in state.ranges

    def _unproved(self, at: int, why: str) -> None:
        self.found[at] = self.found[at].unproved(why)


def _own_operations(root: JsonValue, release: MpichRelease) -> set[str]:
    """The operations whose branches are as in the release's own tree."""
    plain = _plain(root, {})
    assert isinstance(plain, dict)
    same = [key for key, below in plain.items() if release.own.get(key) == below]
    return {key.partition("=")[2] for key in same}


def _plain(value: JsonValue, places: Mapping[int, str]) -> object:
    """The tree as Python's json writes it, with some leaves replaced; it is not deep."""
    if id(value) in places:
        return {places[id(value)]: {}}
    return {member.key.replace(" ", ""): _plain(member.value, places) for member in value.members}


def calls_for(leaf: Leaf) -> Iterator[OperationCall]:
    """Calls that get to the leaf: numbers of ranks that are powers of two or not, in place or not, all operations."""
    state = leaf.state
    if leaf.collective not in CALLED or "_inter_" in leaf.algorithm:
        return
    if "intra" not in state.facts.get("comm_type", {"intra"}):
        return
    if "no" not in state.facts.get("is_multi_threaded", YES_NO):
        return
    if "yes" not in state.facts.get("is_block_regular", YES_NO):
        return
    for flags in _flags(leaf.collective, state):
        for ranks in _ranks(state):
            size = _bytes(leaf.collective, state, ranks)
            if size is not None:
                yield OperationCall(leaf.collective, ranks, size, flags)


def _flags(operation: str, state: State) -> Sequence[str]:
    if operation in MAYBE_IN_PLACE:
        answers = state.facts.get("is_sendbuf_inplace", YES_NO)
        return [flag for flag, answer in (("", "no"), ("i", "yes")) if answer in answers]
    if operation not in REDUCTIONS:
        return [""]
    commutes = state.facts.get("is_commutative", YES_NO)
    built_in = state.facts.get("is_op_built_in", YES_NO)
    known = (("", "yes", "yes"), ("u", "yes", "no"), ("n", "no", "no"))
    return [flag for flag, first, second in known if first in commutes and second in built_in]


def _ranks(state: State) -> Sequence[int]:
    """The fewest ranks, and the fewest that are no power of two where the fewest are one, and the other way round."""
    low, high = state.range("comm_size")
    answers = state.facts.get("comm_size pow2", YES_NO)
    fewest: dict[bool, int] = {}
    for ranks in range(max(low, 2), min(high, MOST_RANKS_HERE) + 1):
        is_power = ranks & (ranks - 1) == 0
        if ("yes" if is_power else "no") in answers:
            fewest.setdefault(is_power, ranks)
    return list(fewest.values())


def _bytes(operation: str, state: State, ranks: int) -> int | None:
    """The smallest block that passes all tests of sizes; 1 byte is one element."""
    if operation == "barrier":
        return 0
    scales = {
        "avg_msg_size": 1,
        "total_msg_size": ranks,
        "count": ranks if operation in COUNTED_IN_ALL else 1,
    }
    low, high = 0, MOST_BYTES // ranks
    for name, scale in scales.items():
        first, last = state.range(name)
        low = max(low, -(-first // scale))
        high = min(high, last // scale if last < WITHOUT_END else high)
    power = 1 << (ranks.bit_length() - 1)
    answers = state.facts.get("count pow2", YES_NO)
    if "no" not in answers:
        high = min(high, (power - 1) // scales["count"])
    elif "yes" not in answers:
        low = max(low, -(-power // scales["count"]))
    best = max(low, 1) if high >= 1 else low
    return best if best <= high else None
