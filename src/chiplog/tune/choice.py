"""What a tuning is made of: one choice for each number of ranks and size of messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from chiplog.json_values import members, plain

SCHEMA = "chiplog.choices/1"
CHANGED = "changed"
DEFAULT = "default"
UNCLEAR = "unclear"
FARTHEST = 2
"""Given: times the ranks that a model was measured over, up to which it may write a rule that no race has confirmed."""


@dataclass(frozen=True)
class Native:
    """An algorithm as the MPI itself names it, for choices that were measured."""

    name: str
    number: int | None = None
    """Open MPI's."""
    segment_bytes: int = 0
    fan_out: int = 0


@dataclass(frozen=True)
class Ranked:
    """One algorithm's time in the middle of what the model leaves, in seconds."""

    algorithm: str
    peers: int | None
    seconds: float


@dataclass(frozen=True)
class Choice:
    """What to use at one number of ranks and one size; times in seconds, with 95 % intervals."""

    ranks: int
    message_bytes: int
    algorithm: str
    """In force with this choice: the best one where the verdict is `changed`, else the baseline."""
    peers: int | None
    """n of n-way dissemination, k of a tree."""
    rounds: int | None
    seconds: float
    baseline: str
    """What the best one was held against."""
    baseline_seconds: float
    best: str
    best_peers: int | None
    best_seconds: float
    gain: float
    """1 - best/baseline: the share of the time that the best one saves."""
    gain_low: float
    gain_high: float
    verdict: str
    """`changed`; `default` where the baseline is the best; `unclear` where the gain's interval reaches 0, or the choice
    is too far beyond what was measured."""
    extrapolated: str | None
    """What was not measured; None where all was."""
    ranking: tuple[Ranked, ...] = ()
    """All algorithms that were looked at, the fastest first; n-way dissemination with its best n only."""
    native: Native | None = None
    """By the MPI's own name, where the choice was measured."""

    @property
    def is_changed(self) -> bool:
        """Does the choice leave the default?"""
        return self.verdict == CHANGED


@dataclass(frozen=True)
class Tuning:
    """All choices of one operation, ascending by ranks, then by size."""

    operation: str
    model: str
    choices: tuple[Choice, ...]
    is_of_one_host: bool = False
    """Whether all ranks were on one host where it was measured, so that nothing is known of several."""
    measured_ranks: int | None = None
    """How many ranks the model was measured over; None where it doesn't say, or the choices were measured."""
    too_far: int = 0
    """How many choices were sure by the model, but too far beyond what was measured to be written."""
    rejected: str | None = None
    """Why the model's own check rejects it, where it was used all the same; None of a fit that stands."""
    shape: str | None = None
    """Nodes x processes of the jobs that it is for, such as 8x2; None where only numbers of ranks are known."""

    @property
    def caution(self) -> str:
        """What a comment of a tuning file adds on one line: the shape, and that a fit was rejected; or nothing."""
        shape = "" if self.shape is None else f"; for jobs of {self.shape} (nodes x processes) only"
        rejected = "" if self.rejected is None else f"; NOT TO BE RELIED ON: {self.rejected}"
        return shape + rejected

    def at(self, ranks: int) -> tuple[Choice, ...]:
        """The choices of one number of ranks, ascending by size."""
        return tuple(choice for choice in self.choices if choice.ranks == ranks)

    @property
    def has_rules(self) -> bool:
        """Does any choice leave the default?"""
        return any(choice.is_changed for choice in self.choices)

    @property
    def ranks(self) -> tuple[int, ...]:
        """The numbers of ranks, ascending."""
        return tuple(dict.fromkeys(choice.ranks for choice in self.choices))


def without_far_choices(tuning: Tuning) -> Tuning:
    """The tuning without choices beyond FARTHEST times the ranks that its model was measured over.

    Nothing says how a model goes wrong where more messages disturb each other, so a rule there needs a race.
    """
    if tuning.measured_ranks is None:
        return tuning
    farthest = FARTHEST * tuning.measured_ranks
    choices = [
        _by_default(choice) if choice.is_changed and choice.ranks > farthest else choice
        for choice in tuning.choices
    ]
    far = sum(choice != kept for choice, kept in zip(tuning.choices, choices, strict=True))
    return replace(tuning, choices=tuple(choices), too_far=far)


def _by_default(choice: Choice) -> Choice:
    return replace(
        choice,
        algorithm=choice.baseline,
        peers=None,
        rounds=None,
        seconds=choice.baseline_seconds,
        verdict=UNCLEAR,
    )


def tuning_to_json(tuning: Tuning, settings: Mapping[str, str]) -> dict[str, Any]:
    """All rows, and what was held against what, as the object of the schema, whatever file was written."""
    return {
        "schema": SCHEMA,
        **members(tuning, "operation", "model", "rejected"),
        "settings": dict(settings),
        "choices": plain(tuning.choices),
    }
