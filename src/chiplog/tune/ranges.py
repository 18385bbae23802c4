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
    own = (SizeRule(0, None),)
    found = [RankRule(0, own)]
    for ranks in tuning.ranks:
        sizes = _size_rules(tuning.at(ranks))
        if sizes != found[-1].sizes:
            found.append(RankRule(ranks, sizes))
    if found[-1].sizes != own:
        found.append(RankRule(tuning.ranks[-1] + 1, own))
    return tuple(found)


def _size_rules(choices: Sequence[Choice]) -> tuple[SizeRule, ...]:
    """A size of 1 byte stands for 0, too; one size alone for all."""
    found = [SizeRule(0, None)]
    for choice in choices:
        first = choice.message_bytes if choice.message_bytes > 1 and len(choices) > 1 else 0
        key = Key(choice.algorithm, choice.peers, choice.native) if choice.is_changed else None
        if first == 0:
            found = [SizeRule(0, key)]
        elif key != found[-1].key:
            found.append(SizeRule(first, key))
    if len(choices) > 1 and found[-1].key is not None:
        found.append(SizeRule(choices[-1].message_bytes + 1, None))
    return tuple(found)
