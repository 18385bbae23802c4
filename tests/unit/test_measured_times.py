"""Predictions follow the times that were measured; the model decides beyond them, and where nothing was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from prediction import fit_of

from chiplog.collectives.algorithm import Task
from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run
from chiplog.fitting.fit import fit
from chiplog.fitting.model_file import fits_from_json, fits_to_json
from chiplog.fitting.result import Curve, Fit
from chiplog.prediction.predict import predict
from chiplog.prediction.result import Prediction

KIB, MIB = 1 << 10, 1 << 20
US = 1e-6
SAMPLES = 21
HEADER = "pattern,direction,message_bytes,train,delay_seconds,record,seconds"


def ping_pongs(half_round_trips: Mapping[int, float], scatter: float = 0.0) -> list[str]:
    """Rows of half round trips, in seconds by size."""
    spread = np.linspace(1.0 - scatter, 1.0 + scatter, SAMPLES)
    return [
        f"ping_pong,one-way,{size},1,0,0,{seconds * one:.9g}"
        for size, seconds in half_round_trips.items()
        for one in spread
    ]


def trains(sizes: Sequence[int], start: float, step: float, byte: float, samples: int) -> list[str]:
    """Rows of PRTT(1) and PRTT(10), in seconds, with so many samples each."""
    rows = []
    for size in sizes:
        single, further = 2.0 * (start + size * byte), step + size * byte
        for length, seconds in ((1, single), (10, single + 9.0 * further)):
            rows += [f"prtt,round-trip,{size},{length},0,1,{seconds:.9g}"] * samples
    return rows


def fitted(folder: Path, rows: Sequence[str], model: str) -> Fit:
    table = folder / "times.csv"
    table.write_text("\n".join([HEADER, *rows]) + "\n")
    run = read_run(import_file("csv", table, folder / "run.jsonl"))
    return fit(run, [model])[0]


def rounds(found: Fit, ranks: int, message_bytes: int) -> Prediction:
    """The dissemination barrier: log2 of the number of ranks rounds of one message."""
    task = Task(ranks, message_bytes)
    return predict([found], "barrier", task, algorithm="dissemination", anyway=True)[0]


def halves(found: Fit) -> Curve:
    return next(one for one in found.curves if one.quantity == "half_round_trip")


@pytest.mark.parametrize("model", ["loggp", "loggops"])
@pytest.mark.parametrize(("level", "last_flat", "byte"), [(1.788, 8, 2e-3), (11.2, 256, 0.7e-3)])
def test_where_the_cost_of_a_byte_is_unknown_a_measured_message_still_takes_its_time(
    tmp_path: Path, model: str, level: float, last_flat: int, byte: float
) -> None:
    times = {
        size: (level + byte * max(0, size - last_flat)) * US
        for size in (1 << power for power in range(16))
    }
    found = fitted(tmp_path, ping_pongs(times), model)
    for size, seconds in times.items():
        row = rounds(found, 8, size)
        assert row.seconds == pytest.approx(3 * seconds, rel=1e-6)
        assert row.low <= 3 * seconds * (1 + 1e-6)
    assert rounds(found, 8, 5).seconds == pytest.approx(3 * level * US, rel=1e-6)


@pytest.mark.parametrize("model", ["loggp", "loggops"])
@pytest.mark.parametrize("trained", [64 * KIB, 2 * MIB])
def test_ping_pongs_beyond_the_trains_are_fitted_and_followed(
    tmp_path: Path, model: str, trained: int
) -> None:
    """Trains of one sample a size, as Netgauge writes them, with another cost of a byte than ping-pongs have."""
    sizes = [1, *(trained * part // 16 for part in range(1, 17))]
    times = {4**power: (1.6 + 0.09e-3 * 4**power) * US for power in range(13)}
    rows = trains(sizes, 1.6 * US, 0.3 * US, 0.11e-9, samples=1) + ping_pongs(times, scatter=0.01)
    found = fitted(tmp_path, rows, model)
    assert found.segments[-1].last_bytes == max(times)
    above = [one for one in found.segments if one.first_bytes > trained]
    assert above and all(one.parameters["g"].value is None for one in above)
    for size, seconds in times.items():
        if size == 1 or size > trained:
            assert rounds(found, 4, size).seconds == pytest.approx(2 * seconds, rel=0.01)
    half = halves(found)
    followed = dict(zip(half.message_bytes.tolist(), half.measured_seconds.tolist(), strict=True))
    assert followed == pytest.approx(times, rel=0.01)


def test_trains_of_several_samples_come_first_and_ping_pongs_go_on_above_them(
    tmp_path: Path,
) -> None:
    rows = trains([1 << power for power in range(13)], 2 * US, 0.5 * US, 1e-9, samples=5)
    rows += ping_pongs({1 << power: 9 * US * (1 + 2**power / KIB) for power in range(8, 18)})
    half = halves(fitted(tmp_path, rows, "loggp"))
    measured = dict(zip(half.message_bytes.tolist(), half.measured_seconds.tolist(), strict=True))
    assert measured[4 * KIB] == pytest.approx(2 * US + 4.096 * US)
    assert measured[8 * KIB] == pytest.approx(81 * US)
    assert sorted(measured) == [1 << power for power in range(18)]


def with_halves(found: Fit, times: Mapping[int, float], share: float = 0.0) -> Fit:
    """The fit with measured half round trips, in seconds by size, with intervals of ± `share`."""
    sizes = np.array(list(times))
    seconds = np.array(list(times.values()))
    low, high = seconds * (1 - share), seconds * (1 + share)
    return replace(found, curves=(Curve("half_round_trip", sizes, seconds, low, high, seconds),))


LINE = fit_of(
    "loggp",
    {"L_half": 2 * US, "L": None, "o_s": None, "o_r": None, "g": None, "G": 1e-9},
    last_bytes=MIB,
)


def test_at_a_measured_size_the_interval_is_that_of_its_own_time() -> None:
    row = rounds(with_halves(LINE, {1: 2 * US, KIB: 4 * US}, share=0.05), 4, KIB)
    assert row.seconds == pytest.approx(8 * US)
    assert row.low == pytest.approx(7.6 * US, rel=0.02)


def test_between_two_measured_sizes_the_time_is_on_the_straight_line() -> None:
    found = with_halves(LINE, {1: 2 * US, 1001: 4 * US, 2001: 5 * US})
    assert [rounds(found, 2, size).seconds for size in (501, 1501)] == pytest.approx(
        [3 * US, 4.5 * US]
    )


def test_beyond_the_measured_sizes_the_model_goes_on_from_the_last_one() -> None:
    """T(s) of the line is 3.0 and 4.0 us at 1001 and 2001 B; 1001 B were measured 20 % above it."""
    found = with_halves(LINE, {1: 2 * US, 1001: 3.6 * US})
    assert rounds(found, 2, 1002).seconds == pytest.approx(3.6 * US, rel=1e-3)
    assert rounds(found, 2, 2001).seconds == pytest.approx(4.8 * US)


def test_nothing_is_carried_across_a_protocol_change() -> None:
    first = replace(LINE.segments[0], last_bytes=KIB)
    after = replace(first, first_bytes=KIB + 1, last_bytes=MIB, border="protocol")
    found = with_halves(replace(LINE, segments=(first, after)), {1: 2 * US, 4 * KIB: 60 * US})
    eager, rendezvous = (rounds(found, 2, size).seconds for size in (KIB, KIB + 1))
    assert eager == pytest.approx(3.02 * US, rel=0.01)
    assert rendezvous == pytest.approx(30 * US, rel=0.02)


def test_sizes_that_met_another_state_are_kept_in_the_file_and_not_followed() -> None:
    found = with_halves(LINE, {1: 2 * US, 1001: 9 * US, 2001: 4 * US})
    slow = replace(found, other_state_bytes=(1001,))
    (back,) = fits_from_json(fits_to_json([slow]))
    assert back.other_state_bytes == (1001,)
    assert rounds(back, 2, 1001).seconds == pytest.approx(3 * US)
    assert "other_state_bytes" not in fits_to_json([found])["fits"][0]  # type: ignore[index]


def test_a_train_takes_the_step_that_was_measured_whatever_bounds_it() -> None:
    """Rank 0 sends to three ranks: two more messages after the first one's time."""
    found = with_halves(LINE, {1: 2 * US, KIB: 4 * US})
    sizes, steps = np.array([1, KIB]), np.array([1 * US, 1.5 * US])
    trained = replace(found, curves=(*found.curves, Curve("gap", sizes, *[steps] * 4)))
    row = predict([trained], "bcast", Task(4, KIB), algorithm="linear")[0]
    assert row.seconds == pytest.approx(4 * US + 2 * 1.5 * US)
    assert row.low == pytest.approx(row.high)
