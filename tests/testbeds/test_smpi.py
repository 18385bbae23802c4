"""The probe itself on a simulated cluster whose parameters are known: SimGrid's SMPI.

With the neutral options that chiplog passes, a message of n bytes arrives os + L + (n + 16)/B after its send began and
the receive call takes another or: L is twice the link's latency, B its bandwidth and 16 B the envelope. Messages
travel eagerly up to 65535 B.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from requests_by_hand import request

from chiplog.dataset.series import Dataset
from chiplog.plan.request import SeriesRequest

Simulate = Callable[..., Dataset]

L = 3e-6
BYTES_PER_SECOND = 100e6
ENVELOPE_BYTES = 16
O_S = 0.1e-6
O_R = 0.02e-6
OVERHEADS = (f"smpi/os:0:{O_S}:0", f"smpi/ois:0:{O_S}:0", f"smpi/or:0:{O_R}:0")
SIZES = (1, 100, 1024, 8192, 60_000)
NANOSECOND = 1e-9  # samples are stored as whole nanoseconds


def wire_seconds(message_bytes: int) -> float:
    return (message_bytes + ENVELOPE_BYTES) / BYTES_PER_SECOND


def one_way_seconds(message_bytes: int) -> float:
    return O_S + L + wire_seconds(message_bytes) + O_R


def median(run: Dataset, pattern: str, message_bytes: int, train: int = 1, **which: bool) -> float:
    (series,) = run.select(
        pattern=pattern, message_bytes=message_bytes, train=train, **which
    ).series
    return series.median


def test_a_round_trip_is_twice_the_formula_at_every_size(simulate: Simulate) -> None:
    run = simulate([request(s, SeriesRequest("ping_pong", s)) for s in SIZES], *OVERHEADS)
    measured = [median(run, "ping_pong", s) for s in SIZES]
    assert measured == pytest.approx([2 * one_way_seconds(s) for s in SIZES], abs=NANOSECOND)


def test_all_samples_of_a_series_are_the_same_to_the_nanosecond(simulate: Simulate) -> None:
    run = simulate([request(1, SeriesRequest("prtt", 1024, train=10))], *OVERHEADS)
    (series,) = run.series
    assert len(series.seconds) == 5
    assert np.ptp(series.seconds) == 0


def test_a_delayed_train_gives_the_send_overhead(simulate: Simulate) -> None:
    asked = [
        request(
            s,
            SeriesRequest("prtt", s),
            SeriesRequest("prtt", s, train=10, delay_ns="rtt"),
        )
        for s in SIZES
    ]
    run = simulate(asked, *OVERHEADS)
    for s in SIZES:
        (train,) = run.select(pattern="prtt", message_bytes=s, train=10).series
        overhead = (train.median - median(run, "prtt", s)) / 9 - train.delay_seconds
        assert overhead == pytest.approx(O_S, rel=0.01)


def test_a_train_without_delay_gives_the_larger_of_overhead_and_wire_time(
    simulate: Simulate,
) -> None:
    sizes = (100, 8192, 60_000)
    asked = [
        request(s, SeriesRequest("prtt", s), SeriesRequest("prtt", s, train=10)) for s in sizes
    ]
    run = simulate(asked, f"smpi/os:0:{O_S}:0")
    for s in sizes:
        gap = (median(run, "prtt", s, 10) - median(run, "prtt", s)) / 9
        assert gap == pytest.approx(max(O_S, wire_seconds(s)), rel=0.01)


def test_the_bare_calls_take_their_overheads(simulate: Simulate) -> None:
    calls = (
        SeriesRequest("send_overhead", 1024),
        SeriesRequest("receive_overhead", 1024, train=5, delay_ns=60_000),
    )
    run = simulate([request(1, *calls)], *OVERHEADS)
    (receive,) = run.select(pattern="receive_overhead").series
    assert median(run, "send_overhead", 1024) == pytest.approx(O_S, abs=NANOSECOND)
    assert (receive.median - 4 * receive.delay_seconds) / 5 == pytest.approx(O_R, abs=NANOSECOND)


def test_a_late_receiver_shows_the_eager_limit_to_the_byte(simulate: Simulate) -> None:
    sizes = (65_535, 65_536)
    delay_ns = 2_000_000
    asked = [request(s, SeriesRequest("late_receiver", s, delay_ns=delay_ns)) for s in sizes]
    eager, synchronised = (median(simulate(asked, *OVERHEADS), "late_receiver", s) for s in sizes)
    assert eager == pytest.approx(O_S, abs=NANOSECOND)
    assert synchronised > delay_ns * 1e-9


def test_a_latency_step_stands_where_the_message_and_its_envelope_pass_the_boundary(
    simulate: Simulate,
) -> None:
    sizes = (4096 - ENVELOPE_BYTES, 4097 - ENVELOPE_BYTES)
    asked = [request(s, SeriesRequest("ping_pong", s)) for s in sizes]
    run = simulate(asked, *OVERHEADS, "smpi/lat-factor:0:1;4096:2")
    before, after = (median(run, "ping_pong", s) / 2 for s in sizes)
    assert before == pytest.approx(one_way_seconds(sizes[0]), abs=NANOSECOND)
    assert after == pytest.approx(one_way_seconds(sizes[1]) + L, abs=NANOSECOND)


def test_an_overhead_step_stands_where_the_message_alone_passes_the_boundary(
    simulate: Simulate,
) -> None:
    sizes = (4096, 4097)
    asked = [request(s, SeriesRequest("send_overhead", s)) for s in sizes]
    run = simulate(asked, "smpi/ois:0:1e-6:0;4096:2e-6:0")
    assert [median(run, "send_overhead", s) for s in sizes] == pytest.approx([1e-6, 2e-6])
