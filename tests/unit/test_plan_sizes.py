from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chiplog.errors import UsageError
from chiplog.plan.sizes import (
    MAX_MESSAGE_BYTES,
    MAX_POINTS_PER_OCTAVE,
    MOST_SIZES,
    geometric_grid,
    parse_sizes,
)
from chiplog.plan.units import format_bytes, parse_bytes


def test_a_range_has_both_ends_and_every_power_of_two_between_them() -> None:
    sizes = parse_sizes("3:4MiB")
    assert sizes[0] == 3
    assert sizes[-1] == 4 * 2**20
    assert {2**power for power in range(2, 23)} <= set(sizes)


def test_two_points_an_octave_are_the_default() -> None:
    assert parse_sizes("1024:4096") == (1024, 1448, 2048, 2896, 4096)


def test_a_third_part_sets_the_points_per_octave() -> None:
    assert len(parse_sizes("1KiB:4KiB:8")) == 17


def test_a_range_may_begin_with_the_empty_message() -> None:
    assert parse_sizes("0:4") == (0, 1, 2, 3, 4)


def test_a_list_is_sorted_and_each_size_comes_once() -> None:
    assert parse_sizes("1KiB,8,0,8") == (0, 8, 1024)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("8:4", "is empty"),
        ("", "is empty"),
        ("1:", "missing"),
        ("1:2:3:4", "not understood"),
        ("1:8:0", "points per octave"),
        ("1:8:x", "points per octave"),
        ("-1:8", "not a size"),
        ("1:4Mib", "KiB"),
        ("1:four", "not a size"),
        ("0.5:8", "whole number"),
        ("1:64GiB", "too large"),
    ],
)
def test_a_wrong_range_names_the_option_and_what_it_accepts(text: str, words: str) -> None:
    with pytest.raises(UsageError, match="--sizes") as caught:
        parse_sizes(text)
    assert words in str(caught.value)
    assert caught.value.exit_code == 2


@given(st.integers(0, 2**24), st.integers(0, 2**24), st.integers(1, 16))
def test_a_grid_ascends_within_its_ends(one: int, other: int, density: int) -> None:
    first, last = sorted((one, other))
    sizes = geometric_grid(first, last, density)
    assert sizes[0] == first
    assert sizes[-1] == last
    assert list(sizes) == sorted(set(sizes))


@given(st.integers(0, MAX_MESSAGE_BYTES))
def test_a_formatted_size_reads_back_as_itself(size: int) -> None:
    assert parse_bytes(format_bytes(size), "--sizes") == size


def test_a_list_of_more_sizes_than_the_densest_range_is_refused() -> None:
    assert len(parse_sizes(f"0:{MAX_MESSAGE_BYTES}:{MAX_POINTS_PER_OCTAVE}")) <= MOST_SIZES
    listed = ",".join(map(str, range(MOST_SIZES + 1)))
    with pytest.raises(UsageError, match=f"would be {MOST_SIZES + 1}, and at most {MOST_SIZES}"):
        parse_sizes(listed)
    assert len(parse_sizes(listed.rpartition(",")[0])) == MOST_SIZES
