"""A history keeps every run or says so, whatever happens while it is written, and tells what changed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import history_by_hand
import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command import chiplog
from history_by_hand import add_run
from many_runs import LONG

import chiplog as chiplog_in_python
from chiplog.errors import CorruptFile, RunFailed, UsageError
from chiplog.run_history.layout import NODE, history_files
from chiplog.run_history.read import read_rows
from chiplog.run_history.result import HistoryRow, judge_history
from chiplog.run_history.write import add_survey

SCHEMA = Path(__file__).parents[2] / "schemas" / "history.schema.json"
TARGET = "sim:L=5us,o=1us,g=2us,G=0.5ns,noise=0.02"


def noise(runs: int, nodes: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.004, (runs, 2, nodes))


def machine(history: Path, values: np.ndarray, *, kernel_changes_at: int | None = None) -> Path:
    for day, effects in enumerate(values):
        is_new = kernel_changes_at is not None and day >= kernel_changes_at
        add_run(history, effects, day, fingerprint={"machine.kernel": "6.2" if is_new else "6.1"})
    return history


def row_of(history: Path, name: str, quantity: str = "bandwidth") -> HistoryRow:
    rows = judge_history(history, node=name).rows
    return next(one for one in rows if one.quantity == quantity)


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("survey") / "survey"
    assert chiplog("survey", TARGET, "--ranks", 4, "-o", path).code == 0
    return path


def test_a_survey_is_added_once_and_judged(tmp_path: Path, survey: Path) -> None:
    history = tmp_path / "history"
    added = chiplog("history", "add", history, survey)
    assert added.code == 0, added.stderr
    (one,) = history_files(history)[0]
    table = pq.read_table(one.path)
    assert table.num_rows == 2 * (4 + 6)
    assert set(one.facts.fingerprint) >= {"machine.kernel", "plan.bandwidth_bytes", "transport"}
    with pytest.raises(UsageError, match="already"):
        add_survey(survey, history)
    shown = chiplog("history", history, "--json", "-")
    assert shown.code == 0, shown.stderr
    found = json.loads(shown.stdout)
    jsonschema.validate(found, json.loads(SCHEMA.read_text()))
    assert {row["verdict"] for row in found["rows"]} == {"no-verdict"}
    assert "8 are needed" in found["rows"][0]["reason"]


def test_a_lasting_shift_is_dated_with_what_changed_beside_it(tmp_path: Path) -> None:
    values = noise(30, 8)
    values[27:, 0, 3] -= 0.05
    history = machine(tmp_path, values, kernel_changes_at=27)
    result = judge_history(history)
    jsonschema.validate(result.to_json(), json.loads(SCHEMA.read_text()))
    first = result.rows[0]
    assert (first.name, first.quantity, first.verdict) == ("n0003", "bandwidth", "changed")
    assert first.since == "2026-01-28T03:00:00Z"
    assert first.low is not None and first.high is not None
    assert first.low < -0.05 < first.high < 0
    assert first.fingerprint == ("machine.kernel: 6.1 -> 6.2",)
    assert {one.verdict for one in result.rows[1:]} == {"same"}
    assert all(one.within is not None and one.within < 0.05 for one in result.rows[1:])


def test_a_spike_is_no_change_however_large(tmp_path: Path) -> None:
    values = noise(30, 4)
    values[20, 0, 1] = -0.9
    values[25, 1, 2] = 9.0
    assert {one.verdict for one in judge_history(machine(tmp_path, values)).rows} == {"same"}


def test_a_shift_that_is_new_is_no_verdict_yet(tmp_path: Path) -> None:
    values = noise(30, 4)
    values[28:, 0, 1] -= 0.1
    row = row_of(machine(tmp_path, values), "n0001")
    assert row.verdict == "no-verdict" and "2 runs differ" in str(row.reason)


def test_names_that_differ_in_case_or_domain_are_one_node(tmp_path: Path) -> None:
    values = noise(30, 2)
    values[25:, 0, 1] -= 0.06
    spellings = [["n1", "N2"], ["N1.cluster", "n2.cluster"], ["n1.Cluster", "n2"]]
    for day, effects in enumerate(values):
        add_run(tmp_path, effects, day, names=spellings[day % 3])
    assert row_of(tmp_path, "N2.cluster").verdict == "changed"
    assert len(judge_history(tmp_path).rows) == 4


def test_a_clock_that_jumps_loses_no_run(tmp_path: Path) -> None:
    values = noise(12, 2)
    for day in (*range(5, 12), *range(5)):  # the later ones were dated before the first ones
        add_run(tmp_path, values[day], day)
    assert judge_history(tmp_path).runs == 12


def test_a_run_of_the_future_is_refused_until_its_time_is_given(
    tmp_path: Path, survey: Path
) -> None:
    with pytest.raises(UsageError, match="future"):
        add_survey(survey, tmp_path, time="2999-01-01T00:00:00Z")
    added = add_survey(survey, tmp_path, time="2026-01-02T00:00:00Z")
    assert added.parent == tmp_path / "2026/01/02"


@pytest.mark.parametrize("left", [0, 7, 900, -1])
def test_half_a_file_is_named_and_the_others_are_judged(tmp_path: Path, left: int) -> None:
    for day in range(3):
        path = add_run(tmp_path, noise(1, 4)[0], day)
    path.write_bytes(path.read_bytes()[:left])
    result = judge_history(tmp_path)
    assert result.runs == 2
    assert len(result.unread) == 1 and path.name in result.unread[0]


def test_damaged_values_are_named_and_the_other_files_are_judged(tmp_path: Path) -> None:
    add_run(tmp_path, noise(1, 100)[0], 1)
    path = add_run(tmp_path, noise(1, 100)[0], 0)
    content = bytearray(path.read_bytes())
    for place in range(4, 1500):
        content[place] ^= 0x55
    path.write_bytes(content)
    result = judge_history(tmp_path)
    assert result.runs == 1
    assert len(result.unread) == 1 and path.name in result.unread[0]


def test_a_copy_of_a_run_counts_once(tmp_path: Path) -> None:
    add_run(tmp_path, noise(1, 4)[0], 1)
    path = add_run(tmp_path, noise(1, 4)[0], 0)
    (path.parent / "copy.parquet").write_bytes(path.read_bytes())
    result = judge_history(tmp_path)
    assert result.runs == 2
    assert len(result.unread) == 1 and "counts once" in result.unread[0]


def test_wrong_bits_are_said_with_their_reason_and_with_what_to_do(tmp_path: Path) -> None:
    add_run(tmp_path, noise(1, 100)[0], 1)
    path = add_run(tmp_path, noise(1, 100)[0], 0)
    content = bytearray(path.read_bytes())
    for place in range(200, 1500, 50):
        content[place] ^= 1
    path.write_bytes(content)
    (sentence,) = judge_history(tmp_path).unread
    assert "is broken (" in sentence and "None" not in sentence
    assert "history add" in sentence


def test_without_any_file_that_can_be_read_there_is_no_answer(tmp_path: Path) -> None:
    path = add_run(tmp_path, noise(1, 4)[0], 0)
    path.write_bytes(b"PAR1")
    with pytest.raises(CorruptFile, match=path.name):
        judge_history(tmp_path)


def test_a_file_of_another_version_is_an_error_after_the_answer(tmp_path: Path) -> None:
    add_run(tmp_path, noise(1, 4)[0], 1)
    path = add_run(tmp_path, noise(1, 4)[0], 0)
    table = pq.read_table(path)
    pq.write_table(
        table.replace_schema_metadata({b"chiplog.history": b"chiplog.history-file/9"}), path
    )
    finished = chiplog("history", tmp_path)
    assert finished.code == 5 and finished.stderr.count("\n") == 1
    assert "chiplog.history-file/9" in finished.stderr
    assert "runs       1," in finished.stdout


def test_an_unfinished_file_of_a_writer_is_not_read(tmp_path: Path) -> None:
    path = add_run(tmp_path, noise(1, 4)[0], 0)
    (path.parent / f".{path.name}.17-0.tmp").write_bytes(b"PAR1")
    assert len(history_files(tmp_path)[0]) == 1


def test_two_targets_are_not_mixed(tmp_path: Path) -> None:
    add_run(tmp_path, noise(1, 4)[0], 0)
    add_run(tmp_path, noise(1, 4)[0], 1, target="mpi")
    with pytest.raises(UsageError, match="mpi, tcp"):
        judge_history(tmp_path)
    assert judge_history(tmp_path, target="mpi").runs == 1


def test_python_asks_a_history_as_the_command_does(tmp_path: Path) -> None:
    for day in range(12):
        add_run(tmp_path, noise(1, 4)[0], day)
    found = chiplog_in_python.history(tmp_path, node="n0001", against="2w")
    assert {row.name for row in found.rows} == {"n0001"}
    with pytest.raises(UsageError, match=r"^node: no run"):
        chiplog_in_python.history(tmp_path, node="elsewhere")


def test_without_pyarrow_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    add_run(tmp_path, noise(1, 4)[0], 0)
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "pyarrow.py").write_text("raise ImportError")
    finished = chiplog("history", tmp_path, environment={"PYTHONPATH": str(tmp_path / "none")})
    assert finished.code == 2 and "pip install pyarrow" in finished.stderr


def test_a_history_that_cannot_be_made_is_one_sentence(tmp_path: Path, survey: Path) -> None:
    (tmp_path / "history").write_text("in the way")
    with pytest.raises(RunFailed, match="can't be written"):
        add_survey(survey, tmp_path / "history")


def test_a_full_disk_leaves_the_history_as_it_was(tmp_path: Path, survey: Path) -> None:
    add = ("history", "add", tmp_path, survey)
    refused = chiplog(*add, file_size_limit_bytes=4096)
    assert refused.code == 1, refused.stderr
    assert "can't be written: File too large" in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_one_sentence(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(RunFailed, match="Permission denied"):
            add_run(tmp_path, noise(1, 4)[0], 0)
    finally:
        tmp_path.chmod(0o700)


def test_many_writers_at_once_lose_nothing_and_show_no_half_file(tmp_path: Path) -> None:
    writers, runs = (32, 20) if LONG else (8, 5)
    command = [sys.executable, history_by_hand.__file__, "writers", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(Path(history_by_hand.__file__).parent)}
    process = subprocess.Popen([*command, str(writers), str(runs)], env=environment)
    seen = 0
    while process.poll() is None:
        found, unread = history_files(tmp_path)
        assert not unread
        assert len(found) >= seen
        seen = len(found)
        for one in found[-2:]:
            pq.read_table(one.path, page_checksum_verification=True)
    assert process.returncode == 0
    assert len(_read_all(tmp_path)) == writers * runs


def test_a_writer_killed_at_any_time_leaves_whole_files_only(tmp_path: Path) -> None:
    times = 100 if LONG else 10
    command = [sys.executable, history_by_hand.__file__, "kill", str(tmp_path), str(times)]
    environment = {**os.environ, "PYTHONPATH": str(Path(history_by_hand.__file__).parent)}
    subprocess.run(command, check=True, env=environment, timeout=120)
    left = list(tmp_path.rglob(".*.tmp"))
    print(f"{len(_read_all(tmp_path))} whole files, {len(left)} left unfinished by {times} kills")
    assert len(left) >= times // 2, "every other kill is in the middle of a file"


def _read_all(history: Path) -> list[pa.Table]:
    files, unread = history_files(history)
    assert not unread
    for one in files:
        read_rows(one, NODE)
    return [pq.read_table(one.path, page_checksum_verification=True) for one in files]
