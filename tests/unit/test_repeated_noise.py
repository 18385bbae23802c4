"""Noise from records: consecutive ping-pongs give back the lost times, and so the tail of what was not measured."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from json_schemas import validate
from numpy.typing import NDArray

from chiplog.cli import main
from chiplog.collectives.algorithm import Task
from chiplog.collectives.registry import load
from chiplog.collectives.steps import Steps
from chiplog.errors import UsageError
from chiplog.schedule.arrays import Schedule
from chiplog.simulation import Conditions, LogGOPS, Noise, simulate
from chiplog.simulation.recorded_noise import Detours, detours_of, joined, noise_from
from chiplog.simulation.repeated import RepeatedRuns, repeat
from chiplog.simulation.simulate import SENDING

PARAMETERS = LogGOPS.from_ns(L=1500, o=500, g=300, G="0.1")
ROUND_TRIP = 5e-6
"""Of these parameters."""
PING_PONGS = 20_000
PLAIN_32_PS = 12_500_000
"""A dissemination of 32 ranks without noise."""


def lost_times(seed: int, gap_us: float, length_us: float, count: int = 2000) -> Detours:
    random = np.random.default_rng(seed)
    gaps = 1 + np.rint(random.exponential(gap_us * 1e6, count)).astype(np.int64)
    lengths = 1 + np.rint(random.exponential(length_us * 1e6, count)).astype(np.int64)
    ends = np.cumsum(gaps + lengths)
    return tuple(zip((ends - lengths).tolist(), lengths.tolist(), strict=True))


@cache
def ping_pong_schedule() -> Schedule:
    client, server, size = np.array([0]), np.array([1]), np.array([1])
    steps = Steps(2, 2 * PING_PONGS)
    for _ in range(PING_PONGS):
        steps.messages(client, server, size)
        steps.messages(server, client, size)
    return steps.build()


def ping_pongs(noise: Noise) -> NDArray[np.float64]:
    """Seconds of round trips that follow each other."""
    conditions = Conditions(noise=noise)
    simulation = simulate(ping_pong_schedule(), PARAMETERS, conditions=conditions, trace=True)
    starts = np.sort(simulation.busy["start_ps"][simulation.busy["work"] == SENDING])
    return np.asarray(np.diff(starts[::2]) * 1e-12)


def repeated(schedule: Schedule, noise: Noise, runs: int = 1000) -> RepeatedRuns:
    return repeat(
        lambda conditions: simulate(schedule, PARAMETERS, conditions=conditions),
        Conditions(noise=noise),
        runs,
    )


def dissemination(ranks: int) -> Schedule:
    return load("barrier", "dissemination").schedule(Task(ranks))


@pytest.mark.parametrize(("gap_us", "length_us"), [(300, 5), (300, 30), (100, 3)])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ping_pongs_of_two_ranks_tell_the_tail_of_a_barrier_of_32(
    gap_us: float, length_us: float, seed: int
) -> None:
    """Single draws for each message would put it far off: a rank waits while another one is slow."""
    truth = Noise(detours_ps=lost_times(seed, gap_us, length_us), seed=seed)
    blocks = {1: np.array_split(ping_pongs(truth), 200)}
    recorded = Noise(detours_ps=detours_of(blocks, [1], seed=seed))
    true, drawn = (repeated(dissemination(32), noise) for noise in (truth, recorded))
    assert true.quantile_95_ps is not None and drawn.quantile_95_ps is not None
    assert true.quantile_95_ps > 1.5 * PLAIN_32_PS
    assert drawn.quantile_95_ps == pytest.approx(true.quantile_95_ps, rel=0.25)
    assert drawn.median_ps == pytest.approx(true.median_ps, rel=0.25)


def test_scatter_to_both_sides_is_no_lost_time() -> None:
    random = np.random.default_rng(1)
    block = ROUND_TRIP * (1 + 0.01 * (2 * random.random(101) - 1))
    block[::50] = ROUND_TRIP * 1.5
    detours = detours_of({8: [block]}, [8])
    lengths = sorted(length for _, length in detours)
    assert lengths[-3:] == pytest.approx([0.5 * ROUND_TRIP * 1e12] * 3, rel=0.01)
    assert all(length < 0.02 * ROUND_TRIP * 1e12 for length in lengths[:-3])
    assert detours_of({8: [np.full(50, ROUND_TRIP)]}, [8]) == ()


def test_the_trace_lasts_as_long_as_the_blocks_of_the_nearest_size_for_each_rank() -> None:
    lengthened = np.full(100, ROUND_TRIP)
    lengthened[10] += 1e-3
    blocks = {8: [lengthened], 1 << 20: [np.r_[np.full(9, 1e-3), 5e-3]]}
    ((start, length),) = detours_of(blocks, [1, 64])
    assert length == pytest.approx(1e9)
    assert start == pytest.approx(200 * ROUND_TRIP * 1e12, rel=1e-6)
    ((_, large),) = detours_of(blocks, [1 << 19])
    assert large == pytest.approx(4e9)
    assert len(detours_of(blocks, [8, 1 << 19])) == 2


def test_traces_of_several_ranks_follow_each_other() -> None:
    assert joined([((5, 1), (10, 2)), (), ((3, 4),)]) == ((5, 1), (10, 2), (15, 4))


def test_runs_follow_their_seeds() -> None:
    noise = Noise("exponential", mean_ps=1e6, probability=0.1, seed=7)
    runs = repeated(dissemination(8), noise, 40)
    later = repeated(dissemination(8), Noise("exponential", 1e6, 0.0, 0.1, seed=27), 20)
    assert runs.makespan_ps[20:].tolist() == later.makespan_ps.tolist()
    assert len(set(runs.makespan_ps.tolist())) > 1
    assert runs.quantile_95_ps == np.sort(runs.makespan_ps)[38]
    assert runs.times_last.sum() >= 40
    assert repeated(dissemination(8), noise, 18).quantile_95_ps is None
    last_seed = repeated(dissemination(8), Noise("exponential", 1e6, seed=2**64 - 1), 2)
    assert last_seed.runs == 2


def test_without_noise_every_run_is_alike_and_every_rank_last() -> None:
    runs = repeated(dissemination(32), Noise(), 20)
    assert set(runs.makespan_ps.tolist()) == {PLAIN_32_PS}
    assert runs.slowest_ranks == [(0, 20), (1, 20), (2, 20)]


def goal(folder: Path) -> str:
    path = folder / "barrier.goal"
    words = ["schedule", "barrier", "--algorithm", "dissemination", "--ranks", "8"]
    assert main([*words, "-o", str(path)]) == 0
    return str(path)


HAND = ["--L", "1500", "--o", "500", "--g", "300", "--G", "0.1"]


def test_the_command_prints_the_run_without_noise_and_those_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = tmp_path / "lost.txt"
    lost.write_text("100000 3000\n300000 5000\n")
    words = ["simulate", goal(tmp_path), *HAND, "--repeat", "50", "--noise", str(lost)]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "makespan  7.5 us" in shown
    assert "with noise, 50 runs from seed 0 on" in shown
    assert "95 % point" in shown and "last in most runs: rank" in shown
    assert main([*words, "--json", "-"]) == 0
    document = json.loads(capsys.readouterr().out)
    validate(document)
    assert document["makespan_ns"] == 7500
    assert document["repeat"]["runs"] == 50
    assert document["repeat"]["shortest_ns"] == 7500
    assert document["repeat"]["longest_ns"] > 7500


def test_a_run_or_a_folder_of_lost_times_is_noise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, ranks = tmp_path / "run.jsonl", tmp_path / "ranks"
    ranks.mkdir()
    (ranks / "0").write_text("100000 3000\n")
    (ranks / "1").write_text("200000 9000\n")
    sim = "sim:L=1.5us,o=0.5us,g=0.3us,G=0.1ns,outliers=0.1,seed=3"
    assert main(["measure", sim, "--sizes", "8", "--pattern", "ping_pong", "-o", str(run)]) == 0
    assert noise_from(str(ranks)).detours_ps == ((100_000_000, 3_000_000), (303_000_000, 9_000_000))
    detours = noise_from(str(run), [8]).detours_ps
    assert {round(length / 45e6, 1) for _, length in detours} == {1.0}
    words = ["simulate", goal(tmp_path), *HAND, "--repeat", "20", "--noise"]
    capsys.readouterr()
    assert main([*words, str(run), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["repeat"]["longest_ns"] > 45_000


def test_noise_that_changes_nothing_is_said_to_change_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Equal scatter to both sides is in the model already, so a run that has no more loses no time."""
    run = tmp_path / "run.jsonl"
    sim = "sim:L=5us,o=1us,g=2us,G=0.5ns,seed=1"
    assert main(["measure", sim, "--pattern", "ping_pong", "--sizes", "8", "-o", str(run)]) == 0
    words = ["simulate", goal(tmp_path), *HAND, "--repeat", "20", "--noise", str(run)]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "All runs are alike: this noise makes no rank's work longer." in shown
    assert "last in most runs" not in shown


def test_a_file_of_another_kind_is_no_table_of_lost_times(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = goal(tmp_path)
    assert main(["simulate", other, *HAND, "--repeat", "20", "--noise", other]) == 2
    said = capsys.readouterr().err
    assert f"{other} is a GOAL schedule, but a table of lost times is needed here" in said


def test_what_can_be_no_noise_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["simulate", goal(tmp_path), *HAND, "--repeat", "20"]
    capsys.readouterr()
    assert main(words) == 2
    assert "--noise" in capsys.readouterr().err
    assert main([*words, "--noise", "pareto:2%", "--repeat", "0"]) == 2
    table = tmp_path / "times.csv"
    table.write_text("pattern,message_bytes,seconds\nping_pong,8,5e-6\nping_pong,8,5e-6\n")
    imported = tmp_path / "imported.jsonl"
    assert (
        main(["import", "csv", str(table), "--direction", "round-trip", "-o", str(imported)]) == 0
    )
    with pytest.raises(UsageError, match="was imported"):
        noise_from(str(imported))
    with pytest.raises(UsageError, match="holds 0 files"):
        (tmp_path / "empty").mkdir()
        noise_from(str(tmp_path / "empty"))
