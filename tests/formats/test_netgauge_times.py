"""Netgauge's half round trips, exchanges and pairs: what a number is, what a file's name tells, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from needs import require_data
from netgauge_files import LOST_TIMES, PRINTED, SAMPLES, SUMMARY, VERBOSE

from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.errors import CorruptFile, UsageError
from chiplog.fitting.fit import fit


def imported(tmp_path: Path, name: str, text: str, **options: str) -> tuple[Dataset, list[str]]:
    source = tmp_path / name
    source.write_text(text)
    notes: list[str] = []
    out = import_file("netgauge", source, tmp_path / "run.jsonl", note=notes.append, **options)  # type: ignore[arg-type]
    return read_run(out), notes


def test_its_rtt_is_half_of_a_round_trip(tmp_path: Path) -> None:
    run, notes = imported(tmp_path, "ng_one_one_mpi_stripe1.out", SAMPLES)
    assert {(one.pattern, one.direction, one.pairs) for one in run.series} == {
        ("ping_pong", "one-way", 1)
    }
    assert [(one.message_bytes, one.seconds.size) for one in run.series] == [(4, 4), (8, 4)]
    assert run.series[0].seconds[:2] == pytest.approx([2.0e-6, 2.125e-6])
    assert run.header["transport"] == "mpi" and run.series[0].tag == {"stripes": 1}
    assert not notes and "half of a round trip" in str(run.header["provenance"])
    curve = fit(run, ["hockney"], boundaries=None)[0].curves[0]
    assert curve.measured_seconds[0] == pytest.approx(2.1875e-6), "not halved again"


def test_a_header_begins_another_launch_and_a_size_that_comes_back_another_visit(
    tmp_path: Path,
) -> None:
    rows = SAMPLES.split("\n", 1)[1]
    run, _ = imported(tmp_path, "ng_netnoise_mpi_lat.out", f"{SAMPLES}#size\trtt\n{rows}{rows}")
    assert [(one.launch, one.visit, one.message_bytes) for one in run.series] == [
        (0, 0, 4), (0, 0, 8), (1, 0, 4), (1, 0, 8), (1, 1, 4), (1, 1, 8),
    ]  # fmt: skip


def test_both_ways_at_once_are_no_ping_pong(tmp_path: Path) -> None:
    run, notes = imported(tmp_path, "ng_one_one_mpi_bidirect_mpi_conc1.out", SAMPLES)
    assert {(one.pattern, one.direction) for one in run.series} == {("exchange", "one-way")}
    assert not notes
    with pytest.raises(UsageError):
        fit(run, ["hockney"])


@pytest.mark.parametrize("name", ["ng_one_one_mpi_conc4.out", "daint_CONC4.out.txt"])
def test_a_size_of_pairs_is_that_of_all_their_messages(tmp_path: Path, name: str) -> None:
    run, _ = imported(tmp_path, name, SAMPLES)
    assert {(one.pattern, one.direction, one.pairs) for one in run.series} == {
        ("pairs", "one-way", 4)
    }
    assert [one.message_bytes for one in run.series] == [1, 2]
    assert run.series[0].seconds[0] == pytest.approx(2e-6) and run.header["ranks"] == 8


def test_exchanges_of_pairs_are_both(tmp_path: Path) -> None:
    run, _ = imported(tmp_path, "ng_one_one_mpi_bidirect_mpi_conc2.out", SAMPLES)
    assert {(one.pattern, one.pairs, one.message_bytes) for one in run.series} == {
        ("exchange", 2, 2),
        ("exchange", 2, 4),
    }


def test_a_size_that_the_pairs_cannot_share_contradicts_the_name(tmp_path: Path) -> None:
    with pytest.raises(CorruptFile, match=r"line 2, field size: is 4, no multiple of the 3 pairs"):
        imported(tmp_path, "ng_one_one_mpi_conc3.out", SAMPLES)


def test_a_name_that_tells_nothing_is_said_to_and_an_option_may_tell(tmp_path: Path) -> None:
    run, notes = imported(tmp_path, "results.txt", SAMPLES)
    assert {one.pattern for one in run.series} == {"ping_pong"}
    assert "the file's name does not tell" in notes[0] and "8 samples" in notes[0]
    run, notes = imported(tmp_path, "results.txt", SAMPLES, pattern="exchange")
    assert {one.pattern for one in run.series} == {"exchange"} and not notes


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        (
            "ng_one_one_mpi_bidirect.out",
            {"pattern": "ping_pong"},
            "by its name the file holds exchange",
        ),
        ("ng_one_one.out", {"pattern": "exchange"}, "by its name the file holds ping_pong"),
        ("results.txt", {"pattern": "pairs"}, "name it"),
        ("results.txt", {"pattern": "flood"}, "holds ping-pongs or exchanges"),
        ("ng_one_one.out", {"direction": "round-trip"}, "half of a round trip"),
    ],
)
def test_an_option_that_contradicts_the_file_is_refused(
    tmp_path: Path, name: str, options: dict[str, str], reason: str
) -> None:
    with pytest.raises(UsageError, match=reason):
        imported(tmp_path, name, SAMPLES, **options)


@pytest.mark.parametrize("text", [SUMMARY, VERBOSE, PRINTED], ids=["file", "verbose", "printed"])
def test_a_summary_is_its_median(tmp_path: Path, text: str) -> None:
    run, _ = imported(tmp_path, "ng.out", text)
    assert {(one.pattern, one.direction) for one in run.series} == {("ping_pong", "one-way")}
    expected = 2.0e-6 if text is PRINTED else 2.05e-6
    assert run.series[0].seconds[0] == pytest.approx(expected)
    assert run.series[0].tag["min_seconds"] == pytest.approx(1.9e-6)
    assert run.header["provenance"]["statistic"] == "median"  # type: ignore[index]


def test_what_is_printed_has_the_least_time_beside_the_rate_of_the_median(tmp_path: Path) -> None:
    run, _ = imported(tmp_path, "ng_one_one.cmdout", PRINTED + PRINTED)
    assert [one.seconds[0] for one in run.series] == [pytest.approx(t) for t in (2e-6, 4e-6) * 2]
    assert [one.launch for one in run.series] == [0, 0, 1, 1]


def test_a_summary_of_several_processes_is_of_one_pair_of_them(tmp_path: Path) -> None:
    text = PRINTED.replace("P=2", "P=8").replace("-x one_one", "-x one_one_mpi_bidirect")
    run, notes = imported(tmp_path, "a.txt", PRINTED + text)
    assert [(one.pattern, one.pairs, one.launch) for one in run.series] == [
        ("ping_pong", 1, 0), ("ping_pong", 1, 0), ("exchange", 4, 0), ("exchange", 4, 0),
    ]  # fmt: skip
    assert [one.message_bytes for one in run.series] == [1, 1024, 1, 1024]
    assert "not of the slowest" in notes[0]


@pytest.mark.parametrize("row", ["8\t0.000000", "8\tnan", "8\t-nan"])
def test_a_sample_without_a_time_is_skipped(tmp_path: Path, row: str) -> None:
    run, notes = imported(tmp_path, "ng_one_one.out", f"{SAMPLES}{row}\n")
    assert sum(one.seconds.size for one in run.series) == 8 and "1 row" in notes[0]


def test_a_last_sample_that_was_cut_is_skipped_and_one_in_the_middle_is_damage(
    tmp_path: Path,
) -> None:
    run, notes = imported(tmp_path, "ng_one_one.out", f"{SAMPLES}8\n")
    assert sum(one.seconds.size for one in run.series) == 8 and "1 row" in notes[0]
    for row in ("8", "8\t3.0\t3.1", "8\t-3.0"):
        with pytest.raises(CorruptFile, match=r"line 10\b"):
            imported(tmp_path, "ng_one_one.out", f"{SAMPLES}{row}\n8\t3.0\n")


def test_lost_times_are_no_messages(tmp_path: Path) -> None:
    with pytest.raises(CorruptFile, match="--noise-trace"):
        imported(tmp_path, "ng_osnoise.out", LOST_TIMES)


@pytest.mark.parametrize(
    ("name", "pattern", "pairs", "message_bytes", "microseconds"),
    [
        ("ng_one_one_mpi_stripe1.out", "ping_pong", 1, 1, 3.1355),
        ("ng_netnoise_mpi_lat.out", "ping_pong", 1, 1, 3.512),
        ("ng_one_one_mpi_conc4.out", "pairs", 4, 1, 5.696),
    ],
)
def test_a_file_of_a_real_machine_is_read(
    tmp_path: Path, name: str, pattern: str, pairs: int, message_bytes: int, microseconds: float
) -> None:
    source = require_data(f"cloud/formats/{name}")
    run = read_run(import_file("netgauge", source, tmp_path / "run.jsonl"))
    first = run.series[0]
    assert (first.pattern, first.pairs, first.message_bytes) == (pattern, pairs, message_bytes)
    assert first.seconds[0] == pytest.approx(1e-6 * microseconds)
