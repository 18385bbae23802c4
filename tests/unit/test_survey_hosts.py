"""What each node does alone: who has a slow CPU or memory, and who is blamed for it no more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from chiplog.dataset.series import Dataset, PairSamples, Series
from chiplog.machine_survey.findings import Finding
from chiplog.machine_survey.judge.hosts import HostVerdict, judge_hosts, without_explained
from chiplog.machine_survey.plan import COPY, HOST_CHECK, OTHERS, WORK

VISITS = 10
SECONDS = 1e-3


def alone(
    nodes: int, seed: int, *, lasting: float = 0.005, spikes: float = 0.02
) -> dict[str, NDArray[np.float64]]:
    """(visits, nodes) of each pattern on a healthy machine: nodes differ for good, and some visits are disturbed."""
    draw = np.random.default_rng(seed)
    figures = {}
    for pattern in (WORK, COPY):
        logs = lasting * draw.standard_normal(nodes) + 0.01 * draw.standard_t(4, (VISITS, nodes))
        logs += np.where(
            draw.random((VISITS, nodes)) < spikes, draw.exponential(0.5, (VISITS, nodes)), 0.0
        )
        figures[pattern] = SECONDS * np.exp(logs)
    share = 0.01 * draw.exponential(1.0, nodes) + 0.02 * draw.exponential(1.0, (VISITS, nodes))
    figures[OTHERS] = share
    return figures


def survey(figures: dict[str, NDArray[np.float64]], first_visit: int = 1) -> Dataset:
    nodes = next(iter(figures.values())).shape[1]
    series = [
        of_visit(pattern, first_visit + visit, row)
        for pattern, rows in figures.items()
        for visit, row in enumerate(rows)
    ]
    names = [f"n{number:02d}" for number in range(nodes)]
    return Dataset({"hosts": names, "ranks": nodes}, tuple(series), True, "by hand")


def of_visit(pattern: str, visit: int, seconds: NDArray[np.float64]) -> Series:
    none = np.zeros(0)
    return Series(
        pattern=pattern,
        operation="send",
        posting="normal",
        direction="call",
        message_bytes=0,
        train=1,
        delay_seconds=0.0,
        batch=1,
        launch=0,
        visit=visit,
        record_id=visit,
        placement_seconds=None,
        messages=0,
        bytes_sent=0,
        elapsed_seconds=0.1,
        warmup_seconds=none,
        seconds=seconds,
        tag={"purpose": HOST_CHECK},
        by_pair=tuple(
            PairSamples(rank, rank, none, np.full(4, one)) for rank, one in enumerate(seconds)
        ),
    )


def accused(figures: dict[str, NDArray[np.float64]]) -> set[tuple[str, str, str]]:
    verdict = judge_hosts(survey(figures))
    assert verdict is not None
    return {(one.kind, one.name, one.quantity) for one in verdict.accused}


@pytest.mark.parametrize("nodes", [8, 16, 64])
def test_a_healthy_machine_accuses_nobody(nodes: int) -> None:
    wrong = sum(bool(accused(alone(nodes, seed))) for seed in range(100))
    assert wrong <= 3  # expected: less than a quarter of 1 %


@pytest.mark.parametrize("nodes", [8, 16, 64])
def test_a_program_beside_it_makes_the_cpu_slow(nodes: int) -> None:
    figures = alone(nodes, 3)
    figures[WORK][:, 5] *= 1.9
    figures[COPY][:, 5] *= 1.5
    assert accused(figures) == {("cpu", "n05", WORK)}


def test_a_program_on_shared_cpus_is_known_by_whose_it_is() -> None:
    figures = alone(16, 4)
    figures[WORK] *= np.random.default_rng(1).lognormal(2.0, 0.3, figures[WORK].shape)
    figures[OTHERS][:, 5] += 0.6
    assert accused(figures) == {("cpu", "n05", OTHERS)}


def test_nodes_that_share_cpus_are_not_judged_by_what_they_take() -> None:
    figures = alone(16, 4)
    figures[WORK][:, 5] *= 1.9
    shared = survey(figures)
    series = tuple(
        replace(
            one,
            by_pair=tuple(
                replace(rank, seconds=rank.seconds * np.array([1.0, 1.0, 1.3, 1.3]))
                for rank in one.by_pair
            ),
        )
        for one in shared.series
    )
    verdict = judge_hosts(replace(shared, series=series))
    assert verdict is not None
    assert verdict.accused == ()
    assert verdict.detectable == {"cpu": None, "memory": None}


def test_slow_memory_is_not_a_slow_cpu() -> None:
    figures = alone(16, 5)
    figures[COPY][:, 2] *= 1.3
    assert accused(figures) == {("memory", "n02", COPY)}


def test_two_disturbed_visits_of_ten_accuse_nobody() -> None:
    figures = alone(16, 6, spikes=0.0)
    figures[WORK][2:4, 5] *= 3.0
    assert accused(figures) == set()


def test_the_sweep_itself_judges_nobody() -> None:
    figures = {name: rows[:1] for name, rows in alone(16, 7).items()}
    assert judge_hosts(survey(figures, first_visit=0)) is None


def test_a_node_without_figures_is_left_aside() -> None:
    figures = alone(16, 8)
    for rows in figures.values():
        rows[:, 3] = np.nan
    figures[WORK][:, 5] *= 1.9
    assert accused(figures) == {("cpu", "n05", WORK)}


def test_a_slow_cpu_takes_the_blame_from_its_links() -> None:
    cpu = Finding("cpu", "n05", None, "both", WORK, 0.9, 0.8, 1.0)
    found = [
        Finding("node", "n05", None, "both", "latency", 0.4, 0.3, 0.5),
        Finding("pair", "n01", "n05", "both", "latency", 0.4, 0.3, 0.5),
        Finding("node", "n06", None, "both", "bandwidth", -0.1, -0.12, -0.08),
        Finding("uplink", "leaf1", None, "both", "bandwidth", -0.1, -0.12, -0.08),
    ]
    stand, doubts = without_explained(found, HostVerdict((cpu,), {"cpu": 0.02}))
    assert [one.name for one in stand] == ["n06", "leaf1"]
    assert {one.reason for one in doubts} == {"the cpu of n05 is slow, too, which may be why"}
