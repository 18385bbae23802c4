"""Noise, nodes, free messages and classes of pairs, where the result follows from a formula."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from netgauge_files import LOST_TIMES

from chiplog.errors import CorruptFile, UsageError
from chiplog.jobs.pair_classes import read_fitted_classes
from chiplog.schedule import Schedule, ScheduleBuilder
from chiplog.simulation import Conditions, LogGOPS, Noise, simulate
from chiplog.simulation.noise_text import parse_noise, read_detours

PARAMETERS = LogGOPS.from_ns(L=2500, o=100, g=50, G=1)
PS = 1000


def calcs(ranks: int, duration_ns: int, each: int = 1) -> Schedule:
    builder = ScheduleBuilder(ranks)
    for _ in range(each):
        builder.calc(np.arange(ranks), duration_ns=duration_ns)
    return builder.build()


def one_to_each(peers: int) -> Schedule:
    builder = ScheduleBuilder(peers + 1)
    for peer in range(1, peers + 1):
        builder.send([0], to=[peer], message_bytes=1)
        builder.receive([peer], source=[0], message_bytes=1)
    return builder.build()


@pytest.mark.parametrize("k", [1, 2, 3, 8])
def test_ranks_of_a_node_share_its_rate_as_max_rate_says(k: int) -> None:
    """Each of k ranks of a node sends n bytes to the other node: max(k n/R_N, n G) on the way."""
    further, R_N_ns_per_byte = 1_000_000, 0.4
    builder = ScheduleBuilder(2 * k)
    ranks = np.arange(k)
    builder.send(ranks, to=ranks + k, message_bytes=further + 1)
    builder.receive(ranks + k, source=ranks, message_bytes=further + 1)
    conditions = Conditions(ranks_per_node=k, node_bytes_per_second=1e9 / R_N_ns_per_byte)
    found = simulate(builder.build(), PARAMETERS, conditions=conditions)
    on_the_wire = max(k * further * R_N_ns_per_byte, further * 1)
    assert found.makespan_ps == PS * (100 + 2500 + 100 + on_the_wire)


def test_messages_within_a_node_do_not_take_its_rate() -> None:
    builder = ScheduleBuilder(4)
    builder.send([0, 1], to=[2, 3], message_bytes=1001)
    builder.receive([2, 3], source=[0, 1], message_bytes=1001)
    conditions = Conditions(ranks_per_node=4, node_bytes_per_second=1.0)
    found = simulate(builder.build(), PARAMETERS, conditions=conditions)
    assert found.makespan_ps == PS * (100 + 2500 + 100 + 1000)


@pytest.mark.parametrize("f", [1, 3, 7])
def test_the_first_f_messages_are_free_of_the_gap(f: int) -> None:
    """LogfP: the p-th of the sends starts at max((p-1) o, (p-f) g)."""
    parameters = LogGOPS.from_ns(L=2500, o=100, g=900, G=0)
    for peers in range(1, 12):
        found = simulate(one_to_each(peers), parameters, conditions=Conditions(free_messages=f))
        assert found.finish_ps[0] == PS * (max((peers - 1) * 100, (peers - f) * 900) + 100)


@pytest.mark.parametrize("distribution", ["exponential", "half-normal"])
def test_noise_lengthens_intervals_by_its_mean(distribution: str) -> None:
    """40000 draws: the standard error of their mean is half a per cent."""
    for noise in (Noise(distribution, mean_ps=200 * PS), Noise(distribution, mean_share=0.2)):
        found = simulate(calcs(200, 1000, 200), PARAMETERS, conditions=Conditions(noise=noise))
        assert np.mean(found.finish_ps) / PS / 200 == pytest.approx(1200, abs=4)


def test_pareto_noise_has_the_median_of_its_distribution() -> None:
    noise = Noise("pareto", mean_ps=1000 * PS)
    found = simulate(calcs(20_000, 0), PARAMETERS, conditions=Conditions(noise=noise))
    assert np.median(found.finish_ps) / PS == pytest.approx(1000 * (2**0.5 - 1), rel=0.05)


def test_noise_hits_with_its_probability_and_repeats_with_its_seed() -> None:
    hit = simulate(
        calcs(10_000, 1000), PARAMETERS, conditions=Conditions(parse_noise("pareto:5us@10%"))
    )
    assert np.mean(hit.finish_ps > 1000 * PS) == pytest.approx(0.1, abs=0.015)
    again, other = (
        simulate(
            calcs(10_000, 1000),
            PARAMETERS,
            conditions=Conditions(parse_noise("pareto:5us@10%", seed=seed)),
        )
        for seed in (0, 1)
    )
    assert np.array_equal(hit.finish_ps, again.finish_ps)
    assert not np.array_equal(hit.finish_ps, other.finish_ps)


def test_lost_times_are_lost_once_a_round() -> None:
    """A round of 10 us holds 9 us of work, wherever it is entered."""
    noise = Noise(detours_ps=((4_000_000, 500_000), (9_500_000, 500_000)))
    found = simulate(calcs(100, 9_000_000), PARAMETERS, conditions=Conditions(noise=noise))
    assert np.all(np.abs(found.finish_ps - 10_000_000 * PS) <= 500 * PS)


def test_a_pair_of_one_node_and_of_two_have_their_own_parameters(tmp_path: Path) -> None:
    path = tmp_path / "classes.json"
    path.write_text(
        '{"ranks_per_group": 2, "classes": [{"L": 300, "o": 10, "g": 5, "G": 0.1},'
        ' {"L": 2500, "o": 100, "g": 50, "G": 1}]}'
    )
    builder = ScheduleBuilder(4)
    builder.send([0, 2], to=[1, 0], message_bytes=11)
    builder.receive([1, 0], source=[0, 2], message_bytes=11)
    schedule = builder.build()
    pairs = read_fitted_classes(path, schedule).pairs
    assert pairs.class_of_groups == ((0, 1), (1, 0))
    found = simulate(schedule, PARAMETERS, conditions=Conditions(pairs=pairs))
    assert found.finish_ps.tolist() == [PS * 2710, PS * 321, PS * 100, 0]


@pytest.mark.parametrize(
    "text",
    [
        '{"classes": []}',
        '{"classes": [{"L": 1}], "ranks_per_group": 2}',
        '{"classes": [{"L": 1, "o": 1, "g": 1, "G": -1}], "ranks_per_group": 4}',
        '{"classes": [{"L": 1, "o": 1, "g": 1, "G": 1}], "ranks_per_group": 2}',
        '{"classes": [{"L": 1, "o": 1, "g": 1, "G": 1}], "group_of_rank": [0, 0, 0]}',
        '{"classes": [{"L": 1, "o": 1, "g": 1, "G": 1}], "ranks_per_group": 4, "between": [[0, 0]]}',
        "[]",
        "no json",
    ],
)
def test_what_are_no_classes_of_pairs_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "classes.json"
    path.write_text(text)
    with pytest.raises(CorruptFile, match=r"classes\.json"):
        read_fitted_classes(path, ScheduleBuilder(4).build())


@pytest.mark.parametrize(
    "text", ["", "gauss:1us", "exponential:5", "pareto:-1us", "pareto:1us@200%"]
)
def test_what_is_no_noise_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--noise"):
        parse_noise(text)


@pytest.mark.parametrize("text", ["", "0 5\n", "5 1\n3 1\n", "5 0\n", "5\n", "5 nan\n"])
def test_what_are_no_lost_times_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "lost.txt"
    path.write_text(text)
    with pytest.raises(CorruptFile, match=r"lost\.txt"):
        read_detours(path)


def test_several_runs_of_lost_times_in_one_file_follow_each_other(tmp_path: Path) -> None:
    path = tmp_path / "ng_osnoise.out"
    path.write_text(LOST_TIMES + LOST_TIMES)
    first, second, third, fourth = read_detours(path)
    assert (first, second) == ((0, 8_821_150), (30_276_100, 17_642_310))
    assert third == (10_000_000_000, 8_821_150), "behind the first run's 10 ms"
    assert fourth == (10_030_276_100, 17_642_310)
    path.write_text(LOST_TIMES.replace("# Measurement period: 0.01 s\n", "") + LOST_TIMES)
    assert read_detours(path)[2] == (30_276_100 + 17_642_310, 8_821_150)


def test_lost_times_that_descend_without_a_header_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "lost.txt"
    path.write_text("0 5\n100 5\n50 5\n")
    with pytest.raises(CorruptFile, match="line 3"):
        read_detours(path)


def test_conditions_that_cannot_be_are_refused() -> None:
    with pytest.raises(UsageError, match="--free"):
        Conditions(free_messages=0)
    with pytest.raises(UsageError, match="--per-node"):
        Conditions(ranks_per_node=2)
