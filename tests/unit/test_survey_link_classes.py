"""Parameters of classes of links: right on a known network where a survey identifies them, else said to be unknown."""

from __future__ import annotations

import json
import math
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from command import chiplog

from chiplog.machine_survey.link_classes import NOT_IDENTIFIED, LinkClass, Sizes, link_classes
from chiplog.machine_survey.pair_values import Kind, PairValues
from chiplog.machine_survey.slowness_model import PairFit, fit_pairs

ROOT = Path(__file__).parents[2]
QUIET = "sim:L=5us,o=1us,g=2us,G=0.5ns"
L_HALF, G = 7e-6, 0.5e-9
MIB = 1 << 20
NODES = 12


def sweep(kind: Kind, value: float, between: float = 1.0) -> PairFit:
    """All pairs of two leaves; `between` is how many times as slow a pair between them is."""
    clients, servers = np.triu_indices(NODES, 1)
    leaves = (np.arange(NODES) >= NODES // 2).astype(np.int64)
    crosses = leaves[clients] != leaves[servers]
    slow = np.where(crosses, between, 1.0)
    values = value * (slow if kind == "latency" else 1 / slow)
    names = tuple(f"n{number}" for number in range(NODES))
    rounds = np.zeros(clients.size, dtype=np.int64)
    known = PairValues(names, clients, servers, values, kind, rounds)
    return fit_pairs(known, leaves if between != 1.0 else None)


def classes(window: int = 1, latency_bytes: int = 1, between: float = 1.0) -> tuple[LinkClass, ...]:
    window_seconds = 2 * L_HALF + window * (MIB - 1) * G
    bandwidth = MIB * window / window_seconds
    fits = {
        "bandwidth": sweep("bandwidth", bandwidth, between),
        "latency": sweep("latency", L_HALF, between),
    }
    return link_classes(fits, Sizes(latency_bytes, MIB, window))  # type: ignore[arg-type]


def test_a_survey_of_a_known_network_has_its_parameters(tmp_path: Path) -> None:
    out = tmp_path / "survey.json"
    made = chiplog(
        *("survey", QUIET, "--ranks", 8, "--once", "-o", tmp_path / "survey", "--json", out)
    )
    assert made.code == 0, made.stderr
    found = json.loads(out.read_text())
    jsonschema.validate(found, json.loads((ROOT / "schemas" / "survey.schema.json").read_text()))
    (one,) = found["classes"]
    assert (one["name"], one["pairs"]) == ("all nodes", 28)
    known = one["parameters"]
    assert known["L_half"]["value"] == pytest.approx(L_HALF, rel=1e-3)
    assert known["G"]["value"] == pytest.approx(G, rel=2e-3)
    assert known["R"]["value"] == pytest.approx(1 / G, rel=2e-3)
    for name in NOT_IDENTIFIED:
        assert known[name]["value"] is None and known[name]["reason"]


def test_classes_are_told_apart() -> None:
    within, between = classes(between=2.0)
    assert (within.name, between.name) == ("within a leaf", "between leaves")
    assert within.pairs + between.pairs == NODES * (NODES - 1) // 2
    assert within.parameters["L_half"].value == pytest.approx(L_HALF)
    assert between.parameters["L_half"].value == pytest.approx(2 * L_HALF)
    assert between.parameters["G"].value == pytest.approx(2 * G, rel=1e-3)


@pytest.mark.parametrize("window", [2, 16])
def test_a_window_of_several_messages_bounds_the_slope(window: int) -> None:
    (one,) = classes(window)
    slope, rate = one.parameters["G"], one.parameters["R"]
    assert slope.value is None and "g is not known" in str(slope.reason)
    assert slope.low is not None and slope.high is not None
    assert slope.low <= G <= slope.high * (1 + 1e-9)
    assert rate.low is not None and rate.high is not None
    assert rate.low * (1 - 1e-9) <= 1 / G <= rate.high


def test_latency_of_larger_messages_bounds_half_a_round_trip() -> None:
    (one,) = classes(latency_bytes=64)
    half = one.parameters["L_half"]
    assert half.value is None and half.low is None and half.high == pytest.approx(L_HALF)
    assert one.parameters["G"].value is None


def test_a_bound_of_a_byte_is_never_below_nothing() -> None:
    """Latencies that were disturbed more than bandwidths make the large message quicker than two small ones."""
    disturbed = {
        "bandwidth": sweep("bandwidth", 1 / G),
        "latency": sweep("latency", 1000 * L_HALF),
    }
    (link_class,) = link_classes(disturbed, Sizes(1, MIB, 1))  # type: ignore[arg-type]
    slope = link_class.parameters["G"]
    assert (slope.value, slope.low, slope.high) == (None, None, None)
    assert slope.reason == "the large message is as quick as two small ones"


def test_without_a_kind_its_parameters_are_unknown() -> None:
    (one,) = link_classes({"latency": sweep("latency", L_HALF)}, Sizes(1, MIB, 1))
    assert one.parameters["L_half"].value == pytest.approx(L_HALF)
    assert one.parameters["G"].value is None and one.parameters["G"].high is None
    assert one.parameters["R"].reason == "no bandwidth was measured"


def test_the_interval_is_that_of_the_nodes_not_of_the_pairs() -> None:
    """Nodes differ by 5 %: the median over 66 pairs is known no better than 12 nodes allow."""
    covered = 0
    for seed in range(40):
        generator = np.random.default_rng(seed)
        effects = 0.05 * generator.standard_normal(NODES)
        base = sweep("latency", L_HALF)
        values = base.values.values * np.exp(
            effects[base.values.clients] + effects[base.values.servers]
        )
        moved = PairValues(
            base.values.nodes,
            base.values.clients,
            base.values.servers,
            values,
            "latency",
            base.values.rounds,
        )
        (one,) = link_classes({"latency": fit_pairs(moved)}, Sizes(1, MIB, 1))
        half = one.parameters["L_half"]
        assert half.low is not None and half.high is not None and math.isfinite(half.high)
        covered += half.low <= L_HALF <= half.high
    assert covered >= 30  # of 40 at 90 % the chance of fewer is 1 in 1,000
