"""What would save most of a program's time: hand-made traces whose answers are known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from json_schemas import validate
from prediction import fit_of
from trace_files import ring, trace_of

import chiplog
from chiplog.application.placement import better_groups
from chiplog.application.replay import schedule_of
from chiplog.application.result import Saving, Savings
from chiplog.cli import main
from chiplog.collectives.mpis.choice import AlgorithmChoice
from chiplog.jobs.class_draws import FittedClasses
from chiplog.jobs.replay import ReplayBy
from chiplog.jobs.savings import TracedProgram, savings
from chiplog.jobs.simulated_model import FittedParameters
from chiplog.schedule import Schedule
from chiplog.simulation import Conditions, LogGOPS, PairClasses
from chiplog.simulation.parameters import Protocol
from chiplog.tracing.builder import ImportedCall
from chiplog.tracing.trace import SENDRECV_RECEIVE, Trace

NEAR = Protocol.from_ns(L=100, o=100, g=100, G=0)
FAR = Protocol.from_ns(L=9_000, o=100, g=100, G=0)
US = 1000


def send(at: int, to: int, size: int = 8) -> ImportedCall:
    return ImportedCall("Send", at, at, to, 0, sent_bytes=size)


def receive(at: int, source: int, size: int = 8) -> ImportedCall:
    return ImportedCall("Recv", at, at, source, 0, received_bytes=size)


def saved_by(trace: Trace, by: ReplayBy) -> Savings:
    return savings(TracedProgram("trace", trace), by)


def by_classes(*groups: int) -> ReplayBy:
    between = tuple(
        tuple(int(a != b) for b in range(max(groups) + 1)) for a in range(max(groups) + 1)
    )
    pairs = PairClasses(((NEAR,), (FAR,)), groups, between)
    return ReplayBy(parameters=LogGOPS((NEAR,)), conditions=Conditions(pairs=pairs))


def talk_in_pairs(*pairs: tuple[int, int], rounds: int = 10) -> Trace:
    """Each pair plays ping-pong."""
    calls: dict[int, list[ImportedCall]] = {}
    for first, second in pairs:
        calls[first] = [send(0, second), receive(0, second)] * rounds
        calls[second] = [receive(0, first), send(0, first)] * rounds
    return trace_of(*(calls[rank] for rank in sorted(calls)))


def test_ranks_that_talk_and_are_far_apart_are_put_on_one_node() -> None:
    """20 messages of 9,200 ns each would take 300 ns."""
    answer = saved_by(talk_in_pairs((0, 2), (1, 3)), by_classes(0, 0, 1, 1))
    (row,) = answer.rows
    assert row.what == "another placement of ranks"
    assert row.file is None
    assert row.seconds == pytest.approx(20 * 8.9e-6)
    assert row.low == row.high == row.seconds
    assert "0,2; 1,3" in row.how or "0 … " in row.how
    assert "--map-by node" in row.how


def by_fitted_classes(schedule: Schedule, spread: float, far: float = 9e-6) -> ReplayBy:
    """Two ranks a node; L between nodes is `far`, and known to a share `spread`."""
    near = {"L": 1e-7, "o_s": 1e-7, "o_r": 1e-7, "g": 1e-7, "G": 1e-10}
    values = (near, {**near, "L": far})
    fits = tuple(FittedParameters(fit_of("loggp", each, spread=spread)) for each in values)
    protocols = tuple(fit.in_the_middle(schedule).protocols for fit in fits)
    pairs = PairClasses(protocols, (0, 0, 1, 1), ((0, 1), (1, 0)))
    return ReplayBy(
        parameters=LogGOPS(protocols[0]),
        conditions=Conditions(pairs=pairs),
        classes=FittedClasses(pairs, fits),
    )


def test_a_placement_has_the_interval_that_the_fits_of_its_classes_leave() -> None:
    trace = talk_in_pairs((0, 2), (1, 3))
    by = by_fitted_classes(schedule_of(trace).schedule, spread=0.1)
    (row,) = saved_by(trace, by).rows
    assert row.seconds == pytest.approx(20 * 8.9e-6, rel=0.01)
    assert row.low == pytest.approx(0.9 * row.seconds, rel=0.05)
    assert row.high == pytest.approx(1.1 * row.seconds, rel=0.05)


def test_nodes_that_may_be_as_near_as_ranks_of_one_move_nobody() -> None:
    """In the middle there is something to save; over the interval there may be nothing."""
    trace = talk_in_pairs((0, 2), (1, 3))
    by = by_fitted_classes(schedule_of(trace).schedule, spread=0.5, far=1.2e-7)
    assert saved_by(trace, by).rows == ()


def test_a_placement_that_no_launcher_makes_is_a_rankfile() -> None:
    answer = saved_by(talk_in_pairs((0, 5), (1, 3), (2, 4)), by_classes(0, 0, 1, 1, 2, 2))
    (row,) = answer.rows
    assert "rankfile:file=FILE" in row.how
    assert row.file is not None
    node_of = {}
    for line in row.file.splitlines():
        rank, node = line.removeprefix("rank ").split(" slot=")[0].split("=")
        node_of[int(rank)] = node
    assert node_of[0] == node_of[5] != node_of[1] == node_of[3] != node_of[2] == node_of[4]


def test_ranks_that_are_where_they_belong_stay_there() -> None:
    answer = saved_by(talk_in_pairs((0, 1), (2, 3)), by_classes(0, 0, 1, 1))
    assert answer.rows == ()


@pytest.mark.parametrize("seed", range(20))
def test_groups_of_hidden_blocks_are_found(seed: int) -> None:
    """Ranks of a hidden block exchange ten times what others do; the search starts from anywhere."""
    import numpy as np

    draw = np.random.default_rng(seed)
    nodes, per_node = int(draw.integers(2, 5)), int(draw.integers(2, 5))
    ranks = nodes * per_node
    hidden = draw.permutation(np.repeat(np.arange(nodes), per_node))
    calls: list[list[ImportedCall]] = [[] for _ in range(ranks)]
    for first in range(ranks):
        for second in range(ranks):
            rounds = 10 if hidden[first] == hidden[second] else 1
            if first != second:
                calls[first] += [send(0, second)] * rounds
                calls[second] += [receive(0, first)] * rounds
    by = by_classes(*np.sort(hidden).tolist())
    assert by.conditions.pairs is not None
    groups = better_groups(schedule_of(trace_of(*calls)).schedule, by.conditions.pairs)
    together = np.sort(hidden) if groups is None else np.array(groups)
    assert len(set(zip(together.tolist(), hidden.tolist(), strict=True))) == nodes


def late_receiver(size: int) -> Trace:
    """Rank 1 receives 50 us late; rank 0 computes for 50 us after its send, and then both meet."""
    first = [send(0, 1, size), ImportedCall("Recv", 50 * US, 50 * US, 1, 1, received_bytes=8)]
    second = [receive(50 * US, 0, size), ImportedCall("Send", 50 * US, 50 * US, 0, 1, sent_bytes=8)]
    return trace_of(first, second)


def by_limit(S_bytes: int) -> ReplayBy:
    return ReplayBy(parameters=LogGOPS.from_ns(L=1000, o=100, g=100, G=0, S_bytes=S_bytes))


def test_a_send_that_waits_for_a_late_receiver_is_helped_by_a_larger_eager_limit() -> None:
    """Without waiting for rank 1, rank 0 is done computing when rank 1's answer comes."""
    answer = saved_by(late_receiver(5000), by_limit(4096))
    (row,) = answer.rows
    assert row.what == "an eager limit above 5,000 B"
    assert 45e-6 < row.seconds < 55e-6
    assert "btl_sm_eager_limit 8192" in row.how


def test_messages_below_the_limit_need_no_larger_one() -> None:
    assert saved_by(late_receiver(4000), by_limit(4096)).rows == ()


def test_a_model_without_an_eager_limit_says_that_it_was_not_tried() -> None:
    by = ReplayBy(parameters=LogGOPS.from_ns(L=1000, o=100, g=100, G=0))
    assert any("eager limit" in reason for reason in saved_by(late_receiver(5000), by).untried)


def waits(compute_us: int, rounds: int = 5) -> Trace:
    """Both send to each other, wait, and then compute."""
    calls: list[list[ImportedCall]] = [[], []]
    for turn in range(rounds):
        at = turn * compute_us * US
        for rank, listed in enumerate(calls):
            listed += [
                ImportedCall("Irecv", at, at, 1 - rank, 0, received_bytes=8, starts="r"),
                ImportedCall("Isend", at, at, 1 - rank, 0, sent_bytes=8, starts="s"),
                ImportedCall("Waitall", at, at, completes=("r", "s")),
            ]
    for listed in calls:
        end = rounds * compute_us * US
        listed.append(ImportedCall("Finalize", end, end))
    return trace_of(*calls)


def test_computing_after_a_wait_would_hide_the_message() -> None:
    """Each round is 50 us and a message of 10.2 us, which would be under way meanwhile, but for its overheads."""
    by = ReplayBy(parameters=LogGOPS.from_ns(L=10 * US, o=100, g=100, G=0))
    (row,) = saved_by(waits(50), by).rows
    assert row.what == "computing before MPI_Waitall"
    assert row.seconds == pytest.approx(5 * 10e-6, rel=0.05)


def test_computing_after_exchanges_would_hide_all_of_them() -> None:
    """Two Sendrecvs in a row and 50 us of computing: both messages would be under way at once, and hidden."""
    calls: list[list[ImportedCall]] = [[], []]
    for turn in range(5):
        for rank, listed in enumerate(calls):
            for _ in range(2):
                at = turn * 50 * US
                listed += [
                    ImportedCall("Sendrecv", at, at, 1 - rank, 0, sent_bytes=8),
                    ImportedCall(SENDRECV_RECEIVE, at, at, 1 - rank, 0, received_bytes=8),
                ]
    for listed in calls:
        listed.append(ImportedCall("Finalize", 250 * US, 250 * US))
    by = ReplayBy(parameters=LogGOPS.from_ns(L=10 * US, o=100, g=100, G=0))
    (row,) = saved_by(trace_of(*calls), by).rows
    assert row.what == "computing while MPI_Sendrecv is under way"
    assert row.seconds == pytest.approx(5 * 2 * 10e-6, rel=0.05)


def test_no_computing_hides_no_message() -> None:
    by = ReplayBy(parameters=LogGOPS.from_ns(L=10 * US, o=100, g=100, G=0))
    assert saved_by(waits(0), by).rows == ()


def test_a_perfect_program_is_left_alone() -> None:
    """Messages that cost nothing leave nothing to save."""
    free = ReplayBy(parameters=LogGOPS.from_ns(L=0, o=0, g=0, G=0, S_bytes=4096))
    for trace in (waits(50), late_receiver(4000), talk_in_pairs((0, 1))):
        assert saved_by(trace, free).rows == ()


def test_the_screen_and_the_json_say_what_saves_most(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = str(ring(tmp_path / "ring")), tmp_path / "app.json"
    by_hand = ("--L", "6000", "--o", "1500", "--g", "2000", "--G", "5")
    assert main(["app", folder, *by_hand, "--savings", "--json", str(out)]) == 0
    screen = capsys.readouterr().out
    assert "Not tried: the placement of ranks" in screen
    assert max(map(len, screen.splitlines())) <= 80
    content = json.loads(out.read_text())
    validate(content)
    assert len(content["savings_untried"]) == 2


def test_python_tells_savings_with_the_intervals_of_a_fit(tmp_path: Path) -> None:
    run = chiplog.measure(
        "sim:L=50us,o=1us,g=2us,G=1ns,noise=0.02", patterns=("ping_pong", "prtt"), sizes="1:64KiB"
    )
    answer = chiplog.app(ring(tmp_path / "ring"), chiplog.fit(run), savings=True, anyway=True)
    assert answer.replay is not None
    assert answer.replay.savings is not None
    for row in answer.replay.savings.rows:
        assert isinstance(row, Saving)
        assert 0.0 < row.low <= row.seconds <= row.high


def test_another_algorithm_of_a_collective_is_proposed_where_it_surely_saves() -> None:
    """An allreduce of 1 MB of 4 ranks: rabenseifner sends a byte 1.5 times, recursive doubling twice."""
    call = ImportedCall("Allreduce", 0, 0, sent_bytes=1_000_000, received_bytes=1_000_000)
    by = ReplayBy(parameters=LogGOPS.from_ns(L=1000, o=100, g=100, G=1))
    program = TracedProgram(
        "trace", trace_of(*4 * [[call] * 5]), choose=lambda _: AlgorithmChoice("recursive-doubling")
    )
    (row,) = savings(program, by).rows
    assert row.what == "MPI_Allreduce by rabenseifner"
    assert row.seconds == pytest.approx(5 * 0.5e-3, rel=0.05)
    assert "--operation allreduce" in row.how
    already = TracedProgram(
        "trace", program.trace, choose=lambda _: AlgorithmChoice("rabenseifner")
    )
    assert savings(already, by).rows == ()
