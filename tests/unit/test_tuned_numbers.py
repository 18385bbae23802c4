"""Each number that decides about changes, states and differences is explained where it stands, and they stay few."""

from __future__ import annotations

from types import ModuleType

import pytest
from scripts import load_script

MOST = 120
MOST_OF_STUDIES = 25


@pytest.fixture(scope="module")
def counter() -> ModuleType:
    return load_script("tools/count_tuned_numbers.py")


def test_every_number_of_the_noise_model_is_marked_and_they_are_fewer_than_120(
    counter: ModuleType,
) -> None:
    numbers = [one for room in counter.ROOMS for one in counter.count_room(room, None).numbers]
    assert [one for one in numbers if one.mark is None] == []
    assert 0 < len(numbers) < MOST


def test_every_number_of_the_package_is_marked_and_few_are_of_studies(counter: ModuleType) -> None:
    numbers = counter.count_room(".", None).numbers
    assert [number for number in numbers if number.mark is None] == []
    assert 0 < sum(number.mark == "Study" for number in numbers) <= MOST_OF_STUDIES
