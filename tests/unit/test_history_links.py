"""A history tells of one pair, or of a class of links, whether it changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from command import chiplog
from history_by_hand import add_run, names_of

import chiplog as chiplog_in_python
from chiplog.errors import UsageError
from chiplog.machine_survey.pair_values import Kind, PairValues
from chiplog.run_history.result import HistoryRow, judge_history

NODES, LEAF_SIZE, DAYS, CHANGE = 12, 4, 24, 20
KINDS: tuple[Kind, ...] = ("bandwidth", "latency")


def sweep(
    kind: Kind,
    day: int,
    names: list[str],
    slower: Mapping[str, float],
    leaf_size: int = LEAF_SIZE,
) -> PairValues:
    """All pairs of a day, of leaves that show; `slower` are factors of the pair 1 with 6 and of each class."""
    generator = np.random.default_rng((day, len(kind)))
    first, second = np.triu_indices(len(names), 1)
    turned = generator.random(first.size) < 0.5
    clients, servers = np.where(turned, second, first), np.where(turned, first, second)
    across = first // leaf_size != second // leaf_size
    time = np.where(across, 3e-6 * slower.get("spine", 1.0), 2e-6 * slower.get("leaf", 1.0))
    time = time * np.exp(0.01 * generator.standard_normal(first.size))
    time[(first == 1) & (second == 6)] *= slower.get("pair", 1.0)
    values = time if kind == "latency" else 1e4 / time
    return PairValues(tuple(names), clients, servers, values, kind, np.zeros_like(clients))


def machine(
    history: Path, slower: Mapping[str, float], *, leaf_size: int = LEAF_SIZE, domain: str = ""
) -> Path:
    generator = np.random.default_rng(1)
    for day in range(DAYS):
        names = [f"{name}{domain if day % 2 else ''}" for name in names_of(NODES)]
        is_new = slower if day >= CHANGE else {}
        pairs = [sweep(kind, day, names, is_new, leaf_size) for kind in KINDS]
        add_run(history, generator.normal(0, 0.004, (2, NODES)), day, names=names, of_pairs=pairs)
    return history


def verdicts(rows: tuple[HistoryRow, ...]) -> dict[str, str]:
    return {one.quantity: one.verdict for one in rows}


def test_a_pair_that_is_slower_since_a_day_is_said_so_and_its_neighbour_is_not(
    tmp_path: Path,
) -> None:
    history = machine(tmp_path / "h", {"pair": 1.2}, domain=".Cluster")
    rows = judge_history(history, pair="N0001,n0006.cluster").rows
    assert verdicts(rows) == {"bandwidth": "changed", "latency": "changed"}
    for row in rows:
        assert row.name == "N0001 with n0006.cluster"
        assert (row.since or "").startswith("2026-01-21")
        expected = 0.2 if row.quantity == "latency" else 1 / 1.2 - 1
        assert row.low is not None and row.high is not None
        assert row.low < expected < row.high
    assert verdicts(judge_history(history, pair="n0001,n0007").rows) == {
        "bandwidth": "same", "latency": "same",
    }  # fmt: skip


def test_a_class_of_links_that_changed_is_told_from_the_other(tmp_path: Path) -> None:
    history = machine(tmp_path / "h", {"spine": 1.1})
    (spine,) = (
        one for one in judge_history(history, link_class="spine").rows if one.quantity == "latency"
    )
    assert (spine.name, spine.verdict) == ("pairs between leaves", "changed")
    assert spine.effect == pytest.approx(0.1, abs=0.01)
    assert verdicts(judge_history(history, link_class="leaf").rows) == {
        "bandwidth": "same", "latency": "same",
    }  # fmt: skip
    everything = judge_history(history, link_class="all").rows
    assert verdicts(everything) == {"bandwidth": "changed", "latency": "changed"}


def test_what_a_history_lacks_is_wrong_usage(tmp_path: Path) -> None:
    flat = machine(tmp_path / "flat", {}, leaf_size=NODES)
    for words, reason in (
        ({"pair": "n0001"}, "accepts two nodes"),
        ({"pair": "n0001,N0001.cluster"}, "accepts two nodes"),
        ({"pair": "n0001,n0099"}, "no run of the last 60 days has the pair"),
        ({"pair": "n0001,n0002", "node": "n0001"}, "one of them at a time"),
        ({"link_class": "socket"}, "is not known; it accepts all"),
        ({"link_class": "leaf"}, "show no leaves"),
    ):
        with pytest.raises(UsageError, match=reason):
            judge_history(flat, **words)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"^link_class: "):
        chiplog_in_python.history(flat, link_class="socket")
    assert chiplog_in_python.history(flat, pair=("n0001", "n0002")).rows


def test_the_command_asks_for_a_pair_and_for_a_class(tmp_path: Path) -> None:
    history = machine(tmp_path / "h", {"pair": 1.2})
    asked = chiplog("history", history, "--pair", "n0001,n0006")
    assert asked.code == 0, asked.stderr
    assert "n0001 with n0006 latency   CHANGED since 2026-01-21" in asked.stdout
