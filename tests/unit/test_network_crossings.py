"""How often messages cross the network: sends that end when their receiver has answered, and handshakes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from acknowledged_sends import (
    LARGEST_EAGER_BYTES,
    SIZES,
    TIMES,
    acknowledged_sends,
    one_way_seconds,
)
from synthetic import size_grid, synthetic_dataset

from chiplog.dataset.series import Dataset
from chiplog.fitting.fit import fit
from chiplog.jobs.simulated_model import FittedParameters, parameters_to_simulate
from chiplog.models.piecewise import Piece
from chiplog.prediction.network_change import UNCHANGED, NetworkChange, parse_change
from chiplog.prediction.network_crossings import acknowledged_sizes, handshake_sizes
from chiplog.schedule.acknowledged import with_acknowledgements
from chiplog.schedule.arrays import ANY, Schedule
from chiplog.schedule.builder import ScheduleBuilder
from chiplog.simulation import LogGOPS, simulate

PARAMETERS = LogGOPS.from_ns(L=1000, o=100, g=0, G=0)
ROUNDS = 10


def sends_in_a_row(size: int = 1000, count: int = 2) -> Schedule:
    builder = ScheduleBuilder(2)
    sent = received = builder.calc([0, 1], duration_ns=[0, 0])
    for _ in range(count):
        sent = builder.send([0], to=[1], message_bytes=size, after=[sent[:1]])
        received = builder.receive([1], source=[0], message_bytes=size, after=[received[-1:]])
    return builder.build()


def exchanges(size: int, computing_ns: int = 0) -> Schedule:
    """Two ranks that swap a message each round, and go on when both are through."""
    builder, ranks = ScheduleBuilder(2), np.arange(2)
    before = builder.calc(ranks, duration_ns=[0, 0])
    for _ in range(ROUNDS):
        received = builder.receive(ranks, source=1 - ranks, message_bytes=size, after=[before])
        sent = builder.send(ranks, to=1 - ranks, message_bytes=size, after=[before])
        before = builder.calc(ranks, duration_ns=[computing_ns] * 2, after=[sent, received])
    return builder.build()


def fitted(dataset: Dataset) -> FittedParameters:
    return parameters_to_simulate(fit(dataset, ["loggps", "loggops"]), anyway=True)


def seconds(
    model: FittedParameters, schedule: Schedule, change: NetworkChange = UNCHANGED
) -> float:
    return model.times(schedule, change=change).in_the_middle().makespan_ps * 1e-12


def test_a_sender_goes_on_when_the_acknowledgement_is_there_and_the_receiver_when_it_is_sent() -> (
    None
):
    simulation = simulate(with_acknowledgements(sends_in_a_row(), {1000}), PARAMETERS)
    there_and_back = 2 * (1000 + 2 * 100)
    assert simulation.finish_ps.tolist() == [
        2 * there_and_back * 1000,
        (there_and_back + 1000 + 3 * 100) * 1000,
    ]


def test_only_the_sizes_that_are_named_are_acknowledged_and_operations_keep_their_places() -> None:
    schedule = sends_in_a_row()
    assert with_acknowledgements(schedule, {999}) is schedule
    assert with_acknowledgements(schedule, ()) is schedule
    longer = with_acknowledgements(schedule, {1000})
    assert np.array_equal(longer.operations[: schedule.operations.size], schedule.operations)
    assert longer.operations.size == schedule.operations.size + 4


def test_a_receive_of_any_source_leaves_the_schedule_as_it_is() -> None:
    schedule = sends_in_a_row()
    schedule.operations["peer"][schedule.operations["kind"] == 1] = ANY
    assert with_acknowledgements(schedule, {1000}) is schedule


@pytest.mark.parametrize("noise", [0.0, 0.03])
def test_trains_that_wait_for_each_message_show_which_sizes_are_acknowledged(noise: float) -> None:
    model = fitted(acknowledged_sends(noise))
    assert model.largest_eager_bytes == LARGEST_EAGER_BYTES
    assert acknowledged_sizes(model.fit, SIZES) == set(SIZES[5:])


def answered_by_a_library() -> FittedParameters:
    """As of MPICH over sockets from 129 to 1,024 B: what answers is not the receiver's program."""
    dataset = acknowledged_sends()
    series = [
        replace(each, seconds=np.full(each.seconds.shape, sent))
        if each.pattern == "late_receiver"
        and LARGEST_EAGER_BYTES < each.message_bytes <= 1024
        and (sent := one_way_seconds(each.message_bytes) + one_way_seconds(0)) < each.delay_seconds
        else each
        for each in dataset.series
    ]
    return fitted(replace(dataset, series=tuple(series)))


def test_acknowledged_sends_need_not_wait_for_a_late_receiver() -> None:
    model = answered_by_a_library()
    assert model.largest_eager_bytes is not None
    assert model.largest_eager_bytes > LARGEST_EAGER_BYTES
    assert acknowledged_sizes(model.fit, SIZES) == set(SIZES[5:])


def late_receives(sizes: list[int], late_ns: list[int]) -> Schedule:
    """Rank 0 sends one message after the other; rank 1 computes before each receive."""
    builder = ScheduleBuilder(2)
    sent, received = (builder.calc([rank], duration_ns=[0]) for rank in range(2))
    for size, duration_ns in zip(sizes, late_ns, strict=True):
        sent = builder.send([0], to=[1], message_bytes=size, after=[sent])
        computed = builder.calc([1], duration_ns=[duration_ns], after=[received])
        received = builder.receive([1], source=[0], message_bytes=size, after=[computed])
    return builder.build()


@pytest.mark.parametrize("seed", range(5))
def test_a_library_answers_though_the_receiver_is_late(seed: int) -> None:
    """A send takes there and back; a receive ends when both are there, the message and the receiver."""
    model, random = answered_by_a_library(), np.random.default_rng(seed)
    sizes = random.choice([64, 256, 512, 1024], 20).tolist()
    late_ns = random.integers(0, 600_000, 20).tolist()
    sent = received = 0.0
    for size, duration_ns in zip(sizes, late_ns, strict=True):
        there, back = one_way_seconds(size), one_way_seconds(0)
        taken = max(received + duration_ns * 1e-9, sent + there - TIMES["o_r"])
        received = taken + TIMES["o_r"]
        sent += there + back if size > LARGEST_EAGER_BYTES else TIMES["g"]
    simulation = model.times(late_receives(sizes, late_ns)).in_the_middle()
    assert simulation.finish_ps[0] * 1e-12 == pytest.approx(sent, rel=0.02)
    assert simulation.finish_ps[1] * 1e-12 == pytest.approx(received, rel=0.02)


@pytest.mark.parametrize(("size", "waits"), [(512, False), (16384, True)])
def test_only_a_send_beyond_the_eager_limit_waits_for_a_late_receiver(
    size: int, waits: bool
) -> None:
    late_s = 50e-3
    schedule = late_receives([size], [round(late_s * 1e9)])
    simulation = answered_by_a_library().times(schedule).in_the_middle()
    assert (simulation.finish_ps[0] * 1e-12 > late_s) == waits


def test_a_longer_latency_counts_twice_where_a_library_answers() -> None:
    model, schedule = answered_by_a_library(), exchanges(512)
    now = seconds(model, schedule)
    assert now == pytest.approx(ROUNDS * (one_way_seconds(512) + one_way_seconds(0)), rel=0.1)
    later = seconds(model, schedule, parse_change("L+1000us"))
    assert later - now == pytest.approx(ROUNDS * 2 * 1e-3, rel=0.01)
    answer = model.simulate(schedule, follow=True).simulation
    assert answer.critical_path is not None
    slopes = answer.critical_path.slopes(answer.schedule, model.in_the_middle(schedule))
    assert slopes is not None
    assert slopes.L == 2 * ROUNDS


def test_several_sends_at_once_are_answered_at_once() -> None:
    builder, count = ScheduleBuilder(2), 4
    begin = builder.calc([0, 1], duration_ns=[0, 0])
    for _ in range(count):
        builder.send([0], to=[1], message_bytes=512, after=[begin[:1]])
        builder.receive([1], source=[0], message_bytes=512, after=[begin[1:]])
    by_one = seconds(answered_by_a_library(), late_receives([512], [0]))
    together = seconds(answered_by_a_library(), builder.build())
    assert by_one < together < 1.5 * by_one


def test_sends_that_only_wait_for_a_late_receiver_are_not_acknowledged() -> None:
    theta = {"L": 5e-6, "o_s": 1e-6, "o_r": 1.2e-6, "g": 2e-6, "G": 0.5e-9, "S": 4096.0}
    sizes = (*size_grid(1 << 16, per_octave=1), 4097)
    pieces = [Piece(4096, theta), Piece(None, {**theta, "L": 9e-6, "g": 4e-6})]
    model = fitted(synthetic_dataset(pieces, sorted(sizes), samples=5, visits=1))
    assert model.largest_eager_bytes == 4096
    assert not acknowledged_sizes(model.fit, sizes)


@pytest.mark.parametrize("size", [256, 1024, 16384])
def test_an_exchange_takes_two_ways_and_twice_a_longer_latency(size: int) -> None:
    model, schedule = fitted(acknowledged_sends()), exchanges(size)
    now = seconds(model, schedule)
    assert now == pytest.approx(ROUNDS * (one_way_seconds(size) + one_way_seconds(0)), rel=0.1)
    later = seconds(model, schedule, parse_change("L+1000us"))
    assert later - now == pytest.approx(ROUNDS * 2 * 1e-3, rel=0.01)


def test_a_protocol_whose_sends_were_not_measured_is_like_the_one_below_it() -> None:
    dataset = acknowledged_sends()
    unknown = [
        series.message_bytes > 4096 and series.delay_seconds > 0.0 for series in dataset.series
    ]
    series = [each for each, left_out in zip(dataset.series, unknown, strict=True) if not left_out]
    fits = fit(replace(dataset, series=tuple(series)), ["loggps"], boundaries=[128, 4096])
    assert [segment.border for segment in fits[0].segments] == [None, "protocol", "protocol"]
    assert acknowledged_sizes(fits[0], SIZES) == set(SIZES[5:])


def test_small_messages_cross_the_network_once() -> None:
    model, schedule = fitted(acknowledged_sends()), exchanges(64)
    added = seconds(model, schedule, parse_change("L+1000us")) - seconds(model, schedule)
    assert added == pytest.approx(ROUNDS * 1e-3, rel=0.01)


def test_a_larger_eager_limit_takes_the_acknowledgement_away() -> None:
    model, schedule = fitted(acknowledged_sends()), exchanges(256)
    longer, eager = (parse_change(text) for text in ("L+1000us", "L+1000us,S=1KiB"))
    saved = seconds(model, schedule, longer) - seconds(model, schedule, eager)
    assert saved > 0.9 * ROUNDS * 1e-3


def test_the_critical_path_of_acknowledged_messages_adds_up_to_the_time() -> None:
    model = fitted(acknowledged_sends())
    answer = model.simulate(exchanges(1024, computing_ns=5000), follow=True)
    simulation = answer.simulation
    assert simulation.critical_path is not None
    shares = simulation.critical_path.shares(simulation.schedule, simulation.makespan_ps)
    assert sum(shares) == pytest.approx(1.0)
    assert answer.low_ps <= simulation.makespan_ps <= answer.high_ps


def test_a_slow_nic_keeps_no_sender_waiting() -> None:
    theta = {"L": 5e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": 0.5e-9}
    pieces = [Piece(1024, theta), Piece(None, {**theta, "g": 40e-6})]
    sizes = (*size_grid(1 << 16, per_octave=1), 1025)
    model = fitted(synthetic_dataset(pieces, sorted(sizes), samples=5, visits=1))
    assert not acknowledged_sizes(model.fit, sizes)


HANDSHAKE_L = 20e-6


def with_handshake(model: str) -> tuple[FittedParameters, Schedule]:
    """Messages above 4 KiB take two latencies and their overheads longer, as those that ask before they send."""
    theta = {"L": HANDSHAKE_L, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": 0.5e-9}
    asked = {**theta, "L": 3.0 * HANDSHAKE_L + 4e-6}
    sizes = (*size_grid(1 << 16, per_octave=1), 4097)
    dataset = synthetic_dataset(
        [Piece(4096, theta), Piece(None, asked)], sorted(sizes), samples=5, visits=1
    )
    return parameters_to_simulate(fit(dataset, [model]), anyway=True), sends_in_a_row(8192, 1)


@pytest.mark.parametrize("model", ["loggp", "loggops"])
def test_a_longer_latency_counts_three_times_for_messages_with_a_handshake(model: str) -> None:
    parameters, large = with_handshake(model)
    small = sends_in_a_row(512, 1)
    assert handshake_sizes(parameters.fit, [512, 4096, 4097, 8192, 65536], None) == {
        4097,
        8192,
        65536,
    }
    for schedule, crossings in ((small, 1), (large, 3)):
        now, later = (
            seconds(parameters, schedule, parse_change(f"L+{added}us")) for added in (0, 50)
        )
        assert later - now == pytest.approx(crossings * 50e-6, rel=1e-6)
        path = parameters.simulate(schedule, follow=True).simulation.critical_path
        assert path is not None
        slopes = path.slopes(schedule, parameters.in_the_middle(schedule))
        assert slopes is not None
        assert slopes.L == crossings


def test_a_step_that_is_shorter_than_a_message_is_no_handshake() -> None:
    theta = {"L": 20e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": 0.5e-9}
    sizes = (*size_grid(1 << 16, per_octave=1), 4097)
    pieces = [Piece(4096, theta), Piece(None, {**theta, "L": 35e-6})]
    dataset = synthetic_dataset(pieces, sorted(sizes), samples=5, visits=1)
    fits = fit(dataset, ["loggp"])
    assert not handshake_sizes(fits[0], sizes, None)
