"""One figure for each pair of nodes, from the raw samples of a run file."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from chiplog.dataset.lines import Where, parse_record
from chiplog.dataset.records import record_series
from chiplog.dataset.series import Dataset
from chiplog.errors import CorruptFile, UsageError
from chiplog.machine_survey.nodes import node_names, refuse_ambiguous
from chiplog.machine_survey.pair_values import pair_values

HEADER = {"ranks": 4, "hosts": ["n1", "n2", "n3", "n4"]}


def record(number: int, direction: str, purpose: str, message_bytes: int) -> dict[str, Any]:
    pairs = [(0, 3, [9000, 2000, 4000, 3000]), (1, 2, [9000, 8000, 6000, 7000])]
    series = {
        "pattern": "all_pairs",
        "operation": "send",
        "posting": "normal",
        "direction": direction,
        "message_bytes": message_bytes,
        "train": 1,
        "delay_ns": 0,
        "batch": 2,
        "warmup": 1,
        "messages": 20,
        "bytes": 20,
        "round": number,
        "at_once": 0,
        "by_pair": [
            {"client": client, "server": server, "samples_ns": samples}
            for client, server, samples in pairs
        ],
        "samples_ns": [9000, 8000, 6000, 7000],
    }
    return {"id": number, "elapsed_ns": 1, "tag": {"purpose": purpose}, "series": [series]}


def dataset(*records: dict[str, Any]) -> Dataset:
    where = Where("run.jsonl", 2)
    series = []
    for one in records:
        parsed = parse_record(json.dumps(one, separators=(",", ":")).encode(), where)
        assert isinstance(parsed, dict)
        series += record_series(parsed, where)
    return Dataset(HEADER, tuple(series), True, "run.jsonl")


def test_a_series_of_all_pairs_keeps_the_samples_of_each_pair() -> None:
    (series,) = dataset(record(2, "round-trip", "latency", 1)).series
    assert (series.round, series.at_once) == (2, False)
    first, second = series.by_pair
    assert (second.client, second.server) == (1, 2)
    assert first.seconds.tolist() == pytest.approx([1e-6, 2e-6, 1.5e-6])
    assert first.warmup_seconds.tolist() == pytest.approx([4.5e-6])


def test_latency_is_half_the_minimum_and_bandwidth_follows_from_the_median() -> None:
    run = dataset(record(0, "round-trip", "latency", 1), record(1, "one-way", "bandwidth", 1000))
    latency, bandwidth = pair_values(run, "latency"), pair_values(run, "bandwidth")
    assert latency.nodes == ("n1", "n2", "n3", "n4")
    assert latency.clients.tolist() == [0, 1]
    assert latency.servers.tolist() == [3, 2]
    assert latency.values.tolist() == pytest.approx([0.5e-6, 1.5e-6])
    assert bandwidth.values.tolist() == pytest.approx([1000 / 1.5e-6, 1000 / 3.5e-6])
    assert bandwidth.rounds.tolist() == [1, 1]


def test_records_of_another_purpose_are_apart() -> None:
    run = dataset(record(0, "round-trip", "alone", 1))
    assert pair_values(run, "latency").values.size == 0
    assert pair_values(run, "latency", "alone").values.size == 2


def test_a_pair_without_a_sample_has_no_value() -> None:
    failed = record(0, "round-trip", "latency", 1)
    failed["series"][0]["by_pair"][0]["samples_ns"] = [1000]
    assert np.isnan(pair_values(dataset(failed), "latency").values).tolist() == [True, False]


def test_long_lists_become_arrays_and_are_read_as_short_ones_are() -> None:
    where = Where("run.jsonl", 2)
    long = record(0, "one-way", "bandwidth", 1000)
    for pair in long["series"][0]["by_pair"]:
        pair["samples_ns"] = list(range(4000, 4100))
    text = json.dumps(long, separators=(",", ":")).encode()
    arrays = parse_record(text, where)
    assert isinstance(arrays, dict)
    assert isinstance(arrays["series"][0]["by_pair"][1]["samples_ns"], np.ndarray)
    (first,), (second,) = record_series(arrays, where), record_series(json.loads(text), where)
    for one, other in zip(first.by_pair, second.by_pair, strict=True):
        assert (one.client, one.server) == (other.client, other.server)
        assert one.seconds.tolist() == other.seconds.tolist()
        assert one.warmup_seconds.tolist() == other.warmup_seconds.tolist() == [4000 / 2e9]


def test_pairs_in_picoseconds_are_read_too() -> None:
    fine = record(0, "round-trip", "latency", 1)
    fine["series"][0]["by_pair"][1] = {"client": 1, "server": 2, "samples_ps": [9, 7000, 8000]}
    assert pair_values(dataset(fine), "latency").values.tolist() == pytest.approx([0.5e-6, 1.75e-9])


@pytest.mark.parametrize(
    ("member", "value", "field"),
    [
        ("client", -1, r"series\[0\].by_pair\[1\].client"),
        ("server", "2", r"series\[0\].by_pair\[1\].server"),
        ("samples_ns", [9000, -2], r"series\[0\].by_pair\[1\].samples_ns"),
        ("samples_ns", [9000, 2.5], r"series\[0\].by_pair\[1\].samples_ns"),
        ("samples_ns", [9000, 2**63], r"series\[0\].by_pair\[1\].samples_ns"),
        ("samples_ns", None, r"series\[0\].by_pair\[1\].samples_ns"),
    ],
)
def test_a_broken_pair_among_many_is_named(member: str, value: object, field: str) -> None:
    broken = record(0, "round-trip", "latency", 1)
    broken["series"][0]["by_pair"][1][member] = value
    with pytest.raises(CorruptFile, match=f"line 2, field {field}"):
        dataset(broken)


def test_ranks_that_share_a_host_have_names_of_their_own() -> None:
    assert node_names({"ranks": 3, "hosts": ["a", "b", "a"]}) == ("a#0", "b", "a#2")


def test_hosts_that_differ_only_in_case_are_refused() -> None:
    refuse_ambiguous({"hosts": ["n1", "n1", "n2"]})
    with pytest.raises(UsageError, match="n1 and N1 differ only in upper and lower case"):
        refuse_ambiguous({"hosts": ["n1", "n2", "N1"]})
