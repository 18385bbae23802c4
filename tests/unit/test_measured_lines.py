"""What `chiplog measure` prints at its end: one screen, and how to see what is left out."""

from __future__ import annotations

from synthetic import Ask, size_grid, synthetic_dataset

from chiplog.cli.measured_sizes import SCREEN_LINES, measured_lines
from chiplog.models.piecewise import Piece

TRUTH = Piece(None, {"L": 5e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": 0.5e-9})
ASKS = (Ask("prtt"), Ask("prtt", 10), Ask("prtt", 10, 1.0), Ask("flood", 32))


def test_a_table_says_once_how_many_sizes_it_shows_and_how_to_see_all() -> None:
    lines = measured_lines(synthetic_dataset([TRUTH], size_grid(1 << 20, 2), asks=ASKS))
    notes = [line for line in lines if line.startswith("Shown: ")]
    assert notes and all(" of 40 sizes. All: chiplog export RUN --to csv" in note for note in notes)
    assert len(notes) == len([line for line in lines if line.lstrip().startswith("size")])
    assert len(lines) <= SCREEN_LINES
    assert max(map(len, lines)) <= 80


def test_a_table_with_all_sizes_says_nothing() -> None:
    lines = measured_lines(synthetic_dataset([TRUTH], (1, 64, 4096), asks=ASKS[:3]))
    assert not [line for line in lines if "Shown" in line]
