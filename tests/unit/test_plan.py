from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from chiplog.errors import CorruptFile, UsageError
from chiplog.plan import (
    GRID,
    PATTERNS,
    WARM_UP,
    Plan,
    PlanOptions,
    make_plan,
    parse_patterns,
    parse_sizes,
)
from chiplog.plan.assessment import records_of, within_inline_limit, without_late_receiver
from chiplog.plan.bell import ladder, ladder_sizes
from chiplog.plan.patterns import all_patterns, find_pattern, wire_of
from chiplog.plan.patterns.pattern import train_length
from chiplog.plan.plan import visits_of
from chiplog.plan.request import SeriesRequest, StopRule

OPTIONS = PlanOptions("tcp", ("prtt",), parse_sizes("1:1MiB"), seed=7)


def order(plan: Plan) -> list[int]:
    return [request.series[0].message_bytes for request in plan.requests]


def test_the_same_seed_gives_the_same_order_and_another_seed_another() -> None:
    assert order(make_plan(OPTIONS)) == order(make_plan(OPTIONS))
    assert order(make_plan(OPTIONS)) != order(make_plan(replace(OPTIONS, seed=8)))


def test_one_way_pairs_send_windows_of_one_length_at_all_sizes() -> None:
    plan = make_plan(
        PlanOptions("tcp", ("pairs",), (8, 1 << 20), visits=1, ranks=4, direction="one-way")
    )
    windows = {(one.message_bytes, one.window) for r in plan.requests for one in r.series}
    assert windows == {(8, 16), (1 << 20, 16)}
    small = next(one for r in plan.requests for one in r.series if one.message_bytes == 8)
    assert wire_of(small) == (16 + 1 + 1, 16 * 8)


def test_each_exchange_follows_a_message_alone_in_its_record() -> None:
    plan = make_plan(PlanOptions("shm", ("exchange",), (8,), visits=1))
    assert {tuple(series.pattern for series in r.series) for r in plan.requests} == {
        ("prtt", "exchange")
    }
    # Of three ranks the pair need not be ranks 0 and 1, between which round trips are.
    plan = make_plan(PlanOptions("shm", ("exchange",), (8,), visits=1, ranks=3))
    assert {tuple(series.pattern for series in r.series) for r in plan.requests} == {
        ("pairs", "exchange")
    }
    plan = make_plan(PlanOptions("shm", ("exchange",), (8,), visits=1, ranks=5))
    series = plan.requests[0].series
    assert [(asked.pattern, asked.pairs) for asked in series] == [
        (pattern, k) for k in (1, 2) for pattern in ("pairs", "exchange")
    ]
    # Two exchanges of two pairs, and what brings them together.
    assert wire_of(series[3]) == (2 * 2 * 2 + 4, 2 * 2 * 2 * 8)


def test_all_ways_of_posting_are_taken_in_turn_within_one_record() -> None:
    postings = ("normal", "inline", "list")
    plan = make_plan(
        PlanOptions("mpi", ("one_to_many",), (8,), visits=1, ranks=3, postings=postings)
    )
    series = plan.requests[0].series
    assert [(one.pattern, one.peers, one.posting) for one in series[:6]] == [
        (pattern, 1, posting)
        for pattern in ("one_to_many", "send_overhead")
        for posting in postings
    ]


def test_barriers_are_taken_with_every_number_of_peers() -> None:
    plan = make_plan(PlanOptions("sim", ("barrier",), (1,), visits=1, ranks=5))
    request = plan.requests[0]
    assert [(one.pattern, one.peers) for one in request.series] == [
        ("barrier", n) for n in range(1, 5)
    ]
    assert [wire_of(series).messages for series in request.series] == [
        2 * 5 * sends for sends in (3, 3, 4, 4)
    ]
    assert '"ranks"' not in request.line()
    operations = ("send", "rdma-write", "rdma-read", "atomic")
    ways = kinds(PlanOptions("sim", ("barrier",), (8,), ranks=3, operations=operations))
    assert {operation for _, _, operation in ways} == {"send", "rdma-write"}
    ways = kinds(PlanOptions("sim", ("exchange",), (8,), operations=operations))
    assert {operation for name, _, operation in ways if name == "exchange"} == {
        "send",
        "rdma-write",
    }


def kinds(options: PlanOptions) -> set[tuple[str, int, str]]:
    """Pattern, size and operation of all series of a plan."""
    requests = make_plan(options).requests
    return {(one.pattern, one.message_bytes, one.operation) for r in requests for one in r.series}


def test_nobody_receives_or_waits_for_what_is_one_sided() -> None:
    operations = ("send", "rdma-write", "rdma-write-immediate", "rdma-read")
    found = kinds(PlanOptions("shm", ("prtt",), (64,), operations=operations))
    assert {operation for pattern, _, operation in found if pattern == "prtt"} == set(operations)
    received = {operation for pattern, _, operation in found if pattern == "receive_overhead"}
    assert received == {"send", "rdma-write-immediate"}
    assert {operation for pattern, _, operation in found if pattern == "late_receiver"} == {"send"}


def test_atomics_have_eight_bytes_only() -> None:
    options = PlanOptions("shm", ("prtt",), (1, 8, 64), operations=("rdma-write", "atomic"))
    assert {size for _, size, operation in kinds(options) if operation == "atomic"} == {8}
    alone = replace(options, operations=("atomic",))
    assert {size for _, size, _ in kinds(alone)} == {8}
    with pytest.raises(UsageError, match="--sizes: atomics have 8 bytes"):
        replace(alone, sizes=(1, 64))


def test_what_no_network_has_is_asked_for_only_where_it_is_all_that_was_asked_for() -> None:
    options = PlanOptions(
        "shm", ("flood",), (8,), operations=("send", "rdma-read"), postings=("normal", "inline")
    )
    assert ("rdma-read", "inline") not in options.ways
    assert len(options.ways) == 3
    alone = replace(options, operations=("rdma-read",), postings=("inline",))
    assert list(alone.ways) == [("rdma-read", "inline")]


def test_a_list_has_a_message_for_each_peer() -> None:
    both = PlanOptions("shm", ("prtt", "send_overhead"), (8,), postings=("normal", "list"))
    listed = [one for r in make_plan(both).requests for one in r.series if one.posting == "list"]
    assert {(one.pattern, one.train) for one in listed} == {("send_overhead", 1)}
    with pytest.raises(UsageError, match="--pattern: prtt can't be measured of send posted list"):
        make_plan(PlanOptions("shm", ("prtt",), (8,), postings=("list",)))


def test_operations_and_postings_are_known_words() -> None:
    with pytest.raises(UsageError, match="--operation: 'put' is unknown; it accepts send or rdma"):
        PlanOptions("shm", ("prtt",), (8,), operations=("put",))
    with pytest.raises(UsageError, match="--posting: 'fast' is unknown; it accepts normal or inl"):
        PlanOptions("shm", ("prtt",), (8,), postings=("fast",))


def test_inline_series_above_the_transports_limit_are_left_out_beside_others() -> None:
    options = PlanOptions("ofi", ("flood",), (64, 256), visits=1, postings=("normal", "inline"))
    for request in make_plan(options).requests:
        kept = within_inline_limit(request, 64).series
        small = request.series[0].message_bytes == 64
        assert {one.posting for one in kept} == ({"normal", "inline"} if small else {"normal"})
    alone = make_plan(replace(options, postings=("inline",))).requests[0]
    assert within_inline_limit(alone, 8) == alone


def test_placements_are_known_words() -> None:
    with pytest.raises(UsageError, match="--placement: 'packed' is unknown; it accepts filled or"):
        PlanOptions("tcp", ("pairs",), (8,), placements=("packed",))


def test_a_plan_of_an_older_release_has_the_default_placement() -> None:
    stored = OPTIONS.to_json()
    for name in ("placements", "operations", "postings", "direction", "every_two_nodes"):
        del stored[name]
    assert PlanOptions.from_json(stored, "old.jsonl") == OPTIONS


def test_every_size_is_visited_once_before_any_is_visited_again() -> None:
    plan = make_plan(OPTIONS)
    for visit in range(OPTIONS.visits):
        sizes = [
            r.series[0].message_bytes
            for r in plan.requests
            if r.visit == visit and r.tag["purpose"] == GRID
        ]
        assert sorted(sizes) == [size for size in OPTIONS.sizes if visit < visits_of(OPTIONS, size)]
        assert sizes != sorted(sizes)


def test_each_launch_begins_with_one_cold_record() -> None:
    plan = make_plan(replace(OPTIONS, launches=2))
    for launch in plan.launches:
        purposes = Counter(request.tag["purpose"] for request in launch)
        assert purposes == {
            WARM_UP: 1,
            GRID: sum(visits_of(OPTIONS, size) for size in OPTIONS.sizes),
        }
        assert launch[0].tag["purpose"] == WARM_UP


def test_sizes_that_cost_many_bytes_are_visited_twice_with_more_samples_each() -> None:
    assert visits_of(OPTIONS, 32 * 1024) == 4
    assert visits_of(OPTIONS, 32 * 1024 + 1) == 2
    stops = {r.series[0].message_bytes: r.stop for r in make_plan(OPTIONS).requests[1:]}
    assert 2 * stops[2**20].min_samples >= 8


def test_ids_are_unique_over_all_launches() -> None:
    ids = [request.id for request in make_plan(replace(OPTIONS, launches=3)).requests]
    assert ids == list(range(len(ids)))


def test_the_stopping_rules_keep_a_default_run_below_five_seconds_and_a_gigabyte() -> None:
    plan = make_plan(OPTIONS)
    assert sum(request.stop.budget_ns for request in plan.requests) < 4e9
    assert plan.predicted.bytes < 0.9e9


def test_a_budget_bounds_the_time_of_all_records_of_all_launches() -> None:
    plan = make_plan(replace(OPTIONS, budget_seconds=2.0, launches=2))
    assert sum(request.stop.budget_ns for request in plan.requests) == pytest.approx(2e9, rel=1e-6)


def test_a_plan_made_from_its_stored_options_is_the_same_plan() -> None:
    plan = make_plan(replace(OPTIONS, patterns=PATTERNS, launches=2, budget_seconds=3.0))
    stored = json.loads(json.dumps(plan.options.to_json()))
    assert make_plan(PlanOptions.from_json(stored, "run.jsonl")) == plan


def test_stored_options_with_a_missing_one_name_file_and_field() -> None:
    stored = OPTIONS.to_json()
    del stored["seed"]
    with pytest.raises(CorruptFile, match=r"run\.jsonl.*plan\.seed"):
        PlanOptions.from_json(stored, "run.jsonl")


@pytest.mark.parametrize(
    ("change", "option"),
    [
        ({"visits": 0}, "--visits"),
        ({"launches": 0}, "--launches"),
        ({"relative_half_width": 0.0}, "--precision"),
        ({"relative_half_width": 1.0}, "--precision"),
        ({"budget_seconds": 0.0}, "--budget"),
        ({"budget_seconds": float("nan")}, "--budget"),
    ],
)
def test_an_option_out_of_range_is_named(change: dict[str, float], option: str) -> None:
    with pytest.raises(UsageError, match=option):
        replace(OPTIONS, **change)  # type: ignore[arg-type]


def test_an_unknown_pattern_names_what_is_accepted() -> None:
    with pytest.raises(
        UsageError, match="--pattern: 'pingpong' is unknown; it accepts a list of prtt, ping_pong"
    ):
        parse_patterns("prtt,pingpong")


def test_all_names_what_the_four_methods_need() -> None:
    assert parse_patterns("all") == ("prtt", "ping_pong", "send_overhead", "flood")


def test_the_loggp_assessment_takes_its_series_in_turn() -> None:
    assert records_of("prtt", 8, 2)[0] == (
        SeriesRequest("prtt", 8, 1, 0),
        SeriesRequest("prtt", 8, 10, 0),
        SeriesRequest("prtt", 8, 10, "rtt"),
        SeriesRequest("prtt", 8, 3, "rtt"),
        SeriesRequest("receive_overhead", 8, 4, "rtt"),
        SeriesRequest("send_overhead", 8, 1, 0),
        SeriesRequest("late_receiver", 8, 1, "rtt"),
    )


def test_a_transport_whose_sends_never_wait_is_not_asked_for_a_late_receiver() -> None:
    request = make_plan(OPTIONS).requests[1]
    assert [one.pattern for one in without_late_receiver(request).series] == [
        "prtt",
        "prtt",
        "prtt",
        "prtt",
        "receive_overhead",
        "send_overhead",
    ]
    alone = replace(request, series=records_of("late_receiver", 8, 2)[0])
    assert without_late_receiver(alone) == alone


@pytest.mark.parametrize("message_bytes", [0, 1, 4096, 2**20, 2**30])
def test_a_train_has_at_least_two_messages(message_bytes: int) -> None:
    assert 2 <= train_length(message_bytes) <= 10


def test_a_train_counts_its_answer_and_an_acknowledgement_has_no_bytes() -> None:
    assert wire_of(SeriesRequest("prtt", 100, 10)).bytes == 1100
    assert wire_of(SeriesRequest("ping_pong", 100)).bytes == 200
    assert wire_of(SeriesRequest("flood", 100, 32)).bytes == 3200
    assert wire_of(SeriesRequest("flood", 100, 32)).messages == 33


def test_a_request_is_one_json_line_in_the_form_that_the_probe_reads() -> None:
    request = make_plan(OPTIONS).requests[3]
    line = request.line()
    assert line.endswith("\n")
    assert "\n" not in line[:-1]
    sent = json.loads(line)
    assert sent["type"] == "measure"
    assert sent["stop"].keys() == {"relative_half_width", "min_samples", "max_samples", "budget_ns"}
    assert sent["series"][2]["delay_ns"] == "rtt"


def test_a_delay_ladder_lies_around_the_gap() -> None:
    request = ladder(5, 1024, 2e-6, StopRule(0.025, 6, 100, 1))
    delays = [series.delay_ns for series in request.series[2:]]
    assert (
        min(d for d in delays if isinstance(d, float))
        < 2000
        < max(d for d in delays if isinstance(d, float))
    )
    assert request.tag == {"purpose": "bell"}


def test_ladder_sizes_are_few_and_include_both_ends() -> None:
    sizes = ladder_sizes(OPTIONS.sizes)
    assert len(sizes) == 5
    assert (sizes[0], sizes[-1]) == (1, 2**20)
    assert ladder_sizes((8, 4)) == (4, 8)


def test_each_pattern_of_the_list_has_a_file_of_its_name_and_says_what_it_measures() -> None:
    assert [pattern.name for pattern in all_patterns()] == list(PATTERNS)
    assert all(pattern.measures for pattern in all_patterns())
    assert find_pattern("noise") is None
