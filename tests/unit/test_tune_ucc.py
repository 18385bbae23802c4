"""UCC's scores, read here as UCC reads them: the first part that fits a size and a team says the algorithm."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from prediction import fit_of

from chiplog.tune.choice import CHANGED, DEFAULT, Choice, Tuning
from chiplog.tune.choose import choose
from chiplog.tune.writer import NO_VERSION
from chiplog.tune.writers import ucc

US = 1e-6
UNITS = {"": 1, "k": 2**10, "m": 2**20}


def looked_up(text: str, operation: str, block_bytes: int, ranks: int) -> str | None:
    """The algorithm of a call with blocks of so many bytes; None where UCC decides by itself."""
    value = next((row.partition("=")[2] for row in text.splitlines() if row[0] != "#"), "")
    whole = block_bytes * ranks
    for token in filter(None, value.split("#")):
        kind, sizes, teams, algorithm = token.split(":")
        first, last = (memory_units(word) for word in sizes.split("-"))
        lowest, highest = map(int, re.fullmatch(r"\[(\d+)-(\d+)\]", teams).groups())  # type: ignore[union-attr]
        if kind == operation and first <= whole < last and lowest <= ranks <= highest:
            return algorithm.removeprefix("@")
    return None


def memory_units(word: str) -> float:
    """A size as UCC takes it."""
    if word == "inf":
        return math.inf
    number, unit = re.fullmatch(r"(\d+)([kmg]?)b?", word.lower()).groups()  # type: ignore[union-attr]
    return int(number) * UNITS[unit]


def choice(ranks: int, size: int, algorithm: str | None) -> Choice:
    return Choice(
        ranks=ranks,
        message_bytes=size,
        algorithm=algorithm or "pairwise",
        peers=None,
        rounds=None,
        seconds=1e-6,
        baseline="pairwise",
        baseline_seconds=2e-6,
        best=algorithm or "pairwise",
        best_peers=None,
        best_seconds=1e-6,
        gain=0.5,
        gain_low=0.4,
        gain_high=0.6,
        verdict=CHANGED if algorithm else DEFAULT,
        extrapolated=None,
    )


CHOICES = [
    *(choice(4, size, None) for size in (8, 64, 512)),
    choice(8, 8, "bruck"),
    choice(8, 64, "bruck"),
    choice(8, 512, None),
    choice(16, 8, "bruck"),
    choice(16, 64, None),
    choice(16, 512, "pairwise"),
]
TUNING = Tuning("alltoall", "loggp", tuple(CHOICES))


def test_every_choice_is_taken_at_its_ranks_and_its_size() -> None:
    text = ucc.FORMAT.text(TUNING, NO_VERSION)
    for one in CHOICES:
        expected = one.algorithm if one.is_changed else None
        assert looked_up(text, "alltoall", one.message_bytes, one.ranks) == expected


def test_beyond_what_was_asked_for_ucc_decides() -> None:
    text = ucc.FORMAT.text(TUNING, NO_VERSION)
    for ranks, size in ((17, 8), (12, 8), (8, 513), (16, 513), (3, 8)):
        assert looked_up(text, "alltoall", size, ranks) is None
    assert looked_up(text, "allgather", 8, 8) is None


def test_without_a_rule_there_is_no_setting(tmp_path: Path) -> None:
    unchanged = replace(TUNING, choices=TUNING.choices[:3])
    path = tmp_path / "ucc.env"
    path.write_text(ucc.FORMAT.text(unchanged, NO_VERSION))
    assert ucc.FORMAT.settings(path, NO_VERSION) == {}


@pytest.mark.parametrize("operation", ["allgather", "alltoall"])
def test_what_a_model_chooses_can_be_written(operation: str) -> None:
    values = {"L": 2.5 * US, "o_s": 1.5 * US, "o_r": 1.5 * US, "g": 1 * US, "G": 6e-9}
    fit = fit_of("loggp", values, spread=0.001, last_bytes=1 << 24)
    names = ucc.FORMAT.offered(operation, NO_VERSION)
    tuning = choose((fit,), operation, [4, 8], names, sizes=[8, 65536])
    text = ucc.FORMAT.text(tuning, NO_VERSION)
    for one in tuning.choices:
        expected = one.algorithm if one.is_changed else None
        assert looked_up(text, operation, one.message_bytes, one.ranks) == expected
