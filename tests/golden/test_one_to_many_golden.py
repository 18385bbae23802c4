"""One process to many: the published LoP and LogfP numbers, and LogP's formula, in us."""

from __future__ import annotations

import numpy as np
import pytest
from known_networks import last_free_of_the_gap

from chiplog.models import lop_paper
from chiplog.models.logfp import LOGFP
from chiplog.models.logp import LOGP
from chiplog.models.lop import LOP
from chiplog.models.lop_overhead import LOP_OVERHEAD
from chiplog.models.protocol import points

SEND = (22.4558, -0.0140, 9.1637, 0.0174, -0.0625, 101.3065)
RDMA_WRITE = (16.7937, 0.0058, 4.4642, 4.4751, -0.0642, 12.9209)
OVERHEAD = {"l1": 0.52, "l2": 0.84, "l3": -0.12}
LOGFP_TRUTH = {"f": 7.0, "o_min": 0.18, "o_max": 1.6, "L": 5.0, "g": 5.0}

P = (1, 2, 4, 8, 16, 64)
SEND_ROUND_TRIPS = (22.7680, 11.8571, 7.1979, 6.0609, 6.9878, 9.3529)
RDMA_ROUND_TRIPS = (16.0161, 8.2900, 5.1969, 4.8993, 6.3161, 9.0332)
O_S = (1.4745, 0.9668, 0.7365, 0.6266, 0.5729, 0.5331)
L_LITERAL = (8.4349, 3.4872, 1.3879, 0.9293, 1.4465, 2.6688)
T_ONE_TO_MANY = (9.909, 7.941, 6.288, 8.061, 23.717, 171.334)
T_LIST = (9.909, 8.908, 8.498, 12.447, 32.310, 204.922)


@pytest.mark.parametrize(
    ("printed", "golden", "best"), [(SEND, SEND_ROUND_TRIPS, 8), (RDMA_WRITE, RDMA_ROUND_TRIPS, 6)]
)
def test_lop_gives_the_published_round_trips_per_message(
    printed: tuple[float, ...], golden: tuple[float, ...], best: int
) -> None:
    six = lop_paper.printed_curve(P, printed)
    five = LOP.seconds(points("one_to_many", 1, peers=P), lop_paper.identifiable(printed))
    assert six == pytest.approx(golden, abs=6e-5)
    assert five / np.array(P) == pytest.approx(six, rel=1e-12)
    everywhere = lop_paper.printed_curve(np.arange(1, 65), printed)
    assert int(np.argmin(everywhere)) + 1 == best


def test_lop_overhead_gives_the_published_send_overheads() -> None:
    posts = LOP_OVERHEAD.seconds(points("send_overhead", 1, peers=P), OVERHEAD)
    trains = LOP_OVERHEAD.seconds(points("send_overhead", 1, train=P), OVERHEAD)
    assert posts / np.array(P) == pytest.approx(O_S, abs=6e-5)
    assert trains == pytest.approx(posts)


def derived() -> tuple[np.ndarray, np.ndarray, float]:
    overheads = LOP_OVERHEAD.seconds(points("send_overhead", 1, peers=P), OVERHEAD) / np.array(P)
    return lop_paper.printed_curve(P, SEND), overheads, float(overheads[0])


def test_lop_as_printed_gives_the_published_latencies_and_times() -> None:
    times = derived()
    assert lop_paper.latency(P, *times, paper_literal=True) == pytest.approx(L_LITERAL, abs=6e-5)
    literal = lop_paper.to_many_seconds(P, *times, paper_literal=True)
    assert literal == pytest.approx(T_ONE_TO_MANY, abs=6e-4)
    assert lop_paper.to_many_seconds(P, *times, paper_literal=True, is_list=True) == pytest.approx(
        T_LIST, abs=6e-4
    )


def test_lop_read_consistently_adds_up_to_half_the_round_trip() -> None:
    per_message, overheads, first = derived()
    whole = lop_paper.to_many_seconds(P, per_message, overheads, first)
    assert whole == pytest.approx(np.array(P) * per_message / 2 - first)
    assert whole[0] == pytest.approx(T_ONE_TO_MANY[0], abs=6e-4)
    of_list = lop_paper.latency(P, per_message, overheads, first, paper_literal=True, is_list=True)
    assert of_list[0] == pytest.approx(L_LITERAL[0], abs=6e-5)
    assert of_list[2] == pytest.approx(7.1979 / 2 - 4 * 0.7365 - 1.4745, abs=5e-4)


def test_a_list_read_consistently_waits_for_all_posts_and_then_for_the_network() -> None:
    per_message, overheads, first = derived()
    p = np.array(P)
    whole = lop_paper.latency(P, per_message, overheads, first)
    listed = lop_paper.to_many_seconds(P, per_message, overheads, first, is_list=True)
    assert listed == pytest.approx(p * overheads + whole)
    one_by_one = lop_paper.to_many_seconds(P, per_message, overheads, first)
    assert listed - one_by_one == pytest.approx((p - 1) * overheads)
    of_list = lop_paper.latency(P, per_message, overheads, first, is_list=True)
    assert of_list + p * overheads + first == pytest.approx(p * per_message / 2)


def test_logfp_gives_the_published_overheads_and_round_trips() -> None:
    few = np.arange(1, 5)
    overheads = LOGFP.seconds(points("send_overhead", 1, peers=few), LOGFP_TRUTH) / few
    assert overheads == pytest.approx((1.78, 0.98, 0.7133, 0.58), abs=6e-5)
    asked = points("one_to_many", 1, peers=(1, 7, 8, 9, 16, 64))
    golden = (13.56, 14.64, 17.16, 22.1378, 57.06, 296.985)
    assert LOGFP.seconds(asked, LOGFP_TRUTH) == pytest.approx(golden, abs=6e-5)


@pytest.mark.parametrize(("L", "g", "best"), [(5.0, 5.0, 7), (2.0, 1.0, 10)])
def test_the_least_round_trip_per_message_is_not_at_f(L: float, g: float, best: int) -> None:
    peers = np.arange(1, 65)
    per_message = LOGFP.seconds(
        points("one_to_many", 1, peers=peers), {**LOGFP_TRUTH, "L": L, "g": g}
    )
    assert int(np.argmin(per_message / peers)) + 1 == best


def test_a_gap_small_beside_the_latency_leaves_no_least_round_trip_per_message() -> None:
    peers = np.arange(1, 4097)
    seconds = LOGFP.seconds(points("one_to_many", 1, peers=peers), {**LOGFP_TRUTH, "g": 1.5})
    assert int(np.argmin(seconds / peers)) + 1 == 4096


@pytest.mark.parametrize("f", [2.0, 7.0, 12.0])
def test_logfp_is_continuous_at_f_and_leaves_its_first_branch_at_p_star(f: float) -> None:
    theta = {**LOGFP_TRUTH, "f": f}
    bend = last_free_of_the_gap(theta)
    assert bend > f
    peers = np.arange(1, 65)
    seconds = LOGFP.seconds(points("one_to_many", 1, peers=peers), theta)
    first = LOGFP.seconds(points("one_to_many", 1, peers=peers), {**theta, "g": 0.0})
    assert seconds[peers <= bend - 1] == pytest.approx(first[peers <= bend - 1])
    assert np.all(seconds[peers > bend] > first[peers > bend])


def test_logfp_without_a_gap_above_its_overhead_never_leaves_its_first_branch() -> None:
    assert np.isinf(last_free_of_the_gap({**LOGFP_TRUTH, "g": 0.18}))


@pytest.mark.parametrize(("o_r", "overheads"), [(1.5, 4), (0.0, 2)])
def test_logp_holds_both_printed_forms_of_one_to_many(o_r: float, overheads: int) -> None:
    theta = {"L": 5.0, "o_s": 1.5, "o_r": o_r, "g": 2.0}
    peers = np.array(P)
    found = LOGP.seconds(points("one_to_many", 1, peers=peers), theta)
    assert found == pytest.approx(2 * 5.0 + overheads * 1.5 + (peers - 1) * 2.0)
    slow = LOGP.seconds(points("one_to_many", 1, peers=peers), {**theta, "g": 1.0})
    assert slow == pytest.approx(2 * 5.0 + overheads * 1.5 + (peers - 1) * 1.5)
