"""Bad input ends in the documented exit code and one clear sentence, in a bounded time, and leaves nothing running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command import Finished, chiplog, sim_run, start_chiplog
from needs import missing

from chiplog.dataset.run_file import read_run
from chiplog.measurement.mpis import find_mpis
from chiplog.plan import PlanOptions
from chiplog.plan.plan import visits_of

SLOW_SIM = "sim:L=5us,o=1us,g=2us,G=0.5ns,noise=0.05,seed=3"


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sim_run(tmp_path_factory.mktemp("run") / "run.jsonl", "--sizes", "1:64")


def ends_with(finished: Finished, code: int, *words: str) -> None:
    assert finished.code == code, finished
    assert "Traceback" not in finished.stderr
    lines = finished.stderr.strip().splitlines()
    sentences = [one for one in lines if not one.startswith("chiplog: building the probe")]
    assert len(sentences) == 1, finished.stderr
    assert sentences[0].startswith("chiplog: ")
    for word in words:
        assert word in sentences[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["measure", "sim", "--colour", "red"], ["--colour"]),
        (["measure", "sim", "--pattern", "pingpong", "-o", "x"], ["--pattern", "prtt", "flood"]),
        (["measure", "sim", "--sizes", "8:4", "-o", "x"], ["--sizes", "8:4", "empty"]),
        (["measure", "sim", "--sizes", "", "-o", "x"], ["--sizes", "empty"]),
        (["measure", "sim", "--visits", "0", "-o", "x"], ["--visits", "1"]),
        (["measure", "sim", "--visits", "many", "-o", "x"], ["--visits", "integer"]),
        (["measure", "sim", "--ranks", "1", "-o", "x"], ["--ranks", "2"]),
        (["measure", "sim", "--budget", "-3", "-o", "x"], ["--budget", "above 0"]),
        (["measure", "sim"], ["-o"]),
        (["measure"], ["TARGET"]),
        (["measure", "sim:colour=red", "-o", "x"], ["colour", "noise"]),
        (["measure", "sim:L=five", "-o", "x"], ["L", "five"]),
        (["measure", "carrier-pigeon", "-o", "x"], ["carrier-pigeon", "tcp"]),
        (["measure", "sim", "-o", "/no/such/directory/x"], ["/no/such/directory/x"]),
        (["measure", "sim", "-o", "missing.jsonl", "--resume"], ["missing.jsonl"]),
        (["measure", "sim", "--launcher", "'", "-o", "x"], ["--launcher"]),
        (["fit", "missing.jsonl"], ["missing.jsonl"]),
        (["list", "colours"], ["colours", "models", "transports"]),
        (["import", "tarot", "missing.csv", "-o", "x"], ["tarot", "csv"]),
        (["probe", "build", "--mpi", "/no/such/mpicxx"], ["--mpi", "/no/such/mpicxx"]),
        (["run", "sim", "--sizes", "8:4"], ["--sizes", "empty"]),
        (["frobnicate"], ["frobnicate"]),
    ],
)
def test_wrong_usage_names_the_option_and_what_it_accepts(
    tmp_path: Path, arguments: list[str], words: list[str]
) -> None:
    ends_with(chiplog(*arguments, cwd=tmp_path), 2, *words)
    assert not list(tmp_path.glob("x*"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "astrology"], ["astrology", "loggp"]),
        (["--method", "guess"], ["guess", "prtt"]),
        (["--statistic", "mode"], ["mode", "median"]),
        (["--model", ","], ["--model"]),
    ],
)
def test_a_fit_names_what_it_does_not_know(
    run_file: Path, arguments: list[str], words: list[str]
) -> None:
    ends_with(chiplog("fit", run_file, *arguments), 2, *words)


def test_an_unknown_export_format_is_named(run_file: Path, tmp_path: Path) -> None:
    ends_with(chiplog("export", run_file, "--to", "stone", "-o", tmp_path / "x"), 2, "stone", "csv")


def test_two_ways_to_hold_out_exclude_each_other(run_file: Path) -> None:
    finished = chiplog("compare", run_file, "--hold-out", "message_bytes>8", "--folds", "2")
    ends_with(finished, 2, "--hold-out", "--folds", "exclude each other")


@pytest.mark.parametrize("command", ["fit", "changes", "compare", "report"])
def test_a_truncated_run_file_ends_with_5_and_names_file_and_line(
    run_file: Path, tmp_path: Path, command: str
) -> None:
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(run_file.read_bytes()[:-300])
    more = ["-o", tmp_path / "report.html"] if command == "report" else []
    ends_with(chiplog(command, cut, *more), 5, "cut.jsonl", "line")


@pytest.mark.parametrize("share", [0.02, 0.5, 0.9])
def test_a_flipped_bit_ends_with_5_and_names_file_line_and_field(
    run_file: Path, tmp_path: Path, share: float
) -> None:
    content = bytearray(run_file.read_bytes())
    content[int(len(content) * share)] ^= 4
    flipped = tmp_path / "flipped.jsonl"
    flipped.write_bytes(content)
    ends_with(chiplog("fit", flipped), 5, "flipped.jsonl", "line", "crc32")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("pattern,message_bytes\nprtt,8\n", ["seconds"]),
        (
            "pattern,message_bytes,seconds\nsend_overhead,8,-1e-6\n",
            ["line 2", "seconds", "negative"],
        ),
        ("pattern,message_bytes,seconds\nsend_overhead,eight,1e-6\n", ["line 2", "message_bytes"]),
    ],
)
def test_a_wrong_csv_table_ends_with_5_and_names_line_and_column(
    tmp_path: Path, table: str, words: list[str]
) -> None:
    source = tmp_path / "table.csv"
    source.write_text(table)
    finished = chiplog("import", "csv", source, "-o", tmp_path / "run.jsonl")
    ends_with(finished, 5, "table.csv", *words)


def test_an_existing_run_file_is_not_overwritten(run_file: Path) -> None:
    before = run_file.read_bytes()
    ends_with(chiplog("measure", "sim", "-o", run_file), 2, "exists already", "--resume")
    assert run_file.read_bytes() == before


def test_a_full_disk_ends_with_1_and_keeps_the_finished_records(tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    limit = 40_000
    finished = chiplog("measure", SLOW_SIM, "-o", out, file_size_limit_bytes=limit)
    ends_with(finished, 1, "run.jsonl", "--resume")
    kept = read_run(out, salvage=True)
    assert kept.series
    assert out.stat().st_size <= limit
    assert chiplog("measure", SLOW_SIM, "-o", out, "--resume").code == 0
    assert read_run(out).complete


def test_a_host_that_cannot_be_reached_ends_with_1_and_names_it(tmp_path: Path) -> None:
    # 192.0.2.0/24 is reserved for documentation: no interface here has such an address.
    finished = chiplog(
        "measure", "tcp:bind=192.0.2.1", "-o", tmp_path / "x.jsonl", timeout_seconds=60
    )
    assert finished.code in (1, 2), finished
    ends_with(finished, finished.code, "192.0.2.1")


LAUNCHER = """
import os, subprocess, sys
ranks = [
    subprocess.Popen(
        sys.argv[2:],
        stdin=None if rank == 0 else subprocess.DEVNULL,
        stdout=None if rank == 0 else subprocess.DEVNULL,
        env={**os.environ, "CHIPLOG_RANK": str(rank), "CHIPLOG_SIZE": "2"}
        | ({"CHIPLOG_SECRET": "guessed"} if rank == 1 and sys.argv[1] == "stranger" else {}),
    )
    for rank in range(2)
]
sys.exit(max(rank.wait() for rank in ranks))
"""


def launched(tmp_path: Path, kind: str, *more: str) -> Finished:
    script = tmp_path / "launcher.py"
    script.write_text(LAUNCHER)
    launcher = f"{sys.executable} {script} {kind}"
    out = tmp_path / "run.jsonl"
    short = ("--sizes", "1:8", "--visits", "1", "--time-limit", "5")
    return chiplog("measure", "tcp", *short, "-o", out, "--launcher", launcher, *more)


def test_ranks_of_a_launcher_meet_and_measure(tmp_path: Path) -> None:
    assert launched(tmp_path, "friend", "--time-limit", "60").code == 0
    assert read_run(tmp_path / "run.jsonl").complete


def test_a_rank_with_a_wrong_secret_ends_the_run_with_1_and_is_named(tmp_path: Path) -> None:
    ends_with(launched(tmp_path, "stranger"), 1, "secret")
    assert not (tmp_path / "run.jsonl").exists()


def test_a_meeting_point_that_cannot_be_reached_is_named(tmp_path: Path) -> None:
    # 192.0.2.0/24 is reserved for documentation: no interface here has such an address.
    finished = launched(tmp_path, "friend", "--rendezvous", "192.0.2.1:7777")
    ends_with(finished, 1, "192.0.2.1")


@pytest.fixture(params=["tcp", "shm", "mpi"])
def target(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name == "mpi" and not any(not mpi.simulated for mpi in find_mpis()):
        missing("an MPI", "make setup, or apt-get install libopenmpi-dev openmpi-bin")
    return name


@pytest.mark.alone
def test_a_rank_killed_in_mid_run_ends_with_1_and_keeps_the_finished_records(
    tmp_path: Path, target: str
) -> None:
    out = tmp_path / "run.jsonl"
    process = start_chiplog("measure", target, "--sizes", "1:64KiB", "--visits", "40", "-o", out)
    wait_for_lines(out, 5)
    probes = probes_below(process.pid)
    assert len(probes) >= 2, probes
    os.kill(max(probes), signal.SIGKILL)
    _, stderr = process.communicate(timeout=60)
    ends_with(Finished(process.returncode, "", stderr), 1)
    assert not read_run(out, salvage=True).complete
    assert len(read_run(out, salvage=True).series) >= 12
    assert nothing_left(probes)


@pytest.mark.alone
def test_a_rank_that_is_stopped_is_reported_soon_after_the_time_limit(
    tmp_path: Path, target: str
) -> None:
    out, limit_seconds = tmp_path / "run.jsonl", 4
    words = ("--sizes", "1:64KiB", "--visits", "200", "--time-limit", limit_seconds)
    process = start_chiplog("measure", target, *words, "--budget", "60", "-o", out)
    wait_for_lines(out, 5)
    probes = probes_below(process.pid)
    began = time.monotonic()
    os.kill(max(probes), signal.SIGSTOP)
    _, stderr = process.communicate(timeout=60)
    waited_seconds = time.monotonic() - began
    ends_with(Finished(process.returncode, "", stderr), 1, "within")
    assert waited_seconds < 3 * limit_seconds, stderr
    assert not read_run(out, salvage=True).complete
    assert nothing_left(probes)


@pytest.mark.alone
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_ends_with_130_and_resume_finishes_it(
    tmp_path: Path, number: signal.Signals
) -> None:
    out = tmp_path / "run.jsonl"
    arguments = ["measure", SLOW_SIM, "--sizes", "1:64KiB", "--visits", "4", "-o", str(out)]
    process = start_chiplog(*arguments)
    wait_for_lines(out, 5)
    probes = probes_below(process.pid)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=60)
    ends_with(Finished(process.returncode, "", stderr), 130, "interrupted")
    partial = read_run(out)
    assert not partial.complete
    assert nothing_left(probes)
    assert chiplog(*arguments, "--resume").code == 0
    whole = read_run(out)
    assert whole.complete
    assert {one.record_id for one in partial.series} <= {one.record_id for one in whole.series}
    grid = whole.select(purpose="grid")
    measured = {(one.message_bytes, one.visit) for one in grid.series}
    options = PlanOptions.from_json(whole.header["plan"], "the file")
    planned = {
        (int(size), visit)
        for size in grid.sizes()
        for visit in range(visits_of(options, int(size)))
    }
    assert planned <= measured


@pytest.mark.alone
def test_a_killed_chiplog_leaves_no_probe_behind(tmp_path: Path, target: str) -> None:
    out = tmp_path / "run.jsonl"
    process = start_chiplog("measure", target, "--visits", "40", "-o", out)
    wait_for_lines(out, 3)
    probes = probes_below(process.pid)
    process.kill()
    process.communicate(timeout=30)
    assert nothing_left(probes)


def test_strict_ends_with_4_where_the_precision_is_out_of_reach(tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    finished = chiplog(
        *("measure", SLOW_SIM, "--sizes", "1:64", "--precision", "0.000001", "--strict"),
        *("--no-refine", "-o", str(out)),
    )
    ends_with(finished, 4, "--strict", "--budget")
    assert read_run(out).complete


def test_a_debug_switch_shows_the_traceback(tmp_path: Path) -> None:
    finished = chiplog("fit", tmp_path / "missing", environment={"CHIPLOG_DEBUG": "1"})
    assert "Traceback" in finished.stderr


def wait_for_lines(path: Path, count: int) -> None:
    deadline = time.monotonic() + 60
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert time.monotonic() < deadline, "nothing was measured"
        time.sleep(0.01)


def probes_below(pid: int) -> list[int]:
    """The ids of the probe's processes that descend from `pid`."""
    rows = subprocess.run(
        ["ps", "-ww", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    parents = {int(row.split()[0]): int(row.split()[1]) for row in rows}
    named = {int(row.split()[0]) for row in rows if "--target" in row}

    def descends(process: int) -> bool:
        while process in parents:
            process = parents[process]
            if process == pid:
                return True
        return False

    return sorted(process for process in named if descends(process))


def nothing_left(processes: list[int]) -> bool:
    """Do all of `processes` end within some seconds? A zombie that nobody collects has ended."""
    deadline = time.monotonic() + 20
    while any(map(_lives, processes)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
