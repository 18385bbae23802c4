"""Operations and postings from the command line: measured side by side, fitted apart, refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import chiplog, sim_run

from chiplog.dataset.run_file import read_run


def test_operations_are_measured_in_the_same_records_and_fitted_apart(tmp_path: Path) -> None:
    operations = ("send", "rdma-write", "rdma-read")
    run = sim_run(
        tmp_path / "run.jsonl", "--operation", ",".join(operations), "--sizes", "8,64,512,4096"
    )
    series = read_run(run).select(pattern="prtt", train=1).series
    for record in {one.record_id for one in series}:
        assert {one.operation for one in series if one.record_id == record} == set(operations)
    finished = chiplog("fit", run, "--model", "loggp", "--json", "-")
    assert finished.code == 0, finished.stderr
    found = {
        one["operation"]: one["segments"][0]["parameters"]
        for one in json.loads(finished.stdout)["fits"]
    }
    assert list(found) == list(operations)
    assert found["send"]["L_half"]["value"] == pytest.approx(7e-6, rel=0.01)
    assert found["rdma-write"]["L_half"]["value"] == pytest.approx(6e-6, rel=0.01)
    assert found["send"]["o_r"]["value"] == pytest.approx(1e-6, rel=0.01)
    assert found["rdma-write"]["o_r"]["value"] == 0.0
    assert found["rdma-write"]["o_r"]["reason"].startswith("fixed by the operation")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--operation", "rdma-write"), "does not accept rdma-write on tcp"),
        (("--posting", "inline"), "which posts nothing inline"),
    ],
)
def test_what_the_transport_lacks_is_refused_and_leaves_no_file(
    tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    out = tmp_path / "run.jsonl"
    finished = chiplog("measure", "tcp", *options, "--sizes", "8,64", "-o", out)
    assert finished.code == 2
    (sentence,) = finished.stderr.strip().splitlines()
    assert words in sentence
    assert not out.exists()
