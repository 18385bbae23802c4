"""What the probe writes is what the schema says and what the reader reads."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from json_schemas import validate_run_file

from chiplog.dataset.run_file import read_run

STOP = {"relative_half_width": 0.025, "min_samples": 5, "max_samples": 9, "budget_ns": 50_000_000}
SERIES = [
    {"pattern": "prtt", "message_bytes": 1024, "train": 1, "delay_ns": 0},
    {"pattern": "prtt", "message_bytes": 1024, "train": 10, "delay_ns": "rtt"},
]


def test_a_run_of_the_probe_is_read_and_valid(probe: Path, tmp_path: Path) -> None:
    run = tmp_path / "run.jsonl"
    request = {
        "type": "measure",
        "id": 3,
        "visit": 1,
        "tag": {"purpose": "grid"},
        "stop": STOP,
        "series": SERIES,
    }
    subprocess.run(
        [probe, "--target", "sim:L=5us,o=1us,g=2us,G=0.5ns", "--records", run],
        input=json.dumps(request) + '\n{"type":"quit"}\n',
        text=True,
        check=True,
        timeout=60,
    )
    validate_run_file(run)
    dataset = read_run(run)
    assert dataset.complete and dataset.transport == "sim"
    single, train = dataset.series
    assert (single.record_id, single.visit, single.tag) == (3, 1, {"purpose": "grid"})
    round_trip = 2 * (5e-6 + 2e-6 + 1023 * 0.5e-9)
    assert abs(single.median - round_trip) < 1e-9
    assert abs(train.delay_seconds - round_trip) < 1e-9
