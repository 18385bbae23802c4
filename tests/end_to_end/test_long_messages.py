"""Records whose time is over with the first message of every pair: it is their sample."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from chiplog.measurement.probes import base_probe
from chiplog.plan.request import ONE_WAY, Request, SeriesRequest, StopRule

SHORTEST = StopRule(relative_half_width=0.0, min_samples=1, max_samples=5, budget_ns=1)
LONG_ENOUGH = StopRule(relative_half_width=0.0, min_samples=1, max_samples=5, budget_ns=10**9)


def record(message_bytes: int, stop: StopRule) -> dict[str, Any]:
    pairs = SeriesRequest(
        "all_pairs", message_bytes, direction=ONE_WAY, ranks=4, round=0, at_once=1
    )
    line = Request(0, 0, (pairs,), stop, check_payload=False).line()
    done = subprocess.run(
        [str(base_probe()), "--target", "tcp", "--ranks", "4"],
        input=line,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(one) for one in done.stdout.splitlines()]
    (series,) = next(one for one in found if one["type"] == "record")["series"]
    assert {len(one["samples_ns"]) for one in series["by_pair"]} == {len(series["samples_ns"])}
    return dict(series)


def test_a_long_message_of_every_pair_is_the_sample_of_its_record() -> None:
    one = record(2**20, SHORTEST)
    assert (one["warmup"], len(one["samples_ns"])) == (0, 1)
    assert one["bytes"] < 3 * 2**20, "one message of each of the two pairs, and the witnesses"


@pytest.mark.parametrize(("message_bytes", "stop"), [(1024, SHORTEST), (2**20, LONG_ENOUGH)])
def test_short_messages_and_short_times_have_a_warm_up(message_bytes: int, stop: StopRule) -> None:
    one = record(message_bytes, stop)
    assert one["warmup"] >= 1
    assert len(one["samples_ns"]) > one["warmup"]
