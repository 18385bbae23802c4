"""What fits and changes are of: operation, posting and numbers of pairs are named where a run has several."""

from __future__ import annotations

from pathlib import Path

import pytest

from chiplog.cli.fit_text import fits_text
from chiplog.cli.tables import print_changes
from chiplog.dataset.run_file import read_run
from chiplog.fitting.fit import fit
from chiplog.jobs.measure import measure
from chiplog.plan import PlanOptions
from chiplog.protocol_changes.find import find_changes
from chiplog.protocol_changes.result import SeriesChanges, changes_to_json

SIZES = tuple(2**i for i in range(17))


def run_of(folder: Path, **options: object) -> Path:
    made = PlanOptions(
        **{"transport": "sim", "patterns": ("ping_pong",), "sizes": SIZES, "visits": 2, **options}  # type: ignore[arg-type]
    )
    path = folder / "run.jsonl"
    target = "sim:L=5us,o=1us,g=2us,G=0.5ns,change=4KiB:L=30us"
    measure(target, path, made, refine=False)
    return path


def test_titles_of_fits_name_the_operation_where_a_run_has_several(tmp_path: Path) -> None:
    run = read_run(run_of(tmp_path, operations=("send", "rdma-write")))
    titles = [
        line for line in fits_text(fit(run, ["hockney"])).splitlines() if line.startswith("Hockney")
    ]
    assert [title.partition(", sim")[0] for title in titles] == [
        "Hockney (PRTT) of send",
        "Hockney (PRTT) of rdma-write",
    ]


def test_a_title_of_sends_alone_names_the_target_only(tmp_path: Path) -> None:
    shown = fits_text(fit(read_run(run_of(tmp_path)), ["hockney"])).splitlines()
    assert shown[0].startswith("Hockney (PRTT) of sim:")
    assert "95 % interval, of this launch" in shown[1]


def test_intervals_over_several_launches_say_over_how_many(tmp_path: Path) -> None:
    (found,) = fit(read_run(run_of(tmp_path, launches=3)), ["hockney"])
    assert found.launches == 3
    assert "95 % interval, over 3 launches" in fits_text([found]).splitlines()[1]


def test_changes_of_k_pairs_say_which_k(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = find_changes(read_run(run_of(tmp_path, patterns=("pairs",), ranks=6)))
    print_changes({("send", "normal"): found}, details=True)
    shown = capsys.readouterr().out
    for k in (1, 2, 3):
        assert f"pairs, k = {k} (pairs, send): above 4,096 B" in shown
    rows = changes_to_json({("send", "normal"): found})["series"]
    assert [row["pairs"] for row in rows] == [1, 2, 3]


def test_a_decision_that_was_stored_without_k_does_not_claim_one() -> None:
    unknown = SeriesChanges("pairs", "pairs", "send", "sim", (), pairs=None, peers=None)
    assert unknown.label == "pairs"
    assert SeriesChanges("pairs", "pairs", "send", "sim", (), pairs=3).label == "pairs, k = 3"
