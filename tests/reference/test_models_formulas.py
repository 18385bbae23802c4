"""Each model's formula against numbers worked out elsewhere, and LogGP's against an event-by-event simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from synthetic import piecewise_seconds

from chiplog.errors import UsageError
from chiplog.fitting.choice import fitting_methods
from chiplog.models.colours import Colour
from chiplog.models.hockney import HOCKNEY
from chiplog.models.loggp import LOGGP
from chiplog.models.loggps import LOGGPS
from chiplog.models.logp import LOGP
from chiplog.models.piecewise import Piece
from chiplog.models.plogp import PLOGP
from chiplog.models.protocol import Model, Points, points
from chiplog.models.registry import MODELS, load_model
from chiplog.plugins import load_reference

THETA = {"L": 5e-6, "o_s": 1e-6, "o_r": 1.5e-6, "g": 2e-6, "G": 0.5e-9}


def simulated(pattern: str, size: int, train: int, delay: float, theta: dict[str, float]) -> float:
    """One operation, message by message: CPU, injection, flight, matching."""
    o_s, o_r, L = theta["o_s"], theta["o_r"], theta["L"]
    bytes_after_first = max(size - 1, 0)

    def send(time: float, free: float, steps: int) -> tuple[float, float, float]:
        cpu = time + o_s
        start = max(cpu, free)
        return cpu, start + theta["g"] + steps * theta["G"], start + steps * theta["G"] + L

    clock, nic, arrivals = 0.0, 0.0, []
    for message in range(train):
        clock += delay if message else 0.0
        clock, nic, arrival = send(clock, nic, bytes_after_first)
        arrivals.append(arrival)
    if pattern == "ping_pong":
        clock += delay
    server = 0.0
    for arrival in arrivals:
        server = max(server, arrival) + o_r
    back = 0 if pattern == "flood" else bytes_after_first
    _, _, arrival = send(server, 0.0, back)
    return max(clock, arrival) + o_r


@pytest.mark.parametrize("pattern", ["prtt", "ping_pong", "flood"])
@pytest.mark.parametrize("size", [0, 1, 1024, 65536])
@pytest.mark.parametrize("train", [1, 2, 10])
@pytest.mark.parametrize("delay", [0.0, 3e-6, 40e-6])
def test_loggp_agrees_with_a_simulation_of_every_message(
    pattern: str, size: int, train: int, delay: float
) -> None:
    if pattern == "ping_pong" and train > 1:
        train = 1
    if pattern == "flood":
        delay = 0.0
    found = LOGGP.seconds(points(pattern, size, train, delay), THETA)[0]
    assert found == pytest.approx(simulated(pattern, size, train, delay, THETA), rel=1e-12)


def test_loggp_of_one_byte_is_latency_plus_both_overheads() -> None:
    round_trip = LOGGP.seconds(points("prtt", [0, 1]), THETA)
    assert round_trip == pytest.approx(2 * 7.5e-6)


def test_loggp_without_latency_uses_half_the_round_trip() -> None:
    half = {"L_half": 7.5e-6, "o_s": 1e-6, "o_r": 1.5e-6, "g": 2e-6, "G": 0.5e-9}
    asked = points("prtt", [1, 4096], 10)
    assert LOGGP.seconds(asked, half) == pytest.approx(LOGGP.seconds(asked, THETA))


def test_calls_take_the_overheads_only() -> None:
    assert LOGGP.seconds(points("send_overhead", 4096, 4), THETA)[0] == pytest.approx(4e-6)
    receives = LOGGP.seconds(points("receive_overhead", 4096, 3, 20e-6), THETA)
    assert receives[0] == pytest.approx(3 * 1.5e-6 + 2 * 20e-6)


def test_logp_does_not_depend_on_the_size() -> None:
    found = LOGP.seconds(points("prtt", [1, 1 << 20], 10), THETA)
    assert found[0] == found[1] == pytest.approx(15e-6 + 9 * 2e-6)


def test_hockney_reaches_half_its_bandwidth_at_n_half() -> None:
    theta = {"alpha": 7e-6, "R": 2e9}
    n_half = 14000
    one_way = HOCKNEY.seconds(points("ping_pong", n_half), theta)[0] / 2
    assert n_half / one_way == pytest.approx(theta["R"] / 2)


def test_hockney_says_nothing_of_trains() -> None:
    with pytest.raises(UsageError, match="says nothing"):
        HOCKNEY.seconds(points("prtt", 8, 10), {"alpha": 1e-6, "R": 1e9})


@pytest.mark.parametrize(("handshake", "extra"), [(False, 0.0), (True, 2 * 2 * 7.5e-6)])
def test_loggps_adds_its_handshake_above_s_only(handshake: bool, extra: float) -> None:
    model = replace(LOGGPS, sync_handshake=handshake)
    theta = {**THETA, "S": 1024.0}
    asked = points("prtt", [1024, 1025])
    assert model.seconds(asked, theta) - LOGGP.seconds(asked, theta) == pytest.approx([0.0, extra])


def test_loggps_waits_for_a_late_receiver_above_s_only() -> None:
    theta = {**THETA, "S": 1024.0}
    found = LOGGPS.seconds(points("late_receiver", [1024, 1025], 1, 30e-6), theta)
    assert found == pytest.approx([1e-6, 30e-6])


def test_plogp_reads_its_tables_between_and_beyond_the_entries() -> None:
    theta = {"L": 3e-6, "g(0)": 2e-6, "g(1000)": 4e-6, "g(2000)": 8e-6}
    found = PLOGP.seconds(points("prtt", [0, 500, 3000]), theta) / 2
    assert found == pytest.approx([5e-6, 6e-6, 15e-6])


def test_plogp_without_a_table_says_which_one_it_needs() -> None:
    with pytest.raises(UsageError, match=r"table of g\(s\)"):
        PLOGP.seconds(points("prtt", 8), {"L": 1e-6})


def test_a_piece_holds_up_to_its_last_byte() -> None:
    other = {**THETA, "L": 50e-6}
    found = piecewise_seconds(
        LOGGP, [Piece(1024, THETA), Piece(None, other)], points("prtt", [1024, 1025])
    )
    assert found[1] - found[0] == pytest.approx(90e-6, rel=1e-4)


PAIRS = points("pairs", [1000, 1000, 1000], pairs=[1, 4, 16])


def test_pairs_share_the_rate_of_their_node_from_where_they_reach_it() -> None:
    theta = {"s0": 5e-6, "R_C": 2e9, "R_N": 8e9}
    expected = {
        "postal": [5.5e-6, 5.5e-6, 5.5e-6],
        "max-rate": [5.5e-6, 5.5e-6, 7e-6],
        "max-rate-modified": [5.5e-6, 5.5e-6, 5.5e-6],
    }
    for name, one_way in expected.items():
        assert load_model(name).seconds(PAIRS, theta) / 2 == pytest.approx(one_way), name


def test_the_modified_model_hides_the_start_up_behind_the_node() -> None:
    theta = {"s0": 5e-6, "R_C": 2e9, "R_N": 8e9}
    asked = points("pairs", 1_000_000, pairs=16)
    assert load_model("max-rate-modified").seconds(asked, theta)[0] / 2 == pytest.approx(2e-3)
    assert load_model("max-rate").seconds(asked, theta)[0] / 2 == pytest.approx(2.005e-3)


def test_further_processes_may_add_another_rate_than_the_first() -> None:
    theta = {"s0": 0.0, "R_Cb": 2e9, "R_Ci": 1e9, "R_N": 8e9}
    found = load_model("max-rate-4").seconds(PAIRS, theta) / 2
    assert found == pytest.approx([1000 / 2e9, 4000 / 5e9, 16000 / 8e9])
    two_reach_it = {"s0": 0.0, "R_Cb": 2e9, "R_N": 8e9}
    found = load_model("max-rate-4").seconds(PAIRS, two_reach_it) / 2
    assert found == pytest.approx([1000 / 2e9, 4000 / 8e9, 16000 / 8e9])


def test_a_rate_that_is_not_known_does_not_bind() -> None:
    for name in ("max-rate", "max-rate-modified"):
        found = load_model(name).seconds(PAIRS, {"s0": 5e-6, "R_C": 2e9}) / 2
        assert found == pytest.approx([5.5e-6] * 3)


@pytest.mark.parametrize("name", ["postal", "max-rate", "max-rate-4", "max-rate-modified"])
def test_models_of_pairs_say_nothing_of_trains(name: str) -> None:
    with pytest.raises(UsageError, match="says nothing"):
        load_model(name).seconds(points("pairs", 8, 10), {})


@pytest.mark.parametrize("name", MODELS.built_in)
def test_every_model_is_complete(name: str) -> None:
    model = load_model(name)
    assert isinstance(model, Model)
    assert model.name == name
    assert model.source
    assert fitting_methods(name) == tuple(model.estimators)
    for reference in (*model.estimators.values(), model.speaker):
        assert reference is None or callable(load_reference(reference))


def test_no_two_models_are_equally_preferred() -> None:
    """Else the order of a file's fits would decide which of them predicts."""
    ranks = [load_model(name).precedence for name in MODELS.built_in]
    preferred = [rank for rank in ranks if rank]
    assert len(set(preferred)) == len(preferred)


def test_a_colour_that_is_none_is_refused() -> None:
    for colour in ("red; } body { display: none", "#12345", ""):
        with pytest.raises(ValueError, match="is not of the form"):
            Colour(colour, "#000000")
    with pytest.raises(ValueError, match="are not lengths"):
        Colour("#000000", "#000000", "9 4; }")


@pytest.mark.parametrize("lacking", ["label", "parameters", "formulas", "estimators"])
def test_a_model_that_lacks_something_cannot_be_made(lacking: str) -> None:
    with pytest.raises(ValueError, match=f"its {lacking} must not be empty"):
        replace(LOGGP, **{lacking: type(getattr(LOGGP, lacking))()})


def test_points_without_peers_address_one() -> None:
    bare = Points("one_to_many", np.array([8, 8]), np.array([1, 1]), np.zeros(2))
    assert bare.subset(np.array([True, False])).peers.tolist() == [1]
    assert LOGP.seconds(bare, THETA) == pytest.approx(15e-6)


@pytest.mark.parametrize("name", MODELS.built_in)
def test_a_pattern_that_a_model_does_not_know_is_named(name: str) -> None:
    asked = Points("barrier", np.array([1]), np.array([1]), np.array([0.0]))
    with pytest.raises(UsageError, match="barrier"):
        load_model(name).seconds(asked, {})


def test_an_unknown_model_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="hockney, logp, loggp, loggps, loggops, plogp"):
        load_model("logp2")
    assert set(MODELS.built_in) <= set(MODELS.names())
