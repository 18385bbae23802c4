"""Launches that end before their ranks' first word are started again, a bounded number of times."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fake_mpi import make_executable

from chiplog.benchmarking import benchmark
from chiplog.benchmarking.benchmark import BenchOptions, bench
from chiplog.benchmarking.launched import MODES
from chiplog.errors import RunFailed
from chiplog.measurement.launchers import launch_command
from chiplog.measurement.mpis import Mpi
from chiplog.measurement.probes import BuiltProbe
from chiplog.measurement.start import Start, launch_of
from chiplog.measurement.start_again import (
    MOST_STARTS,
    TRYING_SECONDS,
    NoStart,
    has_crashed,
    start_again,
)
from chiplog.plan import Request, SeriesRequest, StopRule
from chiplog.tune.check.proof import Runner
from chiplog.tune.lint.calls import Caller, OperationCall
from chiplog.tune.measured.candidate import DEFAULT
from chiplog.tune.measured.launch import Cell, Effort, RaceEntry
from chiplog.tune.measured.mpi_launcher import LaunchedWorld, MpiLauncher

MPI = Mpi("openmpi", "5.0.11", Path("mpicxx"), None, "g++", ())
DIES = "echo 'rank 3: Segmentation fault' >&2; exit 139"
Flaky = Callable[..., str]


@pytest.fixture
def flaky(tmp_path: Path) -> Flaky:
    """Writes a launcher that does `then` once its first `failures` starts have died."""

    def write(failures: int, then: str, dies: str = DIES) -> str:
        count = tmp_path / "starts"
        count.write_text("")
        script = (
            f'echo >>"{count}"\n[ "$(wc -l <"{count}")" -gt {failures} ] || {{ {dies}; }}\n{then}\n'
        )
        return str(make_executable(tmp_path / "flaky", f"#!/bin/sh\n{script}"))

    return write


def starts(launcher: str) -> int:
    return len((Path(launcher).parent / "starts").read_text().splitlines())


def program(name: str = "program") -> BuiltProbe:
    return BuiltProbe(Path("/nowhere") / name, "", MPI)


def json_line(kind: str, **members: Any) -> str:
    return json.dumps({"type": kind, **members}, separators=(",", ":"))


LAUNCH_LINE = json_line("launch", ranks=4, hosts=2)


def bench_output() -> str:
    """What the program prints of 2 ranks, with 40 samples of 1 us in each mode."""
    clocks = [{"rank": rank, "residual_seconds": 0.0, "off_at_end_seconds": 0.0} for rank in (0, 1)]
    about = {"operation": "barrier", "bytes": 0, "datatype": "byte", "calls": 9, "mpi": "an MPI"}
    course = {"lead_seconds": 1e-5, "floor_seconds": 1e-8, "clocks": clocks}
    lines = [json_line("launch", ranks=2, **about, **course)]
    for mode in MODES:
        samples = {"seconds": [1e-6] * 40, "invalid": []}
        lines.append(json_line("samples", mode=mode, variant="mpi", **samples))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("failures", range(MOST_STARTS))
def test_a_launch_is_started_until_it_starts_and_it_is_said_how_often_it_failed(
    failures: int,
) -> None:
    left = [NoStart(f"it says {number}.") for number in range(failures)]
    notes: list[str] = []

    def start() -> str:
        if left:
            raise left.pop(0)
        return "started"

    assert start_again(start, notes.append) == "started"
    assert len(notes) == (failures > 0)
    if failures:
        assert notes[0].startswith(f"{failures} start")
        assert f"it says {failures - 1}." in notes[0]


def test_starts_that_all_fail_end_in_one_sentence_that_says_how_many_there_were() -> None:
    count = 0

    def start() -> None:
        nonlocal count
        count += 1
        raise NoStart("it ends with code 139.")

    with pytest.raises(RunFailed) as failed:
        start_again(start)
    assert count == MOST_STARTS
    assert str(failed.value) == f"it ends with code 139 ({MOST_STARTS} starts in a row failed)."


def test_what_took_long_to_fail_is_not_tried_again() -> None:
    seconds = iter([0.0, TRYING_SECONDS])

    def start() -> None:
        raise NoStart("it hangs.")

    with pytest.raises(NoStart, match=r"^it hangs\.$"):
        start_again(start, clock=lambda: next(seconds))


def test_other_errors_are_not_tried_again() -> None:
    errors = [RunFailed("a disk is full."), NoStart("never.")]

    def start() -> None:
        raise errors.pop(0)

    with pytest.raises(RunFailed, match="disk"):
        start_again(start)
    assert len(errors) == 1


def test_a_race_starts_its_ranks_again(flaky: Flaky, capsys: pytest.CaptureFixture[str]) -> None:
    launcher = flaky(2, f"echo '{LAUNCH_LINE}'")
    assert MpiLauncher(program(), 4, (launcher,)).world() == LaunchedWorld(4, 2)
    assert starts(launcher) == 3
    assert "2 starts of the ranks failed" in capsys.readouterr().err


def test_a_race_that_never_starts_says_so_once(flaky: Flaky) -> None:
    launcher = flaky(99, "")
    with pytest.raises(
        RunFailed, match=rf"Segmentation fault \({MOST_STARTS} starts in a row"
    ) as failed:
        MpiLauncher(program(), 4, (launcher,)).world()
    assert starts(launcher) == MOST_STARTS
    assert str(failed.value).count(".") == 1


def test_a_launch_of_the_race_that_dies_later_is_its_candidates_failure(flaky: Flaky) -> None:
    begin = '{"type":"begin","cell":0,"variant":"default"}'
    dies = f"echo '{LAUNCH_LINE}'; echo '{begin}'; {DIES}"
    launcher = flaky(99, "", dies)
    entries = [RaceEntry(Cell("bcast", 2, 8), (DEFAULT,))]
    result = MpiLauncher(program(), 2, (launcher,)).launch(entries, Effort(), 1)
    assert starts(launcher) == 1
    assert result.failure is not None and result.failure.candidate == "default"


def test_starts_of_a_race_that_fail_end_with_its_time(flaky: Flaky) -> None:
    launcher = flaky(99, "", "sleep 0.4; exit 139")
    entries = [RaceEntry(Cell("bcast", 2, 8), (DEFAULT,))]
    result = MpiLauncher(program(), 2, (launcher,)).launch(entries, Effort(), 1, 0.6)
    assert starts(launcher) == 2
    assert result.is_cut and 0.5 < result.wall_seconds < 30.0


def test_a_bench_starts_its_ranks_again_and_has_all_samples(
    flaky: Flaky,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "said").write_text(bench_output())
    launcher = flaky(3, f"cat {tmp_path / 'said'}")
    monkeypatch.setattr(benchmark, "find_mpi", lambda *_: MPI)
    monkeypatch.setattr(benchmark, "build_program", lambda *_, **__: program())
    measured = bench("barrier", launcher=launcher, options=BenchOptions(launches=2))
    assert starts(launcher) == 5
    assert measured.launches == 2
    assert "3 starts of the ranks failed" in capsys.readouterr().err
    launcher = flaky(99, "")
    with pytest.raises(RunFailed, match=rf"code 139 and said: rank 3.*{MOST_STARTS} starts"):
        bench("barrier", launcher=launcher, options=BenchOptions(launches=2))


def test_a_bench_that_says_what_is_wrong_is_started_once(
    flaky: Flaky, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = flaky(99, "", "echo 'chiplog-bench: there is 1 rank' >&2; exit 1")
    monkeypatch.setattr(benchmark, "find_mpi", lambda *_: MPI)
    monkeypatch.setattr(benchmark, "build_program", lambda *_, **__: program())
    with pytest.raises(RunFailed, match="there is 1 rank"):
        bench("barrier", launcher=launcher)
    assert starts(launcher) == 1


TWO_RANKS = (
    'CHIPLOG_SIZE=2 CHIPLOG_RANK=1 "$@" </dev/null >&2 &\nCHIPLOG_SIZE=2 CHIPLOG_RANK=0 "$@"; wait'
)


def test_the_probes_ranks_are_started_again(
    flaky: Flaky, capsys: pytest.CaptureFixture[str]
) -> None:
    """What `chiplog measure`, `run`, `survey` and `ucx` start."""
    launcher = flaky(2, TWO_RANKS)
    with launch_of("tcp", 2, Start(shlex.quote(launcher)))(0) as session:
        assert session.header["ranks"] == 2
    assert starts(launcher) == 3
    assert "2 starts of the ranks failed" in capsys.readouterr().err
    launcher = flaky(99, "")
    with (
        pytest.raises(RunFailed, match=rf"{MOST_STARTS} starts in a row"),
        launch_of("tcp", 2, Start(shlex.quote(launcher)))(0),
    ):
        raise AssertionError("they have started")


def test_a_probe_that_dies_after_its_header_is_not_started_again(flaky: Flaky) -> None:
    header = json_line("header", schema="chiplog.run/1")
    launcher = flaky(0, f"echo '{header}'; read request; {DIES}")
    request = Request(7, 0, (SeriesRequest("prtt", 8),), StopRule(0.025, 6, 100, 10_000_000))
    launch = launch_of("tcp", 2, Start(shlex.quote(launcher)))
    with launch(0) as session, pytest.raises(RunFailed, match="SIGSEGV") as failed:
        session.measure(request)
    assert not isinstance(failed.value, NoStart)
    assert starts(launcher) == 1


@pytest.mark.parametrize("failures", [0, 2, 99])
def test_ranks_that_die_at_their_start_prove_nothing_about_a_tuning_file(
    failures: int, flaky: Flaky
) -> None:
    launcher = flaky(failures, "echo started; echo barrier 3 error no such algorithm")
    ended = Runner(program(), (launcher,)).run({})
    assert not ended.is_done
    assert ("no such algorithm" in ended.said) == (failures < MOST_STARTS)
    assert starts(launcher) == min(failures + 1, MOST_STARTS)
    launcher = flaky(failures, "echo ranks 4; echo call 0 ok; echo done")
    calls = Caller(program(), (launcher,)).run([OperationCall("bcast", 4, 8)], {})
    assert calls.is_done == (failures < MOST_STARTS)
    assert starts(launcher) == min(failures + 1, MOST_STARTS)


@pytest.mark.parametrize("dies", ["kill -KILL $$", "kill -TERM $$", "exit 137", "exit 1"])
def test_a_probe_that_was_killed_or_refused_is_not_started_again(dies: str, flaky: Flaky) -> None:
    launcher = flaky(99, "", dies)
    with (
        pytest.raises(RunFailed),
        launch_of("tcp", 2, Start(shlex.quote(launcher)))(0),
    ):
        raise AssertionError("they have started")
    assert starts(launcher) == 1


@pytest.mark.parametrize("dies", ["kill -KILL $$", "kill -TERM $$", "exit 137", "exit 1"])
def test_nor_are_programs_that_are_run_to_their_end(
    dies: str, flaky: Flaky, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benchmark, "find_mpi", lambda *_: MPI)
    monkeypatch.setattr(benchmark, "build_program", lambda *_, **__: program())
    launcher = flaky(99, "", dies)
    with pytest.raises(RunFailed):
        bench("barrier", launcher=launcher)
    assert starts(launcher) == 1
    launcher = flaky(99, "", dies)
    with pytest.raises(RunFailed):
        MpiLauncher(program(), 4, (launcher,)).world()
    assert starts(launcher) == 1
    launcher = flaky(99, "", dies)
    assert not Runner(program(), (launcher,)).run({}).is_done
    assert not Caller(program(), (launcher,)).run([OperationCall("bcast", 4, 8)], {}).is_done
    assert starts(launcher) == 2


@pytest.mark.parametrize(
    ("code", "words", "expected"),
    [
        (139, "", True),
        (-11, "", True),
        (134, "", True),
        (1, "mpirun noticed that rank 1 exited on signal 11 (Segmentation fault).", True),
        (15, "EXIT STRING: Segmentation fault (signal 11)", True),
        (9, "EXIT STRING: Killed (signal 9)", False),
        (137, "", False),
        (1, "MPI_ABORT was invoked", False),
        (None, "", False),
    ],
)
def test_a_crash_is_told_from_code_and_words(code: int | None, words: str, expected: bool) -> None:
    assert has_crashed(code, words) == expected


def test_srun_is_told_to_end_all_ranks_with_the_first_that_fails(
    flaky: Flaky, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranks of an MPI wait for ever for one that has crashed."""
    says = f"[ \"$SLURM_KILL_BAD_EXIT\" = 1 ] && echo '{LAUNCH_LINE}'"
    assert MpiLauncher(program(), 4, (flaky(0, says),)).world() == LaunchedWorld(4, 2)
    monkeypatch.setenv("SLURM_KILL_BAD_EXIT", "0")
    assert launch_command(program(), 4, [], launcher=["srun"]).environment == {}
