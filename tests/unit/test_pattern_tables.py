"""The tables of measured times: each says what its pattern is about, by which convention, in 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from run_files import example_header, example_record, example_series

from chiplog.cli.growing_table import heading
from chiplog.cli.measured_sizes import measured_lines
from chiplog.dataset.run_file import RunWriter, read_run
from chiplog.dataset.series import Dataset
from chiplog.jobs.analysis import analyse
from chiplog.jobs.measure import measure
from chiplog.machine_survey.page.page import is_survey
from chiplog.plan import PlanOptions
from chiplog.report.document import Table, text_of
from chiplog.report.input import TargetReport
from chiplog.report.patterns import KNOWN, pattern_tables
from chiplog.report.patterns.exchange import ratio
from chiplog.report.patterns.peers import rounds
from chiplog.report.patterns.run import ShownValue
from chiplog.report.sections import measured_times

TARGET = "sim:L=5us,o=1us,g=2us,G=0.5ns"
"""A message of s bytes takes 7 us + (s-1) 0.5 ns one way."""


def measured(folder: Path, pattern: str, **options: object) -> Dataset:
    made = PlanOptions(
        **{  # type: ignore[arg-type]
            "transport": "sim",
            "patterns": (pattern,),
            "sizes": (1, 1024),
            "visits": 2,
            "ranks": 6,
            **options,
        }
    )
    measure(TARGET, folder / "run.jsonl", made, refine=False)
    return read_run(folder / "run.jsonl")


def rows(dataset: Dataset, number: int = 0) -> dict[str, list[str]]:
    """The rows of a table by what stands in the first column, and its heads by "head"."""
    table = pattern_tables(dataset, most_rows=24, most_columns=5)[number]
    return {"head": [text_of(one.title) for one in table.columns], **_cells(table)}


def _cells(table: Table) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in table.rows:
        cells = [_short(text_of(cell)) for cell in row]
        key = cells[0] if cells[0] not in found else f"{cells[0]} {cells[1]}"
        found[key] = cells
    return found


def _short(cell: str) -> str:
    """A time with at most three decimals."""
    number, _, unit = cell.partition(" ")
    whole, point, decimals = number.partition(".")
    return f"{whole}{point}{decimals[:3]} {unit}" if len(decimals) > 3 else cell


def test_pairs_show_half_round_trips_and_the_rates_of_a_process_and_of_the_node(
    tmp_path: Path,
) -> None:
    found = rows(measured(tmp_path, "pairs"))
    assert found["head"] == ["size", "k", "time", "95 % interval", "a process", "the node"]
    assert found["1 B"][:3] == ["1 B", "1", "7.000 us"]
    assert found["1 KiB 3"][4:] == ["136 MB/s", "409 MB/s"]


def test_pairs_of_many_sizes_are_grids_of_size_and_k(tmp_path: Path) -> None:
    dataset = measured(tmp_path, "pairs", sizes=tuple(2**i for i in range(13)))
    times, rates = rows(dataset), rows(dataset, 1)
    assert times["head"] == rates["head"] == ["size", "k = 1", "k = 2", "k = 3"]
    assert times["1 B"][3].startswith("7.00 us")
    assert rates["1 KiB"][3] == "409 (136) MB/s"


def test_windows_of_pairs_are_times_of_a_message_one_way(tmp_path: Path) -> None:
    dataset = measured(tmp_path, "pairs", direction="one-way")
    title = text_of(pattern_tables(dataset, most_rows=24, most_columns=5)[0].caption)
    assert "one-way time per message of a window, the slowest pair's" in title


def test_an_exchange_is_shown_with_its_factor_over_a_message_alone(tmp_path: Path) -> None:
    lines = rows(measured(tmp_path, "exchange", ranks=2), 1)
    assert lines["head"] == [
        "size",
        "exchange",
        "95 % interval",
        "factor",
        "95 % interval",
        "both ways",
    ]
    assert (lines["1 B"][1], lines["1 B"][3]) == ("7.000 us", "1.00")
    # 2 messages of 1024 B in 7.5115 us
    assert lines["1 KiB"][5] == "273 MB/s"


def test_exchanges_of_k_pairs_are_compared_with_as_many_pairs(tmp_path: Path) -> None:
    lines = rows(measured(tmp_path, "exchange"), 1)
    assert lines["head"][:3] == ["size", "k", "exchange"]
    assert [lines[key][4] for key in ("1 KiB", "1 KiB 2", "1 KiB 3")] == ["1.00"] * 3


def test_exchanges_of_many_sizes_and_pairs_are_grids(tmp_path: Path) -> None:
    dataset = measured(tmp_path, "exchange", sizes=tuple(2**i for i in range(13)))
    times, factors, rates = (rows(dataset, number) for number in (2, 3, 4))
    assert times["head"] == factors["head"] == rates["head"] == ["size", "k = 1", "k = 2", "k = 3"]
    assert times["1 B"][3].startswith("7.00 us")
    assert factors["1 B"][1:] == ["1.00"] * 3


def exchanges(folder: Path, exchange_ns: int, *, alone_ns: int | None) -> Dataset:
    """A run of exchanges of 8 B, beside round trips where these take twice `alone_ns`."""
    series = [
        example_series(
            [exchange_ns] * 9, pattern="exchange", direction="one-way", message_bytes=8, batch=2
        )
    ]
    if alone_ns is not None:
        series.append(example_series([2 * alone_ns] * 9, message_bytes=8))
    with RunWriter.create(folder / "run.jsonl", example_header()) as writer:
        writer.append(example_record(0, *series))
    return read_run(folder / "run.jsonl")


def test_directions_that_share_their_speed_have_a_factor_of_two(tmp_path: Path) -> None:
    lines = rows(exchanges(tmp_path, 4000, alone_ns=1000), 1)
    assert (lines["8 B"][1], lines["8 B"][3]) == ("2.000 us", "2.00")


def test_exchanges_without_a_message_alone_say_that_there_is_no_factor(tmp_path: Path) -> None:
    (table,) = pattern_tables(
        exchanges(tmp_path, 4000, alone_ns=None), most_rows=24, most_columns=5
    )
    assert _cells(table)["8 B"][3:5] == ["—", "—"]
    assert any("no message alone" in text_of(note) for note in table.notes)


def test_a_ratio_is_as_uncertain_as_both_of_its_values() -> None:
    factor = ratio(ShownValue(3.0, 3.0 / 1.03, 3.0 * 1.03), ShownValue(2.0, 2.0 / 1.04, 2.0 * 1.04))
    assert factor.seconds == 1.5
    # Logarithms of 1.03 and 1.04 in squares.
    assert factor.high / factor.seconds == pytest.approx(1.0502, abs=1e-3)
    assert factor.seconds / factor.low == pytest.approx(1.0502, abs=1e-3)


def test_the_report_compares_an_exchange_with_round_trips_that_a_fit_shows(tmp_path: Path) -> None:
    sizes = tuple(2**i for i in range(12))
    dataset = measured(tmp_path, "exchange", sizes=sizes, ranks=2)
    section = measured_times.section(analyse("sim", dataset), "k")
    assert section is not None
    (table,) = section.blocks
    assert isinstance(table, Table)
    assert text_of(table.caption).startswith("Exchange by size")
    assert _cells(table)["1 B"][3] == "1.00"


def test_one_to_many_shows_the_whole_round_trip_over_p(tmp_path: Path) -> None:
    found = rows(measured(tmp_path, "one_to_many", sizes=(1,)))
    assert found["head"] == ["size", "p", "RTT(p)", "95 % interval", "RTT(p)/p", "o_s(p)"]
    assert found["1 B"][2] == "14.000 us"
    # 4 o + 2 L + (p - 1) max(g, o)
    assert (found["1 B 5"][2], found["1 B 5"][4]) == ("22.000 us", "4.40 us")


def test_a_barrier_is_shown_over_n_with_its_rounds_and_without_a_bandwidth(tmp_path: Path) -> None:
    found = rows(measured(tmp_path, "barrier", sizes=(1,)))
    assert found["head"] == ["size", "n", "rounds", "a barrier", "95 % interval"]
    assert [found[key][2] for key in ("1 B", "1 B 2", "1 B 5")] == ["3", "2", "1"]


def test_rounds_are_counted_in_whole_numbers() -> None:
    assert [rounds(n, 64) for n in range(1, 9)] == [6, 4, 3, 3, 3, 3, 2, 2]
    assert (rounds(4, 125), rounds(5, 216), rounds(7, 17)) == (3, 3, 2)


def test_all_pairs_are_compared_by_class_of_link_and_the_slowest_is_named(tmp_path: Path) -> None:
    found = rows(measured(tmp_path, "all_pairs", sizes=(1,)))
    assert found["1 B"][1:5] == ["all", "15", "7.00 us", "7.00 us"]


def test_all_pairs_between_hosts_are_apart_from_those_within_one(tmp_path: Path) -> None:
    pairs = [(0, 1, 100), (2, 3, 110), (0, 2, 900), (1, 3, 1000)]
    header = example_header(ranks=4, hosts=["a", "a", "b", "b"], binding=[[0]] * 4)
    with RunWriter.create(tmp_path / "run.jsonl", header) as writer:
        for number, (client, server, nanoseconds) in enumerate(pairs):
            by_pair = [{"client": client, "server": server, "samples_ns": [nanoseconds] * 9}]
            series = example_series(
                [nanoseconds] * 9, pattern="all_pairs", round=number, by_pair=by_pair
            )
            writer.append(example_record(number, series))
    table = pattern_tables(read_run(tmp_path / "run.jsonl"), most_rows=24, most_columns=5)[0]
    cells = [[text_of(cell) for cell in row] for row in table.rows]
    assert [row[1:6] for row in cells] == [
        ["within a host", "2", "50.0 ns", "52.5 ns", "55.0 ns"],
        ["between hosts", "2", "450 ns", "475 ns", "500 ns"],
    ]
    assert cells[1][6] == "1-3"


@pytest.mark.parametrize(
    ("direction", "words"), [("one-way", "one way"), ("round-trip", "whole round trip")]
)
def test_rounds_whose_pairs_have_no_names_are_shown_by_size_alone(
    direction: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    with RunWriter.create(path, example_header(ranks=2)) as writer:
        for number, (size, nanoseconds) in enumerate([(8, 700), (64, 900)]):
            series = example_series(
                [nanoseconds] * 9, pattern="all_pairs", message_bytes=size, direction=direction
            )
            writer.append(example_record(number, series))
    (table,) = pattern_tables(read_run(path), most_rows=24, most_columns=5)
    cells = [[text_of(cell) for cell in row] for row in table.rows]
    assert [row[:2] for row in cells] == [["8 B", "700.00 ns"], ["64 B", "900.00 ns"]]
    assert f"{words}, of pairs that the file does not name" in text_of(table.caption)
    assert not is_survey(path)


def test_floods_are_shown_per_message(tmp_path: Path) -> None:
    found = rows(measured(tmp_path, "flood", sizes=(1,)))
    assert found["1 B"][1] == "2.375 us"  # (2 L + 4 o + 31 g)/32 on sim


def test_the_assessment_shows_gap_and_overheads_beside_half_round_trips(tmp_path: Path) -> None:
    found = rows(measured(tmp_path, "prtt"))
    assert found["head"][4:] == ["gap", "o_s", "o_r"]
    assert [found["1 B"][1], *found["1 B"][4:]] == ["7.000 us", "2.00 us", "1.00 us", "1.00 us"]
    assert found["1 KiB"][3] == "136 MB/s"


def test_sends_that_were_asked_for_have_a_table_of_their_own(tmp_path: Path) -> None:
    found = rows(measured(tmp_path, "send_overhead"))
    assert found["head"][1::2] == ["one send", "one of 4"]
    assert found["1 B"][1::2] == ["1.000 us", "1.000 us"]


def test_a_late_receiver_tells_whether_the_send_waits(tmp_path: Path) -> None:
    late = {"pattern": "late_receiver", "direction": "call", "delay_ns": 5000.0, "batch": 1}
    with RunWriter.create(tmp_path / "run.jsonl", example_header()) as writer:
        eager = example_series([300] * 9, message_bytes=8, **late)
        waits = example_series([5300] * 9, message_bytes=8192, **late)
        writer.append(example_record(0, eager))
        writer.append(example_record(1, waits))
    found = rows(read_run(tmp_path / "run.jsonl"))
    assert (found["8 B"][4], found["8 KiB"][4]) == ("returns", "waits")


def test_operations_and_postings_have_tables_of_their_own(tmp_path: Path) -> None:
    dataset = measured(tmp_path, "ping_pong", operations=("send", "rdma-write"))
    titles = [
        text_of(table.caption) for table in pattern_tables(dataset, most_rows=24, most_columns=5)
    ]
    assert [title.partition(":")[0] for title in titles] == [
        "Half round trip by size of send",
        "Half round trip by size of rdma-write",
    ]


def test_a_collective_operation_has_no_operation_of_messages_in_its_title(tmp_path: Path) -> None:
    calls = example_series([900] * 9, pattern="allreduce", operation="default", direction="call")
    with RunWriter.create(tmp_path / "run.jsonl", example_header()) as writer:
        writer.append(example_record(0, calls))
    (table,) = pattern_tables(read_run(tmp_path / "run.jsonl"), most_rows=24, most_columns=5)
    assert text_of(table.caption).startswith("Allreduce by size: time of the call; median of this")


def test_a_pattern_that_nobody_knows_is_shown_with_its_convention(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "run.jsonl", example_header()) as writer:
        writer.append(example_record(0, example_series([900] * 9, pattern="swim_lanes")))
    (table,) = pattern_tables(read_run(tmp_path / "run.jsonl"), most_rows=24, most_columns=5)
    assert text_of(table.caption).startswith("Swim lanes by size: whole round trip; median of this")


@pytest.mark.parametrize("pattern", sorted(KNOWN - {"late_receiver", "overlap_receive"}))
def test_what_measure_prints_fits_80_columns_and_says_what_its_intervals_are_of(
    tmp_path: Path, pattern: str
) -> None:
    dataset = measured(tmp_path, pattern, sizes=(*(2**i for i in range(16)), 1000, 50_000))
    lines = measured_lines(dataset)
    assert max(map(len, lines)) <= 80
    assert not any("no room" in line for line in lines)
    if pattern != "all_pairs":
        assert "of this launch" in " ".join(" ".join(lines).split())


def test_an_overhead_that_noise_hides_is_a_bound_and_never_negative(tmp_path: Path) -> None:
    delayed = {"train": 10, "delay_ns": 2000.0, "batch": 1}
    noisy = [18_000, 18_100, 18_200, 18_300, 18_050, 18_150, 18_250, 18_010]
    with RunWriter.create(tmp_path / "run.jsonl", example_header()) as writer:
        for number in range(3):
            single = example_series([200] * 8, message_bytes=8)
            train = example_series([420] * 8, message_bytes=8, train=10)
            writer.append(
                example_record(
                    number, single, train, example_series(noisy, message_bytes=8, **delayed)
                )
            )
    found = rows(read_run(tmp_path / "run.jsonl"))
    assert found["8 B"][5].startswith("<")


@pytest.mark.parametrize("pattern", ["barrier", "all_pairs", "pairs", "flood", "exchange"])
def test_report_and_measure_show_the_same_table(tmp_path: Path, pattern: str) -> None:
    dataset = measured(tmp_path, pattern)
    section = measured_times.section(TargetReport("sim", dataset), "k")
    assert section is not None
    (shown, *_) = section.blocks
    (table, *_) = pattern_tables(dataset, most_rows=60, most_columns=8)
    assert shown == table


@pytest.mark.parametrize(
    ("members", "name", "share"),
    [
        ({"pattern": "pairs", "pairs": 3}, "median half round trip, k = 3", 0.5),
        ({"pattern": "pairs", "direction": "one-way"}, "median one-way time, k = 1", 1.0),
        ({"pattern": "one_to_many", "peers": 4}, "median RTT(p), p = 4", 1.0),
        ({"pattern": "barrier", "peers": 2, "direction": "call"}, "median barrier, n = 2", 1.0),
        ({"pattern": "exchange", "direction": "one-way"}, "median exchange", 1.0),
        (
            {"pattern": "exchange", "direction": "one-way", "pairs": 3},
            "median exchange, k = 3",
            1.0,
        ),
        ({"pattern": "flood", "train": 32}, "median flood per message", 1 / 32),
        ({}, "median half round trip", 0.5),
    ],
)
def test_the_growing_table_says_what_its_times_are(
    tmp_path: Path, members: dict[str, object], name: str, share: float
) -> None:
    samples: Sequence[int] = (100, 110, 120)
    with RunWriter.create(tmp_path / "run.jsonl", example_header()) as writer:
        writer.append(example_record(0, example_series(samples, **members)))
    assert heading(read_run(tmp_path / "run.jsonl").series[0]) == (name, share)


def test_an_incast_shows_what_each_further_message_adds(tmp_path: Path) -> None:
    found = rows(measured(tmp_path, "incast", sizes=(1, 1001)))
    assert found["head"] == ["size", "p", "time", "95 % interval", "one more", "its rate"]
    # A request and a message, 2 (L + o_s + o_r), from one request to the next g, and the receiver's g + (s-1) G.
    assert found["1 B"][:3] == ["1 B", "1", "14.000 us"]
    assert found["1 B 5"][2] == "22.000 us"
    assert found["1,001 B 5"][4] == "2.50 us"


def test_an_incast_is_compared_with_one_message_of_its_own_record(tmp_path: Path) -> None:
    slow = example_record(1, *(_incast(p, 3000 + 500 * p) for p in (1, 2, 3)))
    with RunWriter.create(tmp_path / "run.jsonl", example_header()) as writer:
        writer.append(example_record(0, *(_incast(p, 1000 + 500 * p) for p in (1, 2, 3))))
        writer.append(slow)
    found = rows(read_run(tmp_path / "run.jsonl"))
    assert found["8 B 2"][4] == found["8 B 3"][4] == "500 ns"


def _incast(peers: int, duration_ns: int) -> dict[str, object]:
    return example_series([duration_ns] * 9, pattern="incast", message_bytes=8, peers=peers)
