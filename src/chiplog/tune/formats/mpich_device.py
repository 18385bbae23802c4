"""MPICH's device ch4: where several hosts have several ranks each, it may go node by node before algorithms are asked.

A tree of the device's own says which composition does an operation. The generic tree is asked for a whole communicator
only by the flat composition, the one that the device takes where there is no hierarchy. So a second file has the device
take that one where a choice holds, and what it took before elsewhere.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path

from chiplog.tune.choice import Tuning
from chiplog.tune.formats.mpich_json import INTRA, guarded, with_choices, written
from chiplog.tune.mpich_tests import LEAF, State, settled
from chiplog.tune.mpich_tree import Tree
from chiplog.tune.ranges import Key
from chiplog.tune.writer import Companion

ENDING = ".ch4"
VARIABLE = "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE"
PARENT = "comm_hierarchy=parent"
NOT_ONE_NODE = {"node_comm_size": frozenset(("no",))}
ACROSS = State(facts={"comm_hierarchy": frozenset(("parent",)), **NOT_ONE_NODE})
FLAT = State(facts={"comm_hierarchy": frozenset(("flat",)), **NOT_ONE_NODE})
OTHERS = State(facts={"comm_hierarchy": frozenset(("node_roots", "node", "flat"))})


def flat_composition(device: Tree, operation: str) -> Tree | None:
    """What leaves an operation to the generic tree; None where nothing else is ever taken across hosts."""
    branch = device.get(f"collective={operation}", {}).get(INTRA)
    if branch is None:
        return None
    flat = settled(branch, FLAT)
    is_one_leaf = all(key.startswith(LEAF) for key in flat)
    return flat if is_one_leaf and settled(branch, ACROSS) != flat else None


def companions(device: Tree, tuning: Tuning) -> Sequence[Companion]:
    """The device's file that goes with a generic tree; none where the device never stands in between.

    Nor where the tuning was measured on one host, nor for radices of barriers, which hold within each step.
    """
    flat = flat_composition(device, tuning.operation)
    is_of_steps = tuning.operation == "barrier" and not any(
        choice.native for choice in tuning.choices
    )
    if flat is None or is_of_steps or tuning.is_of_one_host or not tuning.has_rules:
        return ()

    def leaf(operation: str, _: Key, own_tree: Tree) -> Tree:
        return guarded(operation, flat, own_tree)

    patched = copy.deepcopy(device)
    branch = patched[f"collective={tuning.operation}"]
    across = settled(branch[INTRA], State(facts={"comm_hierarchy": frozenset(("parent",))}))
    branch[INTRA] = {
        PARENT: with_choices(tuning, across, State(), leaf),
        "comm_hierarchy=any": settled(branch[INTRA], OTHERS),
    }
    return (Companion(ENDING, written(patched), settings),)


def settings(path: Path) -> Mapping[str, str]:
    """The variable that names the file."""
    return {VARIABLE: str(path.absolute())}
