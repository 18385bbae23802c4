"""Published figures of barriers under LoP, LogfP and LogGP, and n* of the n-way dissemination."""

from __future__ import annotations

import pytest
from prediction import fit_of

from chiplog.collectives.algorithm import Task
from chiplog.collectives.barrier.n_way_dissemination import round_count
from chiplog.fitting.result import Fit
from chiplog.models.lop_paper import identifiable
from chiplog.prediction.n_way import best_peers, best_peers_exhaustively, candidates
from chiplog.prediction.predict import predict
from chiplog.prediction.result import LOWER_BOUND

US = 1e-6
SEND = (22.4558, -0.0140, 9.1637, 0.0174, -0.0625, 101.3065)
RDMA = (16.7937, 0.0058, 4.4642, 4.4751, -0.0642, 12.9209)
GOLDEN_ROUNDS = {
    64: [6, 4, 3, 3, 3, 3, 2, 2],
    100: [7, 5, 4, 3, 3, 3, 3, 3],
    1000: [10, 7, 5, 5, 4, 4, 4, 4],
    17: [5, 3, 3, 2, 2, 2, 2, 2],
}


def lop(printed: tuple[float, ...]) -> Fit:
    values = identifiable(printed)
    return fit_of("lop", {k: v * US if k in ("C", "l1", "A") else v for k, v in values.items()})


LOGFP = fit_of("logfp", {"L": 5 * US, "g": 5 * US, "f": 7, "o_min": 0.18 * US, "o_max": 1.6 * US})
LOGGP = fit_of("loggp", {"L": 2500e-9, "o_s": 1500e-9, "o_r": 1500e-9, "g": 1000e-9, "G": 6e-9})


def seconds(fit: Fit, operation: str, algorithm: str, ranks: int, **options: int) -> float:
    peers = options.get("peers")
    task = Task(ranks, options.get("message_bytes", 1), peers=peers or 2)
    return predict([fit], operation, task, algorithm=algorithm, peers=peers)[0].seconds


@pytest.mark.parametrize("ranks", GOLDEN_ROUNDS)
def test_n_way_dissemination_has_the_golden_number_of_rounds(ranks: int) -> None:
    assert [round_count(ranks, peers) for peers in range(1, 9)] == GOLDEN_ROUNDS[ranks]


@pytest.mark.parametrize(
    ("printed", "ranks", "peers", "dissemination", "best"),
    [
        (RDMA, 64, 3, 48.05, 27.29),
        (RDMA, 8, 2, 24.02, 16.58),
        (RDMA, 32, 5, 40.04, 24.26),
        (SEND, 64, 3, 68.30, 38.67),
        (SEND, 8, 7, 34.15, 21.28),
    ],
)
def test_n_star_and_its_gain_are_the_golden_ones(
    printed: tuple[float, ...], ranks: int, peers: int, dissemination: float, best: float
) -> None:
    rows = predict([lop(printed)], "barrier", Task(ranks))
    by_name = {row.algorithm: row for row in rows}
    n_way = by_name["n-way-dissemination"]
    assert n_way.peers == peers
    assert n_way.seconds / US == pytest.approx(best, abs=0.006)
    assert by_name["dissemination"].seconds / US == pytest.approx(dissemination, abs=0.006)


@pytest.mark.parametrize("fit", [lop(SEND), lop(RDMA), LOGFP, LOGGP], ids=lambda fit: fit.model)
@pytest.mark.parametrize("ranks", [*range(1, 41), 64, 81, 100, 125])
def test_the_candidates_hold_the_best_of_all_n(fit: Fit, ranks: int) -> None:
    def time(peers: int) -> float:
        return seconds(fit, "barrier", "n-way-dissemination", ranks, peers=peers)

    assert len(candidates(ranks)) <= max(1, (ranks - 1).bit_length())
    assert best_peers(ranks, time) == best_peers_exhaustively(ranks, time)


def test_a_dissemination_barrier_of_16_ranks_is_predicted_at_22000_ns() -> None:
    assert seconds(LOGGP, "barrier", "dissemination", 16) == pytest.approx(22000e-9, rel=1e-12)


def test_a_binomial_reduce_of_1024_bytes_over_8_ranks_is_predicted_at_34914_ns() -> None:
    found = seconds(LOGGP, "reduce", "binomial", 8, message_bytes=1024)
    assert found == pytest.approx(34914e-9, rel=1e-12)


def test_n_way_dissemination_under_logp_is_the_published_formula_where_L_is_long() -> None:
    L, o, g = 100 * US, 0.15 * US, 0.4 * US
    patient = fit_of("logp", {"L": L, "o_s": o, "o_r": o, "g": g})
    for peers, rounds in ((1, 6), (3, 3), (7, 2), (63, 1)):
        expected = rounds * (L + 2 * o + (peers - 1) * max(g, o))
        found = seconds(patient, "barrier", "n-way-dissemination", 64, peers=peers)
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("ranks", [2, 3, 8, 31, 64, 100])
def test_one_row_is_the_lower_bound_and_nothing_is_below_it(ranks: int) -> None:
    for operation in (
        "barrier",
        "bcast",
        "reduce",
        "gather",
        "scatter",
        "allreduce",
        "allgather",
        "alltoall",
        "reduce_scatter",
        "scan",
        "halo",
    ):
        for message_bytes in (1, 100, 10000):
            *rows, bound = predict([LOGGP], operation, Task(ranks, message_bytes))
            assert bound.algorithm == LOWER_BOUND
            assert [row.seconds for row in rows] == sorted(row.seconds for row in rows)
            assert 0 < bound.seconds <= rows[0].seconds * (1 + 1e-12), (operation, message_bytes)
