"""What `chiplog fit` warns of: at most three sentences, each whole, and how many there are beside them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sample_report import sample_report

from chiplog.cli.fit_text import COLUMNS, MOST_LINES, fits_text

LONG = "the machine did something that takes many words to be told, and a remedy follows it: " * 2


def shown(*warnings: str) -> list[str]:
    fit = next(fit for fit in sample_report().targets[0].fits if fit.model == "loggp")
    return fits_text([replace(fit, warnings=warnings)]).splitlines()


def test_a_long_warning_is_whole_and_fits_the_screen() -> None:
    lines = shown(f"{LONG}end.")
    assert f"! {LONG}end." in " ".join(" ".join(lines).split())
    assert max(map(len, lines)) <= COLUMNS


@pytest.mark.parametrize(
    ("count", "last"), [(3, ""), (4, "1 more warning"), (6, "3 more warnings")]
)
def test_three_are_shown_and_the_others_counted(count: int, last: str) -> None:
    lines = [line for line in shown(*(f"warning {n}." for n in range(count))) if line[:1] == "!"]
    assert lines[:3] == ["! warning 0.", "! warning 1.", "! warning 2."]
    assert lines[3:] == ([f"! {last}: --details"] if last else [])


def test_what_has_no_room_is_counted_not_cut() -> None:
    lines = shown(*([LONG * 4] * 3))
    marked = [line for line in lines if line[:1] == "!"]
    assert len(lines) <= MOST_LINES + 2
    assert "more warning" in marked[-1] or "warnings: --details" in marked[-1]
