"""smptest and nodecomm: which column is of how many pairs, what is a launch, and what is another part of the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from imported_files import imported, refused
from smptest_files import MINIMUM, OVERLAP, PARTNERS, SMPTEST

from chiplog.comparison.models import compare_models
from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run
from chiplog.errors import UsageError
from chiplog.fitting.fit import fit


def test_the_header_names_the_numbers_of_pairs(tmp_path: Path) -> None:
    run, notes = imported(tmp_path, "smptest", MINIMUM)
    assert [(one.pairs, one.message_bytes, one.direction) for one in run.series] == [
        (1, 4, "round-trip"), (8, 4, "round-trip"), (1, 4096, "round-trip"), (8, 4096, "round-trip"),
    ]  # fmt: skip
    assert run.series[1].seconds[0] == pytest.approx(2.8e-6)
    assert run.header["ranks"] == 16 and not notes
    assert run.header["provenance"]["statistic"] == "minimum"  # type: ignore[index]


def test_least_greatest_and_average_times_are_of_one_run(tmp_path: Path) -> None:
    run, notes = imported(tmp_path, "smptest", SMPTEST)
    assert {one.launch for one in run.series} == {0} and len(run.series) == 8 and not notes
    assert [one.pairs for one in run.series] == [1, 2, 4, 16] * 2
    assert run.series[3].seconds[0] == pytest.approx(3.2e-6), "the average of 16 pairs"
    assert run.series[0].tag["min_seconds"] == pytest.approx([2.0e-6, 2.1e-6, 2.4e-6, 3.0e-6])
    assert run.series[0].tag["max_seconds"] == pytest.approx([2.6e-6, 2.7e-6, 2.9e-6, 3.6e-6])
    assert run.header["provenance"]["statistic"] == "mean"  # type: ignore[index]


def test_another_run_of_smptest_is_another_launch(tmp_path: Path) -> None:
    run, _ = imported(tmp_path, "smptest", SMPTEST + SMPTEST)
    assert {one.launch for one in run.series} == {0, 1} and len(run.series) == 16


def test_runs_with_other_tables_have_the_statistic_that_all_have(tmp_path: Path) -> None:
    run, _ = imported(tmp_path, "smptest", SMPTEST + MINIMUM)
    assert run.header["provenance"]["statistic"] == "minimum"  # type: ignore[index]
    assert run.series[0].seconds[0] == pytest.approx(2.0e-6)
    (tmp_path / "run.jsonl").unlink()
    apart = f"Hops: 1\n{MINIMUM}Hops: 2\n{MINIMUM.replace('Min', 'Max')}"
    assert "line 10: the runs at line 4 and here" in refused(tmp_path, "smptest", apart)


@pytest.mark.parametrize("word", ["Hops", "Distance"])
def test_tables_of_other_distances_are_no_launches_and_can_be_held_out(
    tmp_path: Path, word: str
) -> None:
    far = [
        f"{word}: {hops}\n{MINIMUM}{MINIMUM.replace('9.00e-06', '9.10e-06')}" for hops in (0, 1, 3)
    ]
    run, notes = imported(tmp_path, "smptest", "".join(far))
    assert {(one.launch, one.tag[word.lower()]) for one in run.series} == {
        (launch, hops) for launch in (0, 1) for hops in (0, 1, 3)
    }
    assert not notes and {one.placement for one in run.series} == {None}
    rows = compare_models(run, ["postal"], hold_out=f"{word.lower()}>1")
    assert {row.error.points for row in rows} == {8}
    with pytest.raises(UsageError, match="holds out no point"):
        compare_models(run, ["postal"], hold_out=f"{word.lower()}>3")


def test_a_column_of_hops_in_a_table_can_be_held_out(tmp_path: Path) -> None:
    rows = [
        f"{hops},{size},{pairs},{1e-6 * pairs + 1e-9 * size * (1 + hops / 100)}"
        for hops in (1, 2)
        for size in (4, 64, 1024, 4096)
        for pairs in (1, 2, 4)
    ]
    source = tmp_path / "table.csv"
    source.write_text("hops,message_bytes,pairs,seconds\n" + "\n".join(rows) + "\n")
    run = read_run(
        import_file("csv", source, tmp_path / "run.jsonl", pattern="pairs", direction="round-trip")
    )
    assert {one.tag["hops"] for one in run.series} == {1, 2} and not run.header["warnings"]
    assert {row.error.points for row in compare_models(run, ["postal"], hold_out="hops>1")} == {12}


def test_other_partners_are_another_part_of_the_file(tmp_path: Path) -> None:
    run, notes = imported(tmp_path, "nodecomm", PARTNERS)
    assert not notes and {one.launch for one in run.series} == {0}
    parts = {one.placement for one in run.series}
    assert parts == {"ranks-0-1-with-4-5", "ranks-0-2-by-2-with-1-3-by-2"}
    again, _ = imported(tmp_path, "nodecomm", PARTNERS + PARTNERS)
    assert {(one.placement, one.launch) for one in again.series} == {
        (part, launch) for part in parts for launch in (0, 1)
    }


def test_a_part_alone_has_no_name(tmp_path: Path) -> None:
    run, _ = imported(tmp_path, "nodecomm", PARTNERS[: PARTNERS.index("Pingpong", 5)])
    assert {one.placement for one in run.series} == {None}
    assert run.series[0].tag["between"] == "ranks-0-1-with-4-5"


def test_a_label_right_above_rows_names_a_part(tmp_path: Path) -> None:
    rows = "1\t4.00e-06\t4.34e-06\t\n2\t3.98e-06\t4.26e-06\t\n"
    log = f"Nodes:\nsome words of a scheduler\nSocket:\n{rows}{rows}\n\nNode:\n{rows}"
    run, _ = imported(tmp_path, "nodecomm", log)
    assert [(one.placement, one.launch) for one in run.series[::2]] == [
        ("socket", 0), ("socket", 0), ("socket", 1), ("socket", 1), ("node", 0), ("node", 0),
    ]  # fmt: skip


def test_a_column_of_work_is_no_pair_and_its_times_are_exchanges(tmp_path: Path) -> None:
    run, notes = imported(tmp_path, "nodecomm", OVERLAP)
    assert [(one.pattern, one.pairs, one.message_bytes) for one in run.series] == [
        ("exchange", 1, 4), ("exchange", 2, 4), ("exchange", 1, 8), ("exchange", 2, 8),
    ]  # fmt: skip
    assert [one.seconds[0] for one in run.series[:2]] == pytest.approx([4.00e-6, 4.34e-6])
    tag = run.series[0].tag
    assert (tag["work_doubles"], tag["work_seconds"]) == (10, pytest.approx([1.0e-7, 1.1e-7]))
    assert tag["overlapped_seconds"] == pytest.approx([4.05e-6, 4.40e-6]) and not notes
    with pytest.raises(UsageError):
        fit(run, ["max-rate"])


@pytest.mark.parametrize(
    ("kind", "text", "place", "reason"),
    [
        ("nodecomm", SMPTEST, "line 1", "use chiplog import smptest"),
        ("smptest", PARTNERS, "line 4", "no line before names the numbers of pairs"),
        ("nodecomm", OVERLAP.replace("\t4.40e-06", "").replace("\t4.50e-06", ""), "line 4", "the work of -o"),
        ("smptest", MINIMUM.replace("Ints\t1 ", "Ints\t8 "), "line 3", "stands twice"),
        ("smptest", MINIMUM.replace("\t2.80e-06", ""), "line 4", "1 times, its header 2"),
        ("smptest", MINIMUM.replace("\t2.80e-06", "\t2.80e-06\t3e-06"), "line 4", "3 times, its header 2"),
        ("smptest", MINIMUM.replace("1024\t", "1\t"), "line 5", "stands twice in one table"),
        ("smptest", f"mpiexec -n 4 ./smptest -nb -olap\n{MINIMUM}", "line 4", "work and messages together"),
        ("smptest", f"mpiexec -n 4 ./smptest -t\n{MINIMUM}", "line 4", "several threads"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_by_line(
    tmp_path: Path, kind: str, text: str, place: str, reason: str
) -> None:
    sentence = refused(tmp_path, kind, text)
    assert place in sentence and reason in sentence


def test_a_command_says_that_times_are_exchanges(tmp_path: Path) -> None:
    run, _ = imported(
        tmp_path, "smptest", f"$ mpiexec -n 16 ./smptest -nb\n{MINIMUM}$ ./smptest\n{MINIMUM}"
    )
    assert [(one.pattern, one.direction, one.launch) for one in run.series[::4]] == [
        ("exchange", "one-way", 0),
        ("pairs", "round-trip", 0),
    ]


def test_a_last_row_that_was_cut_is_skipped(tmp_path: Path) -> None:
    run, notes = imported(tmp_path, "smptest", f"{MINIMUM}2048\t1.7e-05\n")
    assert len(run.series) == 4 and "1 row" in notes[0]
