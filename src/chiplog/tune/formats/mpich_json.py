"""MPICH's JSON tree of 4.0 and later: that of the release itself, with the choices put before its own.

What the choices leave open keeps the release's own branch. Barriers of communicators with a hierarchy keep going node
by node; the choice holds for the flat ones that they are made of.
"""

from __future__ import annotations

import copy
import json
import mmap
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from chiplog.collectives.mpis.mpich import FIRST_KNOWN
from chiplog.errors import UsageError
from chiplog.prediction.n_way import N_WAY
from chiplog.tune.check.proof import MARKED_RANKS, NotRules, json_object
from chiplog.tune.choice import Native, Tuning
from chiplog.tune.formats.mpich_cvars import FIRST_RADIX
from chiplog.tune.mpich_tests import State, settled
from chiplog.tune.mpich_tree import Tree
from chiplog.tune.ranges import Key, RankRule, rules
from chiplog.tune.version import Version, version_text

VARIABLE = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"
INTRA = "comm_type=intra"
NOT_A_BARRIER: Tree = {"algorithm=MPIR_Bcast_intra_binomial": {}}
"""A leaf that MPICH knows and asserts against in a barrier."""

ALGORITHMS: Mapping[str, Mapping[str, str]] = {
    "bcast": {
        "binomial": "MPIR_Bcast_intra_binomial",
        "scatter-allgather": "MPIR_Bcast_intra_scatter_ring_allgather",
    },
    "allreduce": {
        "recursive-doubling": "MPIR_Allreduce_intra_recursive_doubling",
        "rabenseifner": "MPIR_Allreduce_intra_reduce_scatter_allgather",
    },
    "allgather": {
        "bruck": "MPIR_Allgather_intra_brucks",
        "recursive-doubling": "MPIR_Allgather_intra_recursive_doubling",
        "ring": "MPIR_Allgather_intra_ring",
    },
    "alltoall": {
        "linear": "MPIR_Alltoall_intra_scattered",
        "pairwise": "MPIR_Alltoall_intra_pairwise",
        "bruck": "MPIR_Alltoall_intra_brucks",
    },
}
FLAT = Native("flat")
"""MPICH's own choice among the algorithms that don't go node by node."""
Leaf = Callable[[str, Key, Tree], Tree]
"""Operation, choice and the release's own branch: what stands where the choice holds."""
TOTAL = ("allgather", "reduce_scatter")
"""Looked up by the sum of all ranks' blocks; the others by the message or block."""


def check_version(version: Version) -> None:
    """UsageError below 4.0."""
    if version < FIRST_KNOWN:
        raise UsageError(f"--version {version_text(version)}: MPICH reads trees since 4.0.")


def offered(operation: str, version: Version) -> Collection[str]:
    """Our names of what the tree can choose; a barrier needs a radix to choose."""
    check_version(version)
    if operation == "barrier":
        if version < FIRST_RADIX:
            raise UsageError(
                f"--version {version_text(version)}: MPICH before 4.1 has one flat barrier and no radix, so there is "
                "nothing to choose."
            )
        return (N_WAY,)
    if operation not in ALGORITHMS:
        raise UsageError(
            f"--operation {operation}: MPICH's trees are written for barrier, {', '.join(ALGORITHMS)}; of others it "
            "has one algorithm that a model here predicts."
        )
    return ALGORITHMS[operation]


def text_from(tree: Tree, tuning: Tuning) -> str:
    """The file, from the release's own tree."""
    if not tuning.has_rules:
        return written(tree)
    patched = copy.deepcopy(tree)
    branch = patched[f"collective={tuning.operation}"]
    branch[INTRA] = _patched(tuning, branch[INTRA])
    return written(patched)


def written(tree: Tree) -> str:
    """As a file; it never fills a page, since MPICH reads on to a zero byte."""
    text = json.dumps(tree, indent=1) + "\n"
    return text if len(text) % mmap.PAGESIZE else text + "\n"


def _patched(tuning: Tuning, own_tree: Tree) -> Tree:
    if tuning.operation == "barrier" and not any(choice.native for choice in tuning.choices):
        hierarchy = {name: test for name, test in own_tree.items() if name != "comm_hierarchy=any"}
        flat = own_tree["comm_hierarchy=any"]
        return {**hierarchy, "comm_hierarchy=any": with_choices(tuning, flat, State(), _leaf)}
    if tuning.operation == "alltoall":
        in_place = "is_sendbuf_inplace=no"
        return {
            **own_tree,
            in_place: with_choices(tuning, own_tree[in_place], State(is_searched=True), _leaf),
        }
    return with_choices(tuning, own_tree, State(), _leaf)


def with_choices(tuning: Tuning, own: Tree, state: State, leaf: Leaf) -> Tree:
    """The choices first, then the release's `own` branch, which stands at a place where that is known of calls."""
    own = settled(own, state)
    entries = rules(tuning)
    branches = [_by_size(tuning.operation, entry, own, leaf) for entry in entries]
    tests = [f"comm_size<={entry.first_ranks - 1}" for entry in entries[1:]]
    return settled(dict(zip([*tests, "comm_size=any"], branches, strict=True)), state)


def _by_size(operation: str, entry: RankRule, own_tree: Tree, leaf: Leaf) -> Tree:
    leaves = [
        leaf(operation, size_rule.key, own_tree) if size_rule.key else own_tree
        for size_rule in entry.sizes
    ]
    if len(leaves) == 1:
        return leaves[0]
    scale, size = (entry.first_ranks, "total") if operation in TOTAL else (1, "avg")
    tests = [f"{size}_msg_size<{rule.first_bytes * scale}" for rule in entry.sizes[1:]]
    return dict(zip([*tests, f"{size}_msg_size=any"], leaves, strict=True))


def _leaf(operation: str, key: Key, own_tree: Tree) -> Tree:
    if key.native is not None:
        return (
            own_tree
            if key.native == FLAT
            else guarded(operation, _named(key.native.name), own_tree)
        )
    name, peers = key.algorithm, key.peers
    if operation == "barrier":
        assert peers is not None
        return {"algorithm=MPIR_Barrier_intra_k_dissemination": {f"k={peers + 1}": {}}}
    chosen = _named(ALGORITHMS[operation][name])
    guard = GUARDS.get(name) if operation in ("allreduce", "allgather") else None
    return guard(operation, chosen) if guard else chosen


def _named(leaf: str) -> Tree:
    return {f"algorithm={leaf}": {}}


def guarded(operation: str, chosen: Tree, own: Tree) -> Tree:
    """What was measured, for calls like those that were measured; all others keep the release's own branch."""
    if operation == "reduce_scatter":
        chosen = {
            "is_block_regular=yes": chosen,
            "is_block_regular=no": own,
        }
        return {"is_commutative=yes": chosen, "is_commutative=no": own}
    if operation not in ("reduce", "allreduce"):
        return chosen
    return {
        "is_op_built_in=no": own,
        "is_op_built_in=yes": {"count<pow2": own, "count=any": chosen},
    }


def _of_reductions(operation: str, chosen: Tree) -> Tree:
    """Rabenseifner's needs a predefined operation and at least as many elements as ranks."""
    other = _named(ALGORITHMS[operation]["recursive-doubling"])
    return {
        "is_op_built_in=no": other,
        "is_op_built_in=yes": {"count<pow2": copy.deepcopy(other), "count=any": chosen},
    }


def _of_powers_of_two(operation: str, chosen: Tree) -> Tree:
    """The allgather by recursive doubling needs a power of two; a rule may reach up to the next number of ranks."""
    if operation != "allgather":
        return chosen
    return {
        "comm_size=pow2": chosen,
        "comm_size=any": _named(ALGORITHMS[operation]["bruck"]),
    }


GUARDS: Mapping[str, Callable[[str, Tree], Tree]] = {
    "rabenseifner": _of_reductions,
    "recursive-doubling": _of_powers_of_two,
}


def settings(path: Path, _: Version) -> Mapping[str, str]:
    """The variable that names the file."""
    return {VARIABLE: str(path.absolute())}


def marked(text: str) -> str:
    """MPICH's tree with a leaf for barriers of 3 ranks that is none."""
    tree = json_object(text)
    branch = tree.get("collective=barrier", {})
    own_tree = branch.get("comm_type=intra")
    if own_tree is None:
        raise NotRules("there is no branch for barriers: MPICH needs a whole tree")
    branch["comm_type=intra"] = {
        f"comm_size<{MARKED_RANKS}": own_tree,
        f"comm_size<={MARKED_RANKS}": NOT_A_BARRIER,
        "comm_size=any": own_tree,
    }
    return json.dumps(tree) + "\n"
