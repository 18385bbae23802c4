"""Intel MPI: presets in launches of their own, and variables that cover all sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from chiplog.errors import UsageError
from chiplog.tune.check.proof import ProofEnded, Trial
from chiplog.tune.choice import CHANGED, DEFAULT, Choice, Native, Tuning
from chiplog.tune.measured import candidate as candidates
from chiplog.tune.measured.intelmpi import SeparateLaunches, field_of
from chiplog.tune.measured.launch import (
    CandidateSamples,
    Cell,
    Effort,
    Failure,
    RaceEntry,
    Result,
)
from chiplog.tune.measured.tuning import Asked, measure
from chiplog.tune.writer import NO_VERSION
from chiplog.tune.writers.intelmpi import FORMAT, proof


def choice(ranks: int, size: int, preset: int | None) -> Choice:
    name = f"preset-{preset}" if preset else "default"
    return Choice(
        ranks=ranks,
        message_bytes=size,
        algorithm=name,
        peers=None,
        rounds=None,
        seconds=1e-6,
        baseline="default",
        baseline_seconds=2e-6,
        best=name,
        best_peers=None,
        best_seconds=1e-6,
        gain=0.5,
        gain_low=0.4,
        gain_high=0.6,
        verdict=CHANGED if preset else DEFAULT,
        extrapolated=None,
        native=Native(name, preset) if preset else None,
    )


def tuning(*choices: Choice) -> Tuning:
    return Tuning("allreduce", "measurement", choices)


def pieces(text: str) -> list[tuple[int, int, int]]:
    """Preset, first and last size of each piece of the file's variable."""
    (row,) = [row for row in text.splitlines() if not row.startswith("#")]
    name, _, value = row.partition("=")
    assert name == "I_MPI_ADJUST_ALLREDUCE"
    parts = [piece.partition(":") for piece in value.split(";")]
    return [
        (int(preset), *map(int, sizes.split("-")))  # type: ignore[misc]
        for preset, _, sizes in parts
    ]


def test_the_pieces_cover_all_sizes_with_0_for_the_default() -> None:
    sizes = [choice(4, 1, None), choice(4, 64, 5), choice(4, 512, 5), choice(4, 4096, 2)]
    text = FORMAT.text(tuning(*sizes, choice(4, 4097, None), choice(5, 1, None)), NO_VERSION)
    assert pieces(text) == [
        (0, 0, 63),
        (5, 64, 4095),
        (2, 4096, 4096),
        (0, 4097, 2**31 - 1),
    ]
    assert "communicators have 4 ranks" in text


def test_without_a_rule_no_variable_is_set(tmp_path: Path) -> None:
    path = tmp_path / "intel.env"
    path.write_text(FORMAT.text(tuning(choice(4, 1, None)), NO_VERSION))
    assert FORMAT.settings(path, NO_VERSION) == {}


def test_rules_that_differ_by_ranks_are_refused() -> None:
    with pytest.raises(UsageError, match="differ between 4 and 8 ranks"):
        FORMAT.text(tuning(choice(4, 1, 3), choice(8, 1, 2)), NO_VERSION)


def test_more_pieces_than_intel_mpi_takes_are_refused() -> None:
    many = [choice(4, 2 * n, 1 + n % 2) for n in range(1, 40)]
    with pytest.raises(UsageError, match="more than the 34"):
        FORMAT.text(tuning(*many), NO_VERSION)


def test_several_numbers_of_ranks_are_refused_before_anything_is_measured(tmp_path: Path) -> None:
    asked = Asked("intelmpi", "allreduce", tmp_path / "x", communicators=(2, 4))
    with pytest.raises(UsageError, match="one rule for all numbers of ranks"):
        measure(asked, tmp_path / "samples", print)


@pytest.mark.parametrize("count", [1, 2, 11, 32, 33])
def test_every_preset_that_the_release_has_is_a_candidate(count: int) -> None:
    def says(environment: Mapping[str, str]) -> str:
        number = int(environment["I_MPI_ADJUST_ALLREDUCE"])
        return "Incorrect algorithm: ALLREDUCE" if number > count else "startup"

    field = field_of("allreduce", says)
    assert [each.native and each.native.number for each in field.candidates] == list(
        range(1, count + 1)
    )


class KnownLauncher:
    """Takes as many microseconds as the preset of its environment says; preset 3 crashes."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = environment

    def __replace__(self, **changes: Any) -> KnownLauncher:
        return KnownLauncher(**changes)

    def launch(
        self, entries: Sequence[RaceEntry], effort: Effort, seed: int, limit_seconds: float
    ) -> Result:
        preset = int(self.environment.get("I_MPI_ADJUST_ALLREDUCE", "9"))
        assert all(entry.candidates == (candidates.DEFAULT,) for entry in entries)
        if preset == 3:
            return Result(failure=Failure(1, "default", "it crashes", False))
        seconds = np.full(4, preset * 1e-6)
        return Result(
            {
                (place, "default"): CandidateSamples({"window": seconds})
                for place in range(len(entries))
            }
        )


def separate(monkeypatch: pytest.MonkeyPatch, entries: Sequence[RaceEntry]) -> Result:
    monkeypatch.setattr(
        "chiplog.tune.measured.intelmpi.replace",
        lambda what, **changes: (
            what.__replace__(**changes)
            if isinstance(what, KnownLauncher)
            else type(what)(**{**vars(what), **changes})
        ),
    )
    launcher = cast("Any", KnownLauncher({}))
    return SeparateLaunches(launcher).launch(entries, Effort(), 1, 60.0)


def presets(*numbers: int) -> tuple[candidates.Candidate, ...]:
    field = field_of("allreduce", lambda env: "Incorrect " * (int(next(iter(env.values()))) > 5))
    return (candidates.DEFAULT, *(field.candidates[number - 1] for number in numbers))


def test_each_candidate_has_its_cells_from_a_launch_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entries = [
        RaceEntry(Cell("allreduce", 2, 8), presets(1, 2)),
        RaceEntry(Cell("allreduce", 2, 64), presets(2)),
    ]
    result = separate(monkeypatch, entries)
    medians = {key: round(samples.typical * 1e6) for key, samples in result.samples.items()}
    assert medians == {
        (0, "default"): 9,
        (0, "preset-1"): 1,
        (0, "preset-2"): 2,
        (1, "default"): 9,
        (1, "preset-2"): 2,
    }


def test_a_preset_that_crashes_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [RaceEntry(Cell("allreduce", 2, size), presets(3)) for size in (8, 64)]
    failure = separate(monkeypatch, entries).failure
    assert failure == Failure(0, "preset-3", "it crashes", True)


def proved(path: Path, text: str, complaints: Mapping[str, str]) -> tuple[bool, str]:
    """With an Intel MPI that complains about some values."""
    path.write_text(text)

    def run(settings: Mapping[str, str]) -> ProofEnded:
        wrong = [
            complaints[value].format(f"{name.removeprefix('I_MPI_ADJUST_')}={value}")
            for name, value in settings.items()
            if value in complaints
        ]
        return ProofEnded(True, "", "\n".join(["barrier 3 ok", *wrong]))

    runner = cast("Any", SimpleNamespace(run=run))
    return proof(Trial(path, text, runner, cast("Any", None), None))


IGNORED = {"9999": "[0] MPI startup(): Incorrect algorithm: {}, will be ignored"}


@pytest.mark.parametrize(
    ("text", "complaints", "in_force", "words"),
    [
        ("I_MPI_ADJUST_BCAST=1:0-8\n", IGNORED, True, "ignores nothing"),
        ("I_MPI_ADJUST_BCAST=1:0-8\n", {}, False, "ignores I_MPI_ADJUST_BCAST"),
        ("I_MPI_ADJUST_BCAST=1:x\n", {**IGNORED, "1:x": "Incorrect {}"}, False, "BCAST=1:x"),
        ("# nothing\n", IGNORED, False, "sets nothing"),
        ("UCX_TLS=tcp\n", IGNORED, False, "other variables"),
        ("nonsense\n", IGNORED, False, "is no NAME=VALUE"),
    ],
)
def test_the_proof_is_what_intel_mpi_says_of_a_preset_that_is_none(
    tmp_path: Path, text: str, complaints: Mapping[str, str], in_force: bool, words: str
) -> None:
    verdict, reason = proved(tmp_path / "intel.env", text, complaints)
    assert verdict == in_force
    assert words in reason
