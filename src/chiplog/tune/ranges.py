"""Choices as rules: runs of ranks and of sizes in which the same one holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chiplog.tune.choice import Choice, Native, Tuning


class Key(NamedTuple):
    """An algorithm and its n; what rules are about."""

    algorithm: str
    peers: int | None
    native: Native | None = None
    """By the MPI's own name, where that is known; it is what is written then."""


@dataclass(frozen=True)
class SizeRule:
    """From `first_bytes` on, up to the next rule's."""

    first_bytes: int
    key: Key | None
    """None leaves the MPI its own choice."""


@dataclass(frozen=True)
class RankRule:
    """From `first_ranks` on, up to the next rule's; the rules for sizes begin at 0 bytes."""

    first_ranks: int
    sizes: tuple[SizeRule, ...]


def rules(tuning: Tuning) -> tuple[RankRule, ...]:
    """Rules that begin at 0 ranks and 0 bytes; below and beyond what was asked for, the MPI decides by itself.

    A choice holds up to the next number of ranks, and the next size, that was asked for.
    """
    by_default = (SizeRule(0, None),)
    rank_rules = [RankRule(0, by_default)]
    for ranks in tuning.ranks:
        sizes = _size_rules(tuning.at(ranks))
        if sizes != rank_rules[-1].sizes:
            rank_rules.append(RankRule(ranks, sizes))
    if rank_rules[-1].sizes != by_default:
        rank_rules.append(RankRule(tuning.ranks[-1] + 1, by_default))
    return tuple(rank_rules)


def _size_rules(choices: Sequence[Choice]) -> tuple[SizeRule, ...]:
    """A size of 1 byte stands for 0, too; one size alone for all."""
    size_rules = [SizeRule(0, None)]
    for choice in choices:
        first = choice.message_bytes if choice.message_bytes > 1 and len(choices) > 1 else 0
        key = Key(choice.algorithm, choice.peers, choice.native) if choice.is_changed else None
        if first == 0:
            size_rules = [SizeRule(0, key)]
        elif key != size_rules[-1].key:
            size_rules.append(SizeRule(first, key))
    if len(choices) > 1 and size_rules[-1].key is not None:
        size_rules.append(SizeRule(choices[-1].message_bytes + 1, None))
    return tuple(size_rules)
