"""What an application's communication costs: messages matched, waiting told from transfer, and its replay."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from json_schemas import validate
from needs import require_data
from trace_files import ring, trace_of

import chiplog
from chiplog.application.costs import costs_of
from chiplog.application.joined_calls import join
from chiplog.application.messages import match
from chiplog.application.replay import schedule_of
from chiplog.application.result import Replay
from chiplog.cli import main
from chiplog.cli.application_text import application_text
from chiplog.counts import number_ranges
from chiplog.errors import CorruptFile
from chiplog.report.application_words import replay_sentence
from chiplog.schedule.traffic import Traffic, traffic_of
from chiplog.simulation import LogGOPS, simulate
from chiplog.tracing.builder import ImportedCall
from chiplog.tracing.importer import read_trace
from chiplog.tracing.trace import ANY_TAG, ANYBODY, SENDRECV_RECEIVE, Trace

BY_HAND = ("--L", "6000", "--o", "1500", "--g", "2000", "--G", "5")


def send(begin: int, end: int, to: int, size: int = 8, *, tag: int = 0) -> ImportedCall:
    return ImportedCall("Send", begin, end, to, tag, sent_bytes=size)


def receive(begin: int, end: int, source: int, size: int = 8, *, tag: int = 0) -> ImportedCall:
    return ImportedCall("Recv", begin, end, source, tag, received_bytes=size)


def matched(trace: Trace) -> list[tuple[int, int]]:
    messages = match(join(trace))
    return list(zip(messages.sends.tolist(), messages.receives.tolist(), strict=True))


def test_messages_of_a_tag_do_not_overtake_each_other_and_tags_do() -> None:
    trace = trace_of(
        [send(0, 1, 1, tag=5), send(1, 2, 1, tag=6), send(2, 3, 1, tag=5)],
        [receive(0, 1, 0, tag=6), receive(1, 2, 0, tag=5), receive(2, 3, 0, tag=5)],
    )
    assert matched(trace) == [(0, 4), (1, 3), (2, 5)]


def test_a_receive_from_anybody_gets_what_was_sent_first() -> None:
    trace = trace_of(
        [receive(0, 9, ANYBODY, tag=ANY_TAG), receive(9, 12, 1), receive(12, 15, ANYBODY)],
        [send(4, 5, 0), send(6, 7, 0)],
        [send(2, 3, 0)],
    )
    assert matched(trace) == [(3, 1), (4, 2), (5, 0)]


def test_communicators_keep_messages_apart() -> None:
    other = ImportedCall("Send", 0, 1, 1, 0, sent_bytes=1, communicator=1)
    trace = trace_of(
        [other, send(1, 2, 1)],
        [receive(0, 1, 0), ImportedCall("Recv", 1, 2, 0, 0, received_bytes=1, communicator=1)],
        communicators=[(0, 1)],
    )
    assert matched(trace) == [(0, 3), (1, 2)]


def test_sends_and_receives_without_counterpart_are_counted_and_said() -> None:
    trace = trace_of([send(0, 1, 1), send(1, 2, 1)], [receive(0, 3, 0)])
    assert any("1 send and 0 receives" in sentence for sentence in costs_of(trace).notes)


def waiting(trace: Trace) -> list[tuple[float, float, float]]:
    """Late sender, late receiver and others late, of each rank, in ns."""
    return [
        (
            round(row.late_sender_seconds * 1e9),
            round(row.late_receiver_seconds * 1e9),
            round(row.collective_seconds * 1e9),
        )
        for row in costs_of(trace).rows
    ]


def test_a_receive_waits_for_a_late_sender_until_the_send_begins() -> None:
    assert waiting(trace_of([send(70, 75, 1)], [receive(10, 100, 0)])) == [(0, 0, 0), (60, 0, 0)]
    assert waiting(trace_of([send(5, 9, 1)], [receive(10, 100, 0)])) == [(0, 0, 0), (0, 0, 0)]


def test_a_send_waits_for_a_late_receiver_only_where_it_was_still_sending() -> None:
    assert waiting(trace_of([send(10, 100, 1)], [receive(60, 110, 0)])) == [(0, 50, 0), (0, 0, 0)]
    assert waiting(trace_of([send(10, 20, 1)], [receive(60, 65, 0)])) == [(0, 0, 0), (0, 0, 0)]


def test_non_blocking_calls_wait_where_they_are_completed() -> None:
    start = ImportedCall("Irecv", 0, 2, 1, 0, received_bytes=8, starts="a")
    wait = ImportedCall("Wait", 30, 90, completes=("a",))
    assert waiting(trace_of([start, wait], [send(50, 60, 0)])) == [(20, 0, 0), (0, 0, 0)]
    assert waiting(trace_of([start, wait], [send(20, 25, 0)])) == [(0, 0, 0), (0, 0, 0)]


def test_the_halves_of_a_sendrecv_are_one_call() -> None:
    def both(peer: int, begin: int, end: int) -> list[ImportedCall]:
        first = ImportedCall("Sendrecv", begin, end, peer, 0, sent_bytes=8)
        return [first, ImportedCall(SENDRECV_RECEIVE, end, end, peer, 0, received_bytes=8)]

    result = costs_of(trace_of(both(1, 0, 100), both(0, 40, 100)))
    assert [row.calls for row in result.rows] == [{"MPI_Sendrecv": 1}] * 2
    assert result.rows[0].late_sender_seconds == pytest.approx(40e-9)
    assert [row.bytes_received for row in result.rows] == [8, 8]


def collective(kind: str, begin: int, end: int, root: int = -1) -> ImportedCall:
    return ImportedCall(kind, begin, end, root, sent_bytes=8, received_bytes=8)


@pytest.mark.parametrize(
    ("kind", "root", "expected"),
    [
        ("Barrier", -1, [60, 50, 0]),
        ("Allreduce", -1, [60, 50, 0]),
        ("Bcast", 1, [10, 0, 0]),
        ("Reduce", 0, [60, 0, 0]),
        ("Reduce", 2, [0, 0, 0]),
        ("Scan", -1, [0, 0, 0]),
    ],
)
def test_collective_operations_wait_for_those_that_they_need(
    kind: str, root: int, expected: list[int]
) -> None:
    begins = (10, 20, 70)
    trace = trace_of(*([collective(kind, begin, 100, root)] for begin in begins))
    assert [others for _, _, others in waiting(trace)] == expected


def test_an_operation_that_not_all_call_is_left_out_and_said() -> None:
    trace = trace_of([collective("Barrier", 0, 9)], [collective("Bcast", 5, 9, 0)])
    result = costs_of(trace)
    assert waiting(trace) == [(0, 0, 0), (0, 0, 0)]
    assert any("not called alike" in sentence for sentence in result.notes)


def test_clocks_that_differ_are_said() -> None:
    trace = trace_of([send(1_000_000, 1_000_010, 1)], [receive(10, 30, 0)])
    assert any("clocks differ" in sentence for sentence in costs_of(trace).notes)


def test_the_screen_is_80_columns_wide_and_begins_with_the_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["app", str(ring(tmp_path / "ring")), *BY_HAND]) == 0
    screen = capsys.readouterr().out
    assert screen.startswith("Communication takes ")
    assert "of that is waiting for other ranks" in " ".join(screen.split("\n")[:2])
    assert "traced" in screen
    assert max(map(len, screen.splitlines())) <= 80
    assert len(screen.splitlines()) <= 40


def test_shares_of_calls_are_of_the_time_that_communication_takes() -> None:
    start, end = ImportedCall("Init", 0, 900), ImportedCall("Finalize", 990, 999)
    trace = trace_of(
        [start, send(900, 930, 1), collective("Barrier", 930, 940), end],
        [start, receive(900, 930, 0), collective("Barrier", 930, 940), end],
    )
    result = costs_of(trace)
    shares = {row.call: result.share_of_communication(row) for row in result.calls}
    assert shares["MPI_Send"] == pytest.approx(30 / 80)
    assert shares["MPI_Barrier"] == pytest.approx(20 / 80)
    assert shares["MPI_Init"] is None
    assert shares["MPI_Finalize"] is None


def test_a_replay_names_the_time_in_init_and_finalize_where_it_matters() -> None:
    long = Replay(2.0, 2.0, 2.0, 2.1, {}, start_and_end_seconds=1.3)
    assert ", 1.30 s of both in MPI_Init and MPI_Finalize" in replay_sentence(long)
    assert "MPI_Init" not in replay_sentence(replace(long, start_and_end_seconds=0.01))


def test_what_starts_and_ends_mpi_takes_as_long_in_a_replay_as_on_the_quickest_rank() -> None:
    trace = trace_of(
        *(
            [ImportedCall("Init", 0, end), ImportedCall("Finalize", 2000, 2007)]
            for end in (900, 950)
        )
    )
    assert schedule_of(trace).start_and_end_seconds == pytest.approx(907e-9)


def test_each_session_takes_as_long_as_on_the_rank_where_that_session_was_opened_fastest() -> None:
    trace = trace_of(
        *(
            [
                ImportedCall("Session_init", 0, first),
                ImportedCall("Session_finalize", 1000, 1007),
                ImportedCall("Session_init", 2000, second),
                ImportedCall("Session_finalize", 3000, 3003),
            ]
            for first, second in ((900, 2050), (950, 2040))
        )
    )
    assert schedule_of(trace).start_and_end_seconds == pytest.approx(950e-9)


def test_many_ranks_that_are_alike_take_one_line() -> None:
    ranks = 64
    trace = trace_of(*([collective("Barrier", 10, 100)] for _ in range(ranks)))
    text = application_text(costs_of(trace), details=False)
    assert "\n0-63 " in text
    assert number_ranges([5, 3, 4, 9]) == "3-5,9"


def test_the_json_has_its_schema_and_all_ranks(tmp_path: Path) -> None:
    out = tmp_path / "app.json"
    assert main(["app", str(ring(tmp_path / "ring")), *BY_HAND, "--json", str(out)]) == 0
    content = json.loads(out.read_text())
    validate(content)
    assert [row["rank"] for row in content["rows"]] == [0, 1, 2, 3]
    assert content["rows"][0]["bytes_sent"] == content["rows"][0]["bytes_received"] == 2400
    assert content["rows"][0]["calls"]["MPI_Isend"] == 3
    assert content["replay"]["low"] == content["replay"]["seconds"] > 0


def test_python_has_the_same(tmp_path: Path) -> None:
    result = chiplog.app(ring(tmp_path / "ring"))
    assert result.ranks == 4
    assert result.replay is None
    assert "4 ranks" in repr(result)


def test_a_replay_takes_what_the_model_says_of_each_message() -> None:
    """A ping-pong with 1000 ns of computation before each send: two messages of 2 o + L, and what is computed."""
    trace = trace_of(
        [send(1000, 1100, 1), receive(1100, 3000, 0 + 1)],
        [receive(0, 1200, 0), send(2200, 2300, 0)],
    )
    replayed = schedule_of(trace)
    simulation = simulate(replayed.schedule, LogGOPS.from_ns(L=500, o=100, g=10, G=0))
    assert simulation.makespan_ps == (1000 + 700 + 1000 + 700) * 1000


def test_the_halves_of_a_sendrecv_are_under_way_at_once_in_the_replay() -> None:
    """Sends that wait for their receives would else wait for each other for ever."""

    def both(peer: int) -> list[ImportedCall]:
        first = ImportedCall("Sendrecv", 0, 1, peer, 0, sent_bytes=8)
        return [first, ImportedCall(SENDRECV_RECEIVE, 1, 1, peer, 0, received_bytes=8)]

    replayed = schedule_of(trace_of(both(1), both(0)))
    simulate(replayed.schedule, LogGOPS.from_ns(L=500, o=100, g=10, G=0, S_bytes=0))
    sends = replayed.schedule.operations["kind"] == 0
    assert set(traffic_of(replayed.schedule)[sends].tolist()) == {Traffic.EXCHANGE}


def test_persistent_requests_are_messages_each_time_that_they_are_started() -> None:
    def turn(peer: int, sent: int, received: int) -> list[ImportedCall]:
        start = ImportedCall("Start", 10, 20, peer, 5, sent, received, starts="a")
        return [start, ImportedCall("Wait", 30, 40, completes=("a",))]

    trace = trace_of(2 * turn(1, 8, 0), 2 * turn(0, 0, 8))
    assert matched(trace) == [(0, 4), (2, 6)]
    assert simulate(schedule_of(trace).schedule, LogGOPS.from_ns(L=1, o=1, g=1, G=0)).events > 0


def test_what_is_computed_while_a_message_is_under_way_overlaps_in_the_replay() -> None:
    start = ImportedCall("Irecv", 0, 0, 1, 0, received_bytes=8, starts="a")
    wait = ImportedCall("Wait", 10_000, 10_000, completes=("a",))
    trace = trace_of([start, wait], [send(0, 10, 0)])
    simulation = simulate(schedule_of(trace).schedule, LogGOPS.from_ns(L=5000, o=100, g=10, G=0))
    assert simulation.finish_ps[0] == 10_100 * 1000


def test_roots_and_members_of_collectives_are_kept_in_the_replay() -> None:
    def bcast(begin: int) -> ImportedCall:
        return ImportedCall(
            "Bcast", begin, 100, 2, sent_bytes=64, received_bytes=64, communicator=1
        )

    trace = trace_of([], [bcast(0)], [bcast(0)], [bcast(0)], communicators=[(3, 2, 1)])
    operations = schedule_of(trace).schedule.operations
    sends = operations[operations["kind"] == 0]
    assert sorted(zip(sends["rank"].tolist(), sends["peer"].tolist(), strict=True)) == [
        (2, 1),
        (2, 3),
    ]


def test_sweep3d_replayed_takes_what_loggopsim_says_of_it() -> None:
    """LogGOPSim's own schedule starts all ranks at once; the trace has one 16.6 ms later."""
    trace = read_trace(require_data("traces/sweep3d"))
    replayed = schedule_of(trace)
    simulation = simulate(replayed.schedule, LogGOPS.from_ns(L=6000, o=1500, g=2000, G=5))
    late_seconds = max(int(rank.calls["begin_ns"].min()) for rank in trace.ranks) / 1e9
    assert simulation.makespan_ps / 1e12 == pytest.approx(42.346617340 + late_seconds, rel=1e-4)
    assert np.count_nonzero(replayed.schedule.operations["kind"] == 0) > 5760


def test_a_trace_whose_messages_wait_for_each_other_is_refused_in_a_sentence(
    tmp_path: Path,
) -> None:
    from chiplog.jobs.replay import ReplayBy, replay

    trace = trace_of([receive(0, 1, 1), send(2, 3, 1)], [receive(0, 1, 0), send(2, 3, 0)])
    by = ReplayBy(parameters=LogGOPS.from_ns(L=1, o=1, g=1, G=0))
    with pytest.raises(CorruptFile, match="can't be replayed"):
        replay(costs_of(trace), schedule_of(trace), by)
