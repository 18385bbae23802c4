"""What is a protocol change, what is none, and what is said about it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from changes_machine import MICRO, ONE_PROTOCOL, THREE_PROTOCOLS, theta
from synthetic import SyntheticDisturbance, size_grid, synthetic_dataset

from chiplog.dataset.series import Dataset, Series
from chiplog.models.piecewise import Piece
from chiplog.protocol_changes.change import Change
from chiplog.protocol_changes.find import find_changes
from chiplog.protocol_changes.result import changes_to_json

SIZES = size_grid(per_octave=4)


def calls(
    seconds: Callable[[float], float], *, noise: float = 0.0, seed: int = 0, launches: int = 1
) -> Dataset:
    """One series of bare durations of a call, 50 samples a size."""
    random = np.random.default_rng(seed)
    series = [
        Series(
            pattern="send_overhead",
            operation="MPI_Isend",
            posting="normal",
            direction="call",
            message_bytes=size,
            train=1,
            delay_seconds=0.0,
            batch=1,
            launch=launch,
            visit=0,
            record_id=record,
            placement_seconds=None,
            messages=50,
            bytes_sent=50 * size,
            elapsed_seconds=0.0,
            warmup_seconds=np.empty(0),
            seconds=seconds(size) * np.exp(noise * random.standard_normal(50)),
        )
        for launch in range(launches)
        for record, size in enumerate(SIZES)
    ]
    return Dataset({"transport": "test"}, tuple(series), True, "calls")


def intervals(changes: tuple[Change, ...]) -> list[tuple[int, int]]:
    return [(change.last_before_bytes, change.first_after_bytes) for change in changes]


def rounded(dataset: Dataset) -> Dataset:
    """As a clock of 1 ns gives it."""
    series = tuple(replace(s, seconds=np.round(s.seconds * 1e9) * 1e-9) for s in dataset.series)
    return replace(dataset, series=series)


def test_without_noise_both_changes_are_where_they_are() -> None:
    dataset = synthetic_dataset(THREE_PROTOCOLS, SIZES)
    assert intervals(find_changes(dataset).consensus) == [(8192, 9742), (65536, 77936)]


def test_placements_and_groups_of_ranks_are_looked_at_apart() -> None:
    calls_of = calls(lambda size: 1e-6).series
    other = [replace(one, placement="round-robin") for one in calls_of]
    pairs = [
        replace(one, pattern="pairs", direction="round-trip", between=between)
        for one in calls_of
        for between in (("a", "b"), ("a", "c"))
    ]
    dataset = Dataset({"transport": "test"}, (*calls_of, *other, *pairs), True, "several")
    assert len(find_changes(dataset).series) == 4


@pytest.mark.parametrize("slow", [1.0, 0.02])
def test_rounding_to_nanoseconds_is_no_protocol_change(slow: float) -> None:
    pieces = (Piece(None, {name: slow * value for name, value in theta().items()}),)
    result = find_changes(rounded(synthetic_dataset(pieces, SIZES)))
    assert [one.quantity for one in result.series if one.changes] == []
    assert result.consensus == ()


def test_a_gap_that_begins_to_exceed_the_overhead_is_a_bend_and_not_a_change() -> None:
    tcp = (Piece(None, theta(45.7, 3.46, 0.915, 8.49e-3)),)
    noise = SyntheticDisturbance(noise=0.03, outliers=0.01)
    result = find_changes(synthetic_dataset(tcp, SIZES, disturbance=noise))
    kinds = {change.kind for one in result.series for change in one.changes}
    assert kinds <= {"slope"}
    assert result.consensus == ()


def test_a_smooth_bend_is_at_most_a_slope() -> None:
    def cached(size: float) -> float:
        return (1.0 + 1e-4 * size + 4e-4 * size * size / (size + 65536.0)) * MICRO

    result = find_changes(calls(cached, noise=0.02))
    assert {change.kind for change in result.series[0].changes} <= {"slope"}
    assert result.consensus == ()


def test_a_kink_is_a_slope_of_its_series_and_no_protocol_change() -> None:
    def kinked(size: float) -> float:
        return (2.0 + 1e-3 * min(size, 4096) + 0.1e-3 * max(size - 4096, 0)) * MICRO

    result = find_changes(calls(kinked, noise=0.02))
    assert result.consensus == ()
    (change,) = result.series[0].changes
    assert change.kind == "slope"
    assert change.last_before_bytes <= 4096 <= change.first_after_bytes


KINKED = (
    Piece(4096, {"L": 5e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": 1e-9}),
    Piece(None, {"L": 8.6855e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 5.6855e-6, "G": 1e-10}),
)
"""Two protocols that are changed just where their lines cross."""


def test_a_cost_of_a_byte_that_changes_is_no_protocol_change_however_many_series_show_it() -> None:
    noise = SyntheticDisturbance(noise=0.02)
    result = find_changes(synthetic_dataset(KINKED, SIZES, disturbance=noise))
    assert result.consensus == ()
    (change,) = next(one for one in result.series if one.quantity == "half_round_trip").changes
    assert change.kind == "slope"
    assert change.last_before_bytes <= 4096 <= change.first_after_bytes


@pytest.mark.parametrize("seed", range(6))
def test_a_rounded_corner_that_round_trips_and_trains_follow_is_no_change(seed: int) -> None:
    noise = SyntheticDisturbance(noise=0.02)
    dataset = synthetic_dataset(KINKED[:1], SIZES, disturbance=noise, seed=seed)

    def rounded_off(one: Series) -> Series:
        saved = 0.9e-9 * (np.hypot(one.message_bytes, 4096) - 4096)
        messages = 2 if one.train == 1 else one.train
        return replace(one, seconds=one.seconds - messages * saved)

    bare = [one for one in dataset.series if one.pattern == "prtt" and one.delay_seconds == 0]
    bent = replace(dataset, series=tuple(map(rounded_off, bare)))
    assert find_changes(bent).consensus == ()


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [((2.0, 1e-3), (5.0, 1e-3), "jump"), ((2.0, 1e-3), (9.0, 0.1e-3), "both")],
)
def test_the_kind_says_whether_the_cost_of_a_byte_changes_too(
    before: tuple[float, float], after: tuple[float, float], kind: str
) -> None:
    def switched(size: float) -> float:
        intercept, slope = before if size <= 2048 else after
        return (intercept + slope * size) * MICRO

    (change,) = find_changes(calls(switched, noise=0.02)).consensus
    assert intervals((change,)) == [(2048, 2435)]
    assert change.kind == kind


def test_the_jump_is_relative_to_the_time_before() -> None:
    dataset = calls(lambda size: (2.0 if size <= 2048 else 3.0) * MICRO, noise=0.02)
    (change,) = find_changes(dataset).consensus
    assert change.relative_jump == pytest.approx(0.5, abs=0.03)
    assert change.seen_in == ("send_overhead",)


def test_a_break_that_only_one_launch_of_three_shows_is_none() -> None:
    flat = calls(lambda size: 2.0 * MICRO, noise=0.02, launches=3)

    def only_first(one: Series) -> Series:
        slow = one.launch == 0 and one.message_bytes > 2048
        return replace(one, seconds=one.seconds * 3.0) if slow else one

    dataset = replace(flat, series=tuple(map(only_first, flat.series)))
    assert find_changes(dataset).consensus == ()


def test_medians_that_are_not_positive_are_left_out() -> None:
    dataset = calls(lambda size: (2.0 if size <= 2048 else 3.0) * MICRO, noise=0.02)
    spoilt = tuple(
        replace(one, seconds=one.seconds - 1.0) if one.message_bytes < 8 else one
        for one in dataset.series
    )
    assert intervals(find_changes(replace(dataset, series=spoilt)).consensus) == [(2048, 2435)]


def test_too_few_sizes_show_nothing_and_an_empty_dataset_neither() -> None:
    dataset = calls(lambda size: size * MICRO)
    few = replace(dataset, series=dataset.series[:5])
    assert find_changes(few).consensus == ()
    assert find_changes(replace(dataset, series=())).series == ()


def test_the_cold_first_record_does_not_count() -> None:
    dataset = calls(lambda size: (2.0 if size <= 2048 else 3.0) * MICRO, noise=0.02)
    cold = tuple(
        replace(one, seconds=one.seconds * 50.0, tag={"purpose": "warm-up"})
        for one in dataset.series[:20]
    )
    with_cold = replace(dataset, series=(*cold, *dataset.series))
    assert find_changes(with_cold) == find_changes(dataset)


def test_the_same_data_give_the_same_changes() -> None:
    noise = SyntheticDisturbance(noise=0.05, outliers=0.01)
    dataset = synthetic_dataset(THREE_PROTOCOLS, size_grid(), disturbance=noise)
    assert find_changes(dataset) == find_changes(dataset)


def test_json_has_every_series_even_those_without_changes() -> None:
    parts = synthetic_dataset(ONE_PROTOCOL, size_grid()).by_way()
    document = changes_to_json({way: find_changes(part) for way, part in parts.items()})
    assert json.loads(json.dumps(document)) == document
    assert document["schema"] == "chiplog.changes/1"
    assert document["consensus"] == []
    names = {one["quantity"] for one in document["series"]}
    assert {"half_round_trip", "gap", "o_s", "o_r", "late_receiver"} <= names
    assert all(one["changes"] == [] for one in document["series"])


def test_the_switch_should_be_where_the_lines_cross() -> None:
    def switched(size: float) -> float:
        return (5.0 + 9.2e-3 * size if size <= 32768 else 47.0 + 4.2e-3 * size) * MICRO

    (change,) = find_changes(calls(switched)).consensus
    assert change.crossing_bytes == pytest.approx(8400.0, rel=1e-3)


def test_changes_of_different_operations_are_told_apart() -> None:
    sends = synthetic_dataset(ONE_PROTOCOL, size_grid())
    writes = tuple(
        replace(one, operation="rdma-write", record_id=one.record_id + 10_000)
        for one in synthetic_dataset(THREE_PROTOCOLS, size_grid()).series
    )
    both = replace(sends, series=(*sends.series, *writes))
    found = {way: find_changes(part) for way, part in both.by_way().items()}
    assert list(found) == [("send", "normal"), ("rdma-write", "normal")]
    assert found["send", "normal"].consensus == ()
    consensus = changes_to_json(found)["consensus"]
    assert len(consensus) == 2
    assert {one["operation"] for one in consensus} == {"rdma-write"}
