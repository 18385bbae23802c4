"""The published LogGP table comes back from synthetic measurements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from synthetic import size_grid, synthetic_dataset

from chiplog.fitting.by_size import line_crossing_bytes
from chiplog.fitting.fit import fit
from chiplog.models.loggp import gap
from chiplog.models.piecewise import Piece

MICRO = 1e-6
TOLERANCE = 1e-3


@dataclass(frozen=True)
class Row:
    network: str
    first_bytes: int
    latency: float
    overhead: float
    g: float
    G: float

    def theta(self, latency: float) -> dict[str, float]:
        return {
            "L": latency * MICRO,
            "o_s": self.overhead * MICRO,
            "o_r": self.overhead * MICRO,
            "g": self.g * MICRO,
            "G": self.G * MICRO,
        }


TCP = Row("TCP/GigE", 1, 45.74, 3.46, 0.915, 0.00849)
SCI = (Row("SCI", 1, 5.48, 6.10, 7.78, 0.0045), Row("SCI", 12289, 5.48, 6.10, 13.34, 0.0037))
OFED = (Row("OFED", 1, 5.96, 4.72, 5.14, 0.00073), Row("OFED", 12289, 5.96, 4.72, 21.39, 0.00103))
GM = (Row("GM", 1, 10.53, 1.27, 9.44, 0.0092), Row("GM", 32769, 10.53, 1.27, 52.01, 0.0042))
NETWORKS = {"TCP": (TCP,), "SCI": SCI, "OFED": OFED, "GM": GM}


def pieces(rows: tuple[Row, ...], *, published_half: bool) -> list[Piece]:
    """With `published_half`, the table's L is half the round trip, and L what the overheads leave of it."""
    ends = [row.first_bytes - 1 for row in rows[1:]]
    return [
        Piece(end, row.theta(row.latency - (2 * row.overhead if published_half else 0.0)))
        for row, end in zip(rows, [*ends, None], strict=True)
    ]


def sizes(rows: tuple[Row, ...]) -> tuple[int, ...]:
    edges = {row.first_bytes + step for row in rows[1:] for step in (-1, 0)}
    return tuple(sorted({*size_grid(1 << 20), *edges}))


@pytest.mark.parametrize("network", NETWORKS)
def test_every_row_of_the_golden_table_comes_back(network: str) -> None:
    rows = NETWORKS[network]
    dataset = synthetic_dataset(
        pieces(rows, published_half=False), sizes(rows), samples=3, visits=1
    )
    boundaries = [row.first_bytes - 1 for row in rows[1:]]
    for found in fit(dataset, ["loggp"], method="all", boundaries=boundaries):
        assert len(found.segments) == len(rows)
        for segment, row in zip(found.segments, rows, strict=True):
            assert segment.first_bytes == row.first_bytes
            wanted = row.theta(row.latency)
            wanted["L_half"] = wanted["L"] + 2 * wanted["o_s"]
            if found.method == "bell":
                del wanted["L"]
            for symbol, value in wanted.items():
                assert segment.parameters[symbol].value == pytest.approx(value, rel=TOLERANCE)
        assert found.error.max_relative < TOLERANCE


@pytest.mark.parametrize("network", NETWORKS)
def test_the_published_latency_is_half_the_round_trip(network: str) -> None:
    rows = NETWORKS[network]
    dataset = synthetic_dataset(pieces(rows, published_half=True), sizes(rows), samples=3, visits=1)
    boundaries = [row.first_bytes - 1 for row in rows[1:]]
    found = fit(dataset, ["loggp"], boundaries=boundaries)[0]
    for segment, row in zip(found.segments, rows, strict=True):
        parameters = segment.parameters
        assert parameters["L_half"].value == pytest.approx(row.latency * MICRO, rel=TOLERANCE)
        assert parameters["o_s"].value == pytest.approx(row.overhead * MICRO, rel=TOLERANCE)
        left = row.latency - 2 * row.overhead
        if left > 0:
            assert parameters["L"].value == pytest.approx(left * MICRO, rel=TOLERANCE)
        else:
            assert not parameters["L"].identified
            assert "does not exceed the overheads" in (parameters["L"].reason or "")


@pytest.mark.parametrize(
    ("row", "message_bytes", "micros"),
    [
        (TCP, 60000, 510.307),
        (SCI[0], 12288, 63.0715),
        (SCI[1], 12289, 58.8056),
        (OFED[0], 12288, 14.1095),
        (OFED[1], 12289, 34.0466),
        (GM[0], 32768, 310.896),
        (GM[1], 32769, 189.636),
    ],
)
def test_the_gap_of_the_table_is_the_published_check(
    row: Row, message_bytes: int, micros: float
) -> None:
    found = gap(np.array([message_bytes]), row.theta(row.latency))
    assert found[0] == pytest.approx(micros * MICRO, rel=1e-5)


@pytest.mark.parametrize(("rows", "jump"), [(SCI, -4.27), (OFED, 19.94), (GM, -121.26)])
def test_the_gap_jumps_by_the_published_amount_at_each_change(
    rows: tuple[Row, Row], jump: float
) -> None:
    before, after = rows
    limit = after.first_bytes
    found = gap(np.array([limit]), after.theta(0.0)) - gap(np.array([limit - 1]), before.theta(0.0))
    assert found[0] == pytest.approx(jump * MICRO, abs=0.005 * MICRO)


@pytest.mark.parametrize(("rows", "crossing"), [(SCI, 6951), (GM, 8515), (OFED, None)])
def test_the_lines_cross_where_the_switch_should_have_been(
    rows: tuple[Row, Row], crossing: int | None
) -> None:
    before, after = ((row.g * MICRO, row.G * MICRO) for row in rows)
    found = line_crossing_bytes(before, after)
    assert (found if found is None else round(found)) == crossing


def test_a_fit_names_the_crossing_of_its_change() -> None:
    dataset = synthetic_dataset(pieces(SCI, published_half=False), sizes(SCI), samples=3, visits=1)
    change = fit(dataset, ["loggp"], boundaries=[12288])[0].changes[0]
    assert (change.last_before_bytes, change.first_after_bytes) == (12288, 12289)
    assert change.crossing_bytes == pytest.approx(6951, rel=1e-3)
