"""Numbers as text: read back, they are what they were, to the digits that are shown."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chiplog.report import format

FACTORS = {
    "s": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12},
    "s/B": {"s/B": 1.0, "ms/B": 1e-3, "us/B": 1e-6, "ns/B": 1e-9, "ps/B": 1e-12},
    "B/s": {"B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12},
}
units = st.sampled_from(sorted(FACTORS))
times = st.floats(min_value=1e-10, max_value=1e4)


def read(text: str, unit: str) -> float:
    number, suffix = text.split(" ")
    return float(number.replace(",", "")) * FACTORS[unit][suffix]


@given(times, units)
def test_a_printed_value_reads_back_to_its_four_digits(number: float, unit: str) -> None:
    assert read(format.value(number, unit), unit) == pytest.approx(number, rel=5.1e-4)


@given(times, units)
def test_a_printed_value_has_one_to_three_digits_before_the_point(number: float, unit: str) -> None:
    digits = format.value(number, unit).split(" ")[0].replace(",", "").partition(".")[0]
    if 1e-9 <= number < 1000:
        assert 1 <= len(digits) <= (3 if unit != "B/s" or number >= 1 else 4)


def test_a_zero_that_is_fixed_has_no_interval() -> None:
    assert format.value_and_interval(0.0, 0.0, 0.0, "s") == ("0 s", format.NOTHING)


@given(
    times,
    st.floats(min_value=0.0, max_value=0.9),
    st.floats(min_value=0.0, max_value=5.0),
    units,
)
def test_a_printed_interval_encloses_what_it_enclosed(
    number: float, below: float, above: float, unit: str
) -> None:
    low, high = number * (1 - below), number * (1 + above)
    value, interval = format.value_and_interval(number, low, high, unit)
    bounds = re.fullmatch(r"\[([\d,.]+), ([\d,.]+)\]", interval)
    assert bounds is not None
    suffix = value.split(" ")[1]
    shown = [float(b.replace(",", "")) * FACTORS[unit][suffix] for b in bounds.groups()]
    assert shown[0] <= read(value, unit) <= shown[1]
    half = max(high - number, number - low)
    assert shown[1] - shown[0] == pytest.approx(high - low, abs=max(0.11 * half, 0.11 * number))


@given(times, st.floats(min_value=1e-4, max_value=0.5), units)
def test_a_symmetric_interval_is_printed_as_plus_or_minus(
    number: float, relative: float, unit: str
) -> None:
    text = format.with_interval(number, number * (1 - relative), number * (1 + relative), unit)
    assert re.fullmatch(r"[\d,.]+ ± [\d,.]+ \S+", text)


@pytest.mark.parametrize(
    ("number", "low", "high", "expected"),
    [
        (4.574e-5, 4.53e-5, 4.618e-5, "45.74 ± 0.44 us"),
        (4.574e-5, 4.53e-5, 4.71e-5, "45.7 [45.3, 47.1] us"),
        (4.574e-5, None, None, "45.74 us"),
        (4.574e-5, 4.574e-5, 4.574e-5, "45.74 [45.74, 45.74] us"),
        (1e-9, 0.0, 5e-9, "1.0 [0.0, 5.0] ns"),
        (None, 1.0, 2.0, "—"),
        (math.nan, 1.0, 2.0, "—"),
    ],
)
def test_digits_follow_the_interval(
    number: float | None, low: float | None, high: float | None, expected: str
) -> None:
    assert format.with_interval(number, low, high, "s") == expected


@pytest.mark.parametrize(
    ("number", "unit", "expected"),
    [
        (0.0, "s", "0 s"),
        (9.9996e-7, "s", "1.000 us"),
        (999.4e-9, "s", "999.4 ns"),
        (8.49e-9, "s/B", "8.490 ns/B"),
        (12.35e9, "B/s", "12.35 GB/s"),
        (1.25, "1", "1.250"),
        (math.inf, "s", "—"),
        (1e300, "s", "1.000e+300 s"),
        (-17.8e-6, "s", "-17.80 us"),
        (8514.7, "B", "8,515 B"),
        (4096, "B", "4 KiB"),
    ],
)
def test_values_are_printed_with_their_prefix(number: float, unit: str, expected: str) -> None:
    assert format.value(number, unit) == expected


@given(st.integers(min_value=0, max_value=2**50))
def test_a_message_size_is_never_rounded(size: int) -> None:
    number, unit = format.message_size(size).split(" ")
    factors = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
    if size < 10**15:
        assert int(number.replace(",", "")) * factors[unit] == size


def test_decimal_and_binary_units_are_never_mixed_up() -> None:
    assert format.volume(2**30) == "1.07 GB"
    assert format.message_size(2**30) == "1 GiB"
    assert format.value(2.0**30, "B/s") == "1.074 GB/s"
    assert format.volume(999_999) == "1.00 MB"
    assert format.volume(12) == "12 B"


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        (0.0412, "4.1 %"),
        (3.5, "350 %"),
        (0.0, "0 %"),
        (0.00004, "0.004 %"),
        (12.3456, "1,235 %"),
        (1e9, "1.0e+11 %"),
        (None, "—"),
        (math.nan, "—"),
    ],
)
def test_ratios_are_printed_as_per_cent(ratio: float | None, expected: str) -> None:
    assert format.percent(ratio) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.0421, "42 ms"),
        (0.42, "0.42 s"),
        (9.97, "10 s"),
        (26.4, "26 s"),
        (59.7, "1 min 00 s"),
        (174.0, "2 min 54 s"),
        (11_220.0, "3 h 07 min"),
        (math.inf, "—"),
        (None, "—"),
    ],
)
def test_durations_are_printed_for_people(seconds: float | None, expected: str) -> None:
    assert format.duration(seconds) == expected
