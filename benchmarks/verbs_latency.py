"""Half round trips of 8 B over soft-RoCE: the probe against perftest, in turn, in a machine of QEMU's.

    python benchmarks/verbs_latency.py [--machine build/qemu] [--rounds 20] [--only NAME]

Event-driven sends in virtual time, where the host's load changes nothing; polling sends and writes (which bring the
target no event) in real time, where it does. Needs what `make test-rdma` installs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from _alternate import ratio

from chiplog.measurement.probes import base_probe
from chiplog.plan.request import Request, SeriesRequest, StopRule


@dataclass(frozen=True)
class Contest:
    """An operation, perftest's program for it, how both wait, and in which time."""

    operation: str
    posting: str
    peer: str
    waiting: str
    time: str

    @property
    def name(self) -> str:
        return f"{self.operation}, {self.waiting}, {self.time} time / {self.peer}"


TESTBED = Path(__file__).resolve().parents[1] / "testbeds" / "qemu"
MESSAGE_BYTES = 8
SAMPLES = 1000
GOAL = 1.02
SECONDS_PER_ROUND = 10
CONTESTS = (
    Contest("send", "normal", "ib_send_lat", "event", "virtual"),
    Contest("send", "normal", "ib_send_lat", "poll", "real"),
    Contest("rdma-write", "inline", "ib_write_lat", "poll", "real"),
)
TYPICAL_COLUMN = 4
"""Of perftest's table: bytes, iterations, least, most, median, in microseconds."""


def ours_seconds(records: Path) -> float:
    lines = map(json.loads, records.read_text().splitlines())
    (record,) = (line for line in lines if line.get("type") == "record")
    series = record["series"][0]
    times_ns = series["samples_ns"][series["warmup"] :]
    return statistics.median(time_ns / series["batch"] for time_ns in times_ns) / 2 * 1e-9


def peer_seconds(table: Path) -> float:
    rows = (line.split() for line in table.read_text().splitlines())
    (row,) = (row for row in rows if row and row[0] == str(MESSAGE_BYTES))
    return float(row[TYPICAL_COLUMN]) * 1e-6


def compare(machine: Path, contest: Contest, rounds: int) -> str:
    stop = StopRule(
        relative_half_width=0.0, min_samples=SAMPLES, max_samples=SAMPLES, budget_ns=10**10
    )
    series = SeriesRequest(
        "ping_pong", MESSAGE_BYTES, operation=contest.operation, posting=contest.posting
    )
    request = Request(1, 0, (series,), stop)
    with tempfile.TemporaryDirectory(dir=machine) as directory:
        out = Path(directory)
        (out / "requests.jsonl").write_text(request.line())
        guest = ["bash", TESTBED / "guest" / "compare_latency.sh", base_probe()]
        arguments = ["/mnt/out/requests.jsonl", contest.waiting, contest.peer, rounds]
        boot = [TESTBED / "boot", machine, contest.time, out]
        command = list(map(str, [*boot, *guest, *arguments]))
        environment = {**os.environ, "TIME_LIMIT": str(SECONDS_PER_ROUND * rounds + 60)}
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, env=environment)
        turns = range(1, rounds + 1)
        ours = [ours_seconds(out / f"ours-{turn}.jsonl") for turn in turns]
        peer = [peer_seconds(out / f"peer-{turn}.txt") for turn in turns]
    return ratio(contest.name, ours, peer, goal=GOAL).line()


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Compare the verbs transport with perftest.")
    parser.add_argument("--machine", type=Path, default=Path("build/qemu"))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", default="", help="contests whose name contains this")
    options = parser.parse_args(arguments)
    if not (options.machine / "kernel").exists():
        print(f"skipped: no machine in {options.machine} (make test-rdma makes it)")
        return 0
    for contest in CONTESTS:
        if options.only in contest.name:
            print(compare(options.machine, contest, options.rounds), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
