from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from command import chiplog
from jobs_by_hand import Times, detail_out, pico_job, pico_jobs, scattered
from json_schemas import validate

from chiplog.dataset.import_file import import_file
from chiplog.errors import CorruptFile, UsageError
from chiplog.tune.choice import Native
from chiplog.tune.from_jobs.choose import choose_from
from chiplog.tune.from_jobs.job import JobCell, JobTime, MeasuredJob, Place
from chiplog.tune.from_jobs.job_files import read_jobs
from chiplog.tune.from_jobs.scatter import scatter_of
from chiplog.tune.from_jobs.tuning import AskedFromJobs, JobTuning, native_name, tune_from

SIZES = (64, 512, 4096, 32768)
TRUTH: Times = {
    (size, name): base * (1 + size / 4096) * 1e-5
    for size in SIZES
    for name, base in (
        ("default_ompi", 1.0),
        ("recursive_doubling_ompi", 0.5 if size >= 4096 else 1.2),
        ("basic_linear_ompi", 1.5),
        ("unheard_of_ompi", 0.1),
    )
}


def tuned(files: list[Path], tmp_path: Path, **asked: object) -> JobTuning:
    wanted = {"program": "openmpi", "operation": "allreduce", "out": tmp_path / "r.conf", **asked}
    return tune_from(AskedFromJobs(files=tuple(files), **wanted))  # type: ignore[arg-type]


def changed(tuning: JobTuning) -> dict[int, str]:
    return {
        verdict.cell.message_bytes: verdict.candidate.name
        for verdict in tuning.choices.verdicts
        if verdict.is_changed and verdict.candidate
    }


def test_with_two_jobs_a_rule_is_written_where_an_algorithm_is_surely_faster(
    tmp_path: Path,
) -> None:
    files = pico_jobs(tmp_path / "machine", scattered(TRUTH, 2))
    tuning = tuned(files, tmp_path)
    assert changed(tuning) == dict.fromkeys((4096, 32768), "recursive_doubling_ompi")
    assert "4096 3 0 0 # recursive_doubling" in tuning.files.text
    assert "32769 0 0 0 # Open MPI's own" in tuning.files.text
    assert "unheard_of_ompi" in tuning.left_out
    assert tuning.choices.missing == ()


def test_with_one_job_nothing_is_written_and_another_job_is_missing(tmp_path: Path) -> None:
    tuning = tuned(pico_jobs(tmp_path / "machine", [TRUTH]), tmp_path)
    assert changed(tuning) == {}
    (missing,) = tuning.choices.missing
    assert missing.what == "another job"
    assert (missing.place.operation, missing.place.ranks) == ("allreduce", 8)
    assert missing.message_bytes == SIZES


def test_files_of_one_job_and_copies_of_it_are_one_launch(tmp_path: Path) -> None:
    (archive,) = pico_jobs(tmp_path / "machine", [TRUTH])
    copy = pico_job(tmp_path / "machine", "2025_02_01___00_00_00", TRUTH)
    run = import_file("pico", archive, tmp_path / "run.jsonl")
    same = tmp_path / "machine" / "again.tar.gz"
    same.write_bytes(archive.read_bytes())
    assert len(read_jobs([archive, archive, same, run, copy])) == 1
    assert changed(tuned([archive, same, run, copy], tmp_path)) == {}


@pytest.mark.parametrize("seed", range(5))
def test_jobs_that_disagree_have_no_rule(tmp_path: Path, seed: int) -> None:
    """Half of the sizes are twice as fast in one job, and as slow in the other one."""
    jobs = scattered(TRUTH, 2, 0.5, seed)
    assert changed(tuned(pico_jobs(tmp_path / "machine", jobs), tmp_path)) == {}


def test_a_job_without_the_default_counts_for_nothing(tmp_path: Path) -> None:
    jobs = scattered(TRUTH, 2)
    without = {key: seconds for key, seconds in jobs[1].items() if key[1] != "default_ompi"}
    tuning = tuned(pico_jobs(tmp_path / "machine", [jobs[0], without]), tmp_path)
    assert changed(tuning) == {}
    assert {missing.what for missing in tuning.choices.missing} == {"another job"}
    alone = tuned(pico_jobs(tmp_path / "other", [without]), tmp_path)
    (missing,) = alone.choices.missing
    assert missing.what.startswith("the default")


def test_jobs_of_several_mpis_are_not_pooled(tmp_path: Path) -> None:
    files = [
        pico_job(tmp_path / "machine", f"2025_01_01___00_00_0{place}", times, mpi=f"OMPI,{release}")
        for place, (times, release) in enumerate(
            zip(scattered(TRUTH, 2), ("4.1.6", "5.0.3"), strict=True)
        )
    ]
    with pytest.raises(UsageError, match=r"OMPI 4\.1\.6, OMPI 5\.0\.3"):
        tuned(files, tmp_path)


def test_what_may_be_wrong_for_operations_that_do_not_commute_needs_the_users_word(
    tmp_path: Path,
) -> None:
    ring = {
        (size, "ring_ompi" if name == "recursive_doubling_ompi" else name): seconds
        for (size, name), seconds in TRUTH.items()
    }
    files = pico_jobs(tmp_path / "machine", scattered(ring, 2))
    assert "--commutative" in tuned(files, tmp_path).left_out["ring_ompi"]
    assert set(changed(tuned(files, tmp_path, commutative=True))) == {4096, 32768}


def test_blocks_of_a_reduce_scatter_are_a_ranks(tmp_path: Path) -> None:
    names = {"recursive_doubling_ompi": "non_overlapping_ompi"}
    truth = {(size, names.get(name, name)): seconds for (size, name), seconds in TRUTH.items()}
    files = pico_jobs(tmp_path / "machine", scattered(truth, 2), operation="REDUCE_SCATTER")
    tuning = tuned(files, tmp_path, operation="reduce_scatter")
    assert set(changed(tuning)) == {512, 4096}
    assert "4096 1 0 0 # non-overlapping" in tuning.files.text


def tables(folder: Path, jobs: int) -> list[Path]:
    truth = {
        (ranks, size, name): seconds * (1e-5 + 1e-9 * size)
        for ranks in (16, 32)
        for size in (4, 4096, 1 << 20)
        for name, seconds in (("0", 1.0), ("1", 2.0), ("3", 0.4 if size < 5000 else 1.1))
    }
    random = np.random.default_rng(3)
    return [
        detail_out(
            folder / f"day{day}" / "allreduce",
            {key: s * math.exp(random.normal(0, 0.01)) for key, s in truth.items()},
        )
        for day in range(jobs)
    ]


def test_two_tables_of_ompi_collectives_tuning_are_two_jobs_and_their_numbers_are_open_mpis(
    tmp_path: Path,
) -> None:
    tuning = tuned(tables(tmp_path, 2), tmp_path, version="4.1.4")
    assert set(changed(tuning)) == {4, 4096}
    assert tuning.files.text.count("4 3 0 0 # recursive_doubling") == 2
    assert changed(tuned(tables(tmp_path, 1), tmp_path, version="4.1.4")) == {}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("2025_01_01___00_00_00.tar.gz", b"\x1f\x8b broken"),
        ("detail.out", b"#Nnodes Message_size 0 1\n2 4 1.0(0.1)\n"),
        ("detail.out", b"nothing\n"),
        ("notes.txt", b"some words of somebody\n"),
        ("run.jsonl", b'{"type": "header", "schema": "chiplog.run/1"'),
        ("samples.jsonl", b'{"type":"header","schema":"chiplog.race-samples/3"}\n'),
        ("empty", b""),
    ],
)
def test_broken_files_end_with_code_5_and_one_sentence(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    finished = chiplog(
        *("tune", "--from", path, "--for", "openmpi", "--version", "4.1.4"),
        *("--operation", "allreduce", "-o", tmp_path / "r.conf"),
    )
    assert finished.code == CorruptFile.exit_code
    assert len(finished.stderr.strip().splitlines()) <= 3
    assert name in finished.stderr.replace("\n", "")
    assert not (tmp_path / "r.conf").exists()


def test_the_command_takes_several_files_and_writes_json(tmp_path: Path) -> None:
    files = pico_jobs(tmp_path / "machine", scattered(TRUTH, 2))
    finished = chiplog(
        *("tune", "--from", *files, "--for", "openmpi", "--operation", "allreduce"),
        *("-o", tmp_path / "r.conf", "--json", tmp_path / "r.json"),
    )
    assert finished.code == 0, finished.stderr
    assert "2 of 4 sizes leave the default" in finished.stdout.replace("\n", " ")
    content = json.loads((tmp_path / "r.json").read_text())
    validate(content)
    assert content["changed"] == 2
    assert len(content["jobs"]) == 2
    assert content["missing"] == []
    one = chiplog(
        *("tune", "--from", files[0], "--for", "openmpi", "--operation", "allreduce"),
        *("-o", tmp_path / "r.conf"),
    )
    assert "missing: another job, for allreduce of 8 ranks" in one.stdout
    assert "has no rule" in one.stderr


@pytest.mark.parametrize("option", ["--ranks", "--sizes"])
def test_what_the_files_say_themselves_is_refused(tmp_path: Path, option: str) -> None:
    finished = chiplog(
        *("tune", "--from", tmp_path / "x.tar.gz", "--for", "openmpi", option, "8"),
        *("--operation", "allreduce", "-o", tmp_path / "r.conf"),
    )
    assert finished.code == UsageError.exit_code
    assert option in finished.stderr


def test_another_operation_names_those_that_the_files_have(tmp_path: Path) -> None:
    files = pico_jobs(tmp_path / "machine", [TRUTH])
    with pytest.raises(UsageError, match="hold allreduce"):
        tuned(files, tmp_path, operation="bcast")


def test_algorithms_that_a_file_can_name_are_known_by_the_names_of_others() -> None:
    assert native_name("openmpi", "bcast", "chain_ompi") == Native("chain", 2, 0, 4)
    assert native_name("openmpi", "allreduce", "algorithm-5") == Native("segmented_ring", 5)
    assert native_name("openmpi", "allreduce", "default-trix3") is None
    assert native_name("openmpi", "allreduce", "algorithm-99") is None
    leaf = native_name("mpich", "allreduce", "rabenseifner_mpich")
    assert leaf == Native("MPIR_Allreduce_intra_reduce_scatter_allgather")


def made_up_jobs(
    random: np.random.Generator, ratios: dict[str, float], scatter: float, jobs: int
) -> list[MeasuredJob]:
    """Jobs of ten sizes; each time is off by its own normal logarithm."""
    place = Place("allreduce", 8, "")
    return [
        MeasuredJob(
            f"job {number}",
            None,
            {
                JobCell(place, 8**power, name): JobTime(
                    ratio * 1e-5 * math.exp(random.normal(0, scatter)), None
                )
                for power in range(10)
                for name, ratio in {"default": 1.0, **ratios}.items()
            },
        )
        for number in range(jobs)
    ]


@pytest.mark.parametrize("jobs", [2, 3, 6])
def test_algorithms_that_are_as_fast_as_the_default_are_chosen_in_few_of_many_tunings(
    jobs: int,
) -> None:
    """All rules of a tuning hold together with 95 % confidence; 10 % of 200 would be five standard errors more."""
    random = np.random.default_rng(jobs)
    alike = dict.fromkeys(("a1", "a2", "a3"), 1.0)
    natives = {name: Native(name, 1) for name in alike}
    wrong = sum(
        any(
            verdict.is_changed
            for verdict in choose_from(
                made_up_jobs(random, alike, 0.05, jobs), "allreduce", natives
            ).verdicts
        )
        for _ in range(200)
    )
    assert wrong <= 20


def test_the_scatter_of_cells_that_scatter_alike_is_that_of_all_together() -> None:
    random = np.random.default_rng(1)
    cells = [random.normal(0.0, 0.1, 2) for _ in range(300)]
    scatter = scatter_of(cells)
    assert scatter is not None
    assert math.sqrt(scatter.variance) == pytest.approx(0.1, rel=0.15)
    assert scatter.degrees > 10


def test_a_cell_borrows_little_from_others_that_scatter_in_their_own_ways() -> None:
    random = np.random.default_rng(1)
    cells = [random.normal(0.0, 10 ** random.uniform(-4, 0), 3) for _ in range(300)]
    scatter = scatter_of(cells)
    assert scatter is not None
    assert scatter.degrees < 2
    assert scatter_of([np.zeros(2), np.zeros(3)]) is None


def test_the_plan_begins_with_what_gains_most_for_its_cost_and_keeps_its_budget(
    tmp_path: Path,
) -> None:
    files = pico_jobs(tmp_path / "machine", [TRUTH])
    tuning = tuned(files, tmp_path, plan_seconds=1.0)
    assert tuning.plan is not None
    first = tuning.plan.cells[0]
    assert (first.cell.algorithm, first.cell.message_bytes) == ("recursive_doubling_ompi", 4096)
    assert first.jobs == 1
    assert first.expected_gain == pytest.approx(math.log(2), rel=0.01)
    assert first.seconds == pytest.approx(10 * (2e-5 + 1e-5), rel=0.01)
    assert tuning.plan.expected_regret == pytest.approx(math.log(2) / 2, rel=0.01)
    assert tuning.plan.regret_left == 0
    short = tuned(files, tmp_path, plan_seconds=4e-4).plan
    assert short is not None
    assert [planned.cell.message_bytes for planned in short.cells] == [4096]
    assert short.seconds <= 4e-4


def test_sizes_that_were_not_measured_at_a_place_are_planned_from_those_around(
    tmp_path: Path,
) -> None:
    sparse = {key: seconds for key, seconds in TRUTH.items() if key[0] != 4096}
    files = [
        pico_job(tmp_path / "machine", "2025_01_01___00_00_00", sparse),
        pico_job(tmp_path / "machine", "2025_01_02___00_00_00", TRUTH, nodes=16),
    ]
    plan = tuned(files, tmp_path, plan_seconds=1.0).plan
    assert plan is not None
    here = [p for p in plan.cells if p.cell.place.ranks == 8 and p.cell.message_bytes == 4096]
    assert {planned.jobs for planned in here} == {2}
    assert all(planned.expected_gain > 0 for planned in here)


def test_a_plan_needs_files_that_say_how_long_they_measured(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--plan"):
        tuned(tables(tmp_path, 1), tmp_path, version="4.1.4", plan_seconds=1.0)
    finished = chiplog(
        *("tune", "--plan", "5", "--for", "openmpi", "--operation", "bcast", "-o", tmp_path / "r"),
    )
    assert finished.code == UsageError.exit_code
    assert "--from" in finished.stderr


def test_a_plan_is_shown_and_in_the_json(tmp_path: Path) -> None:
    files = pico_jobs(tmp_path / "machine", [TRUTH])
    finished = chiplog(
        *("tune", "--from", *files, "--plan", "10", "--for", "openmpi"),
        *("--operation", "allreduce", "-o", tmp_path / "r.conf", "--json", tmp_path / "r.json"),
    )
    assert finished.code == 0, finished.stderr
    assert "plan: measure this next" in finished.stdout
    plan = json.loads((tmp_path / "r.json").read_text())["plan"]
    assert plan["cells"][0]["candidate"] == "recursive_doubling_ompi"
    assert plan["seconds"] <= 10


def test_no_size_is_planned_beyond_those_of_its_number_of_ranks(tmp_path: Path) -> None:
    small = {key: seconds for key, seconds in TRUTH.items() if key[0] <= 4096}
    files = [
        pico_job(tmp_path / "machine", "2025_01_01___00_00_00", small, nodes=64),
        pico_job(tmp_path / "machine", "2025_01_02___00_00_00", TRUTH, nodes=16),
    ]
    plan = tuned(files, tmp_path, plan_seconds=1.0).plan
    assert plan is not None
    largest = {
        ranks: max(p.cell.message_bytes for p in plan.cells if p.cell.place.ranks == ranks)
        for ranks in (16, 64)
    }
    assert largest == {16: 32768, 64: 4096}
