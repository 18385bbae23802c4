"""Times of collective operations from several tools: names, sizes, ranks, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from imported_files import imported, refused, times
from needs import require_data
from new_tools_files import (
    ALLREDUCE,
    BARRIER,
    BOTH_WAYS,
    DETAIL,
    GPCNET,
    IMB,
    NON_BLOCKING,
    PICO_FILES,
    PICO_HEADER,
    PICO_METADATA,
    PICO_STAMP,
    pico_archive,
)

from chiplog.comparison.runs import compare_runs
from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.errors import CorruptFile, UsageError
from chiplog.fitting.fit import fit_all, models_for
from chiplog.fitting.request import FitRequest


def nothing_takes_them_for_ping_pongs(run: Dataset) -> bool:
    return not fit_all(run, FitRequest(models_for(run), replicates=2)).fits


def test_gpcnet_keeps_isolated_and_congested_tests_apart(tmp_path: Path) -> None:
    run, notes = imported(tmp_path, "gpcnet", GPCNET)
    found = [(one.pattern, one.placement, one.message_bytes, one.peers) for one in run.series]
    assert found == [
        ("random_ring_latency", "isolated", 8, 39),
        ("random_ring_bandwidth_with_barrier", "isolated", 131072, 39),
        ("multiple_allreduce", "isolated", 8, 39),
        ("random_ring_latency", "congested", 8, 39),
    ]
    assert times(run) == [(8, 2.5), (131072, 250.0), (8, 12.5), (8, 5.0)]
    assert run.series[0].tag["printed"] == {"Avg": 2.5, "99%": 4.5}
    assert len(notes) == 1 and "isolated, congested" in notes[0] and run.header["ranks"] == 40
    assert nothing_takes_them_for_ping_pongs(run)


def test_an_unknown_unit_of_gpcnet_is_refused(tmp_path: Path) -> None:
    assert "field Units" in refused(tmp_path, "gpcnet", GPCNET.replace("MiB/s/rank", "  MB/s/rank"))


def test_gpcnets_runs_of_other_sizes_are_refused(tmp_path: Path) -> None:
    text = GPCNET + GPCNET.replace("40 MPI ranks", "80 MPI ranks")
    assert "of 80 ranks, the one before of 40" in refused(tmp_path, "gpcnet", text)


def test_a_real_log_of_gpcnet_is_imported(tmp_path: Path) -> None:
    log = require_data("field/sb_gpcnet_network_load.log").read_bytes()
    run, _ = imported(tmp_path, "gpcnet", log)
    assert run.header["ranks"] == 10
    assert {one.placement for one in run.series} == {"isolated", "congested"}
    assert nothing_takes_them_for_ping_pongs(run)


def detail(tmp_path: Path, text: str = DETAIL, folder: str = "alltoall") -> Dataset:
    source = tmp_path / folder / "detail.out"
    source.parent.mkdir(exist_ok=True)
    source.write_text(text)
    return read_run(import_file("ompi-collectives-tuning", source, tmp_path / "run.jsonl"))


def test_each_algorithm_of_a_tuning_is_an_operation_and_the_chosen_one_the_default(
    tmp_path: Path,
) -> None:
    run = detail(tmp_path)
    assert {one.pattern for one in run.series} == {"alltoall"}
    by_algorithm = {
        (one.operation, one.peers + 1, one.message_bytes): one.median for one in run.series
    }
    assert by_algorithm["default", 2, 8] == 10.5e-6
    assert by_algorithm["algorithm-5", 2, 64] == 9.5e-6
    assert ("algorithm-5", 4, 8) not in by_algorithm, "No data"
    assert len(by_algorithm) == 8 and run.header["ranks"] == 4
    assert run.series[0].tag["standard_deviation_seconds"] == {
        "default": 0.25e-6,
        "algorithm-1": 0.5e-6,
    }
    assert nothing_takes_them_for_ping_pongs(run)


def test_the_collective_of_a_tuning_is_its_folder_or_said(tmp_path: Path) -> None:
    with pytest.raises(CorruptFile, match="--pattern allreduce"):
        detail(tmp_path, folder="results")
    run = read_run(
        import_file(
            "ompi-collectives-tuning",
            tmp_path / "results" / "detail.out",
            tmp_path / "run.jsonl",
            pattern="bcast",
        )
    )
    assert {one.pattern for one in run.series} == {"bcast"}
    with pytest.raises(UsageError, match="of a collective operation"):
        import_file(
            "ompi-collectives-tuning",
            tmp_path / "results" / "detail.out",
            tmp_path / "run.jsonl",
            pattern="ping_pong",
        )


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("12.25(0.50)", "12.25(0.50", "line 2, field 1"),
        ("4          8", "2          8", "line 4, field Message_size"),
        ("9.75                 10.50(0.25)", "", "line 2"),
        ("0                    1", "tuned                0", "stands twice in the header"),
    ],
)
def test_a_damaged_tuning_is_refused_by_its_line(
    tmp_path: Path, old: str, new: str, sentence: str
) -> None:
    assert old in DETAIL
    with pytest.raises(CorruptFile) as error:
        detail(tmp_path, DETAIL.replace(old, new))
    assert sentence in str(error.value)


def test_the_best_of_a_tuning_is_not_read_for_its_details(tmp_path: Path) -> None:
    text = "#Nranks    Message_size Best_Algorithm  Best_Latency\n2          8            1  10.5\n"
    with pytest.raises(CorruptFile, match=r"this is best\.out"):
        detail(tmp_path, text)


def results(tmp_path: Path, files: dict[str, str], metadata: str = PICO_METADATA) -> Path:
    """An archive beside its metadata, as PICO's repository has them."""
    (tmp_path / "machine").mkdir(exist_ok=True)
    (tmp_path / "machine_metadata.csv").write_text(metadata)
    path = tmp_path / "machine" / f"{PICO_STAMP}.tar.gz"
    path.write_bytes(pico_archive(files))
    return path


def test_a_job_of_pico_keeps_every_iteration_and_marks_the_first_fifth(tmp_path: Path) -> None:
    notes: list[str] = []
    path = results(tmp_path, PICO_FILES)
    run = read_run(import_file("pico", path, tmp_path / "run.jsonl", note=notes.append))
    found = {(one.pattern, one.operation): one for one in run.series}
    chosen = found["allreduce", "default"]
    assert (chosen.message_bytes, chosen.peers, chosen.placement) == (1024, 7, "4-nodes-x-2")
    np.testing.assert_allclose(chosen.warmup_seconds, [9e-6, 8e-6])
    np.testing.assert_allclose(chosen.seconds[:2], [5e-6, 5.1e-6])
    ring = found["allreduce", "ring_segmented_ompi"]
    assert ring.tag["segment_bytes"] == 65536
    assert ring.seconds.size == 2, "the last line is no measurement"
    gathered = found["allgather", "default-ring"]
    assert (gathered.message_bytes, gathered.tag["buffer_bytes"]) == (2048, 8192)
    assert gathered.placement == "4-nodes-x-1+gpu-buffers"
    assert gathered.median == pytest.approx(3.05e-6)
    assert {one.launch for one in run.series} == {0}
    assert any("counts the whole buffer" in note for note in notes)
    assert run.header["ranks"] == 8
    assert nothing_takes_them_for_ping_pongs(run)


def test_a_job_of_pico_may_be_a_folder_or_a_file_of_it(tmp_path: Path) -> None:
    results(tmp_path, PICO_FILES)
    folder = tmp_path / "machine" / PICO_STAMP
    for name, text in PICO_FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    whole = read_run(import_file("pico", folder, tmp_path / "run.jsonl"))
    assert len(whole.series) == 3
    part = folder / "0" / "256_default_ompi_int32.csv"
    assert len(read_run(import_file("pico", part, tmp_path / "run.jsonl")).series) == 1


def test_a_job_without_metadata_is_refused_unless_it_has_a_summary(tmp_path: Path) -> None:
    path = results(tmp_path, PICO_FILES, metadata=PICO_HEADER)
    with pytest.raises(CorruptFile, match=r"put PICO's SYSTEM_metadata\.csv beside"):
        import_file("pico", path, tmp_path / "run.jsonl")
    summary = {"aggregated_results_summary.csv": PICO_METADATA}
    path = results(tmp_path, PICO_FILES | summary, metadata=PICO_HEADER)
    assert len(read_run(import_file("pico", path, tmp_path / "run.jsonl")).series) == 3


def test_a_damaged_file_of_a_job_is_named(tmp_path: Path) -> None:
    name = "0/256_default_ompi_int32.csv"
    files = {**PICO_FILES, name: PICO_FILES[name].replace("5100", "51.5")}
    run = read_run(import_file("pico", results(tmp_path, files), tmp_path / "run.jsonl"))
    assert len(run.series) == 2
    assert any(f"{name}, line 5, field highest" in str(one) for one in run.header["warnings"])
    alone = {name: files[name]}
    with pytest.raises(CorruptFile) as error:
        import_file("pico", results(tmp_path, alone), tmp_path / "other.jsonl")
    assert f"{name}, line 5, field highest" in str(error.value)


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    assert "no archive of PICO's results" in refused(tmp_path, "pico", b"\x1f\x8b damaged")
    assert "ompi-collectives-tuning" in refused(tmp_path, "pico", DETAIL)
    with pytest.raises(UsageError, match="can't be opened"):
        import_file("pico", tmp_path / "nowhere.tar.gz", tmp_path / "run.jsonl")


def test_two_runs_of_collectives_are_compared_by_algorithm_and_ranks(tmp_path: Path) -> None:
    first = detail(tmp_path)
    slower = detail(tmp_path, DETAIL.replace("20.00(0.25)", "90.00(0.25)"))
    rows = compare_runs(first, slower)
    named = {(row.what.pattern, row.what.operation, row.what.peers) for row in rows[:-1]}
    assert ("alltoall", "default", 3) in named and ("alltoall", "algorithm-5", 1) in named
    ratio = next(
        row.ratio for row in rows[:-1] if (row.what.operation, row.what.peers) == ("default", 3)
    )
    assert ratio == pytest.approx(4.5)


def test_a_collective_of_osu_is_a_call_of_the_library_s_default(tmp_path: Path) -> None:
    run, notes = imported(tmp_path, "osu", ALLREDUCE)
    assert times(run) == [(8, 4.5), (1024, 9.0)]
    (first, _) = run.series
    assert (first.pattern, first.operation, first.direction) == ("allreduce", "default", "call")
    assert (first.peers, run.header["ranks"]) == (15, 16)
    assert first.tag["min_seconds"] == pytest.approx(4.25e-6)
    assert first.tag["max_seconds"] == pytest.approx(4.75e-6)
    assert nothing_takes_them_for_ping_pongs(run)
    assert all("ranks" not in note for note in notes)


def test_a_barrier_of_osu_has_no_size(tmp_path: Path) -> None:
    run, _ = imported(tmp_path, "osu", BARRIER)
    assert [(one.pattern, one.message_bytes, one.median) for one in run.series] == [
        ("barrier", 0, 2.25e-6)
    ]
    full = BARRIER.replace("(us)", "(us)   Min Latency(us)   Max Latency(us)  Iterations").replace(
        "2.25", "2.25   2.00   2.50   1000"
    )
    run, _ = imported(tmp_path, "osu", full)
    assert times(run) == [(0, 2.25)]
    assert run.series[0].tag["max_seconds"] == pytest.approx(2.5e-6)


def test_an_operation_that_does_not_block_has_its_pure_time(tmp_path: Path) -> None:
    run, _ = imported(tmp_path, "osu", NON_BLOCKING)
    (one,) = run.series
    assert (one.pattern, one.operation) == ("alltoall", "default, non-blocking")
    assert times(run) == [(8, 12.5)]
    assert one.tag["overall_seconds"] == pytest.approx(30.5e-6)


def test_ranks_that_nothing_tells_are_unknown_unless_they_are_said(tmp_path: Path) -> None:
    text = ALLREDUCE.partition("\n")[2]
    run, notes = imported(tmp_path, "osu", text)
    assert run.header["ranks"] is None
    assert any("--ranks" in note for note in notes)
    source = tmp_path / "source.txt"
    run = read_run(import_file("osu", source, tmp_path / "run.jsonl", ranks=64))
    assert run.header["ranks"] == 64 and {one.peers for one in run.series} == {63}
    with pytest.raises(UsageError, match="leave it out"):
        import_file("perftest", source, tmp_path / "run.jsonl", ranks=64)


def test_windows_both_ways_are_no_ping_pongs(tmp_path: Path) -> None:
    run, _ = imported(tmp_path, "osu", BOTH_WAYS)
    assert {(one.pattern, one.direction, one.train) for one in run.series} == {
        ("bidirectional_flood", "call", 64)
    }
    assert times(run)[0] == (8, 8.0), "64 messages of 8 bytes each way at 128 MB/s"
    assert nothing_takes_them_for_ping_pongs(run)


def test_collectives_of_other_numbers_of_ranks_are_no_launches(tmp_path: Path) -> None:
    run, _ = imported(tmp_path, "osu", ALLREDUCE + ALLREDUCE.replace("-np 16", "-np 64"))
    assert {(one.peers, one.launch) for one in run.series} == {(15, 0), (63, 0)}


@pytest.mark.parametrize(
    ("title", "pattern", "operation"),
    [
        ("MPI Broadcast Latency Test", "bcast", "default"),
        ("MPI-CUDA Allgather Latency Test", "allgather", "default"),
        ("MPI All-to-Allv Personalized Exchange Latency Test", "alltoallv", "default"),
        ("MPI Reduce_scatter_block Latency Test", "reduce_scatter_block", "default"),
        ("MPI Neighborhood Allgather Latency Test", "neighbor_allgather", "default"),
        ("MPI Gather Persistent Latency Test", "gather", "default, persistent"),
        ("NCCL-CUDA Allreduce Latency Test", "allreduce", "nccl"),
    ],
)
def test_every_collective_of_osu_has_its_name(
    tmp_path: Path, title: str, pattern: str, operation: str
) -> None:
    run, _ = imported(tmp_path, "osu", ALLREDUCE.replace("MPI Allreduce Latency Test", title))
    assert {(one.pattern, one.operation) for one in run.series} == {(pattern, operation)}


def test_collectives_of_imb_have_the_slowest_process_s_time(tmp_path: Path) -> None:
    run, _ = imported(tmp_path, "imb", IMB)
    assert [(one.pattern, one.operation, one.peers + 1) for one in run.series] == [
        ("allreduce", "default", 2),
        ("allreduce", "default", 4),
        ("barrier", "default", 4),
        ("bcast", "default, non-blocking", 4),
        ("exchange", "send", 2),
    ]
    assert times(run) == [(8, 1.5), (8, 2.5), (0, 3.5), (16, 6.5), (8, 4.5)]
    assert run.series[0].tag["mean_over_ranks_seconds"] == pytest.approx(1.25e-6)
    assert {one.launch for one in run.series} == {0}
    assert run.header["ranks"] == 4
    assert nothing_takes_them_for_ping_pongs(run)


@pytest.mark.parametrize(
    ("name", "pattern", "sizes"),
    [("ompi13082_v5.txt", "allreduce", 25), ("ucx7245_hpcx27.txt", "bidirectional_flood", 23)],
)
def test_real_tables_of_osu_become_no_ping_pongs(
    tmp_path: Path, name: str, pattern: str, sizes: int
) -> None:
    run, _ = imported(tmp_path, "osu", require_data(f"field/{name}").read_bytes())
    assert [one.pattern for one in run.series] == [pattern] * sizes
    assert nothing_takes_them_for_ping_pongs(run)
