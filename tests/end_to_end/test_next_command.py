"""What `measure` and `import` name as the next command works for the file that they wrote."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from chiplog.cli import main
from chiplog.dataset.patterns import PATTERNS

SIM = "sim:L=5us,o=1us,g=2us,G=0.5ns,S=4KiB,noise=0.02"
SETTINGS = ("--sizes", "1:8KiB:1", "--visits", "3", "--ranks")
RANKS = {
    "one_to_many": "5",
    "pairs": "6",
    "barrier": "4",
    "all_pairs": "4",
    "incast": "4",
}
"""Ranks of patterns that need more than two."""
CSV = "pattern,message_bytes,seconds"


def next_commands(said: str) -> list[list[str]]:
    """The commands that standard error names."""
    (line,) = (line for line in said.splitlines() if line.startswith("chiplog: next: "))
    return [shlex.split(c) for c in line.removeprefix("chiplog: next: ").split(", or ")]


def works(said: str) -> None:
    for program, *words in next_commands(said):
        assert program == "chiplog"
        assert main(words) == 0, words


@pytest.mark.parametrize("seed", ["1", "2"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_after_a_measurement_of_any_pattern_the_next_command_works(
    pattern: str,
    seed: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    ranks = RANKS.get(pattern, "2")
    words = (
        "measure",
        f"{SIM},seed={seed}",
        "--pattern",
        pattern,
        *SETTINGS,
        ranks,
        "-o",
        "a b.jsonl",
    )
    assert main([*words]) == 0
    works(capsys.readouterr().err)


@pytest.mark.parametrize("figures", [[], ["--fom"]])
def test_it_works_after_two_patterns_of_which_one_has_no_model(
    figures: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("measure", SIM, "--pattern", "incast,pairs", *SETTINGS, "4", "-o", "run.jsonl")
    assert main([*words, *figures]) == 0
    said = capsys.readouterr().err
    assert next_commands(said)[0][1] == "fit"
    works(said)


@pytest.mark.parametrize(
    "pattern", ["ping_pong", "prtt", "flood", "barrier", "one_to_many", "incast"]
)
def test_after_an_import_the_next_command_works(
    pattern: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{pattern},{size},{1e-6 + size * 1e-9}" for size in (1, 8, 64, 512)]
    Path("times.csv").write_text("\n".join([CSV, *rows]))
    assert main(["import", "csv", "times.csv", "--direction", "one-way", "-o", "run.jsonl"]) == 0
    works(capsys.readouterr().err)
