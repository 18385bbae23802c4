"""How often protocol changes are found, found to the byte, and found where there are none."""

from __future__ import annotations

import pytest
from changes_machine import ONE_PROTOCOL, THREE_PROTOCOLS, Machine
from many_runs import LONG
from synthetic import SyntheticDisturbance, size_grid, synthetic_dataset

from chiplog.dataset.series import Dataset
from chiplog.models.piecewise import Piece
from chiplog.protocol_changes.ask.refine import Refiner
from chiplog.protocol_changes.change import Change
from chiplog.protocol_changes.find import find_changes
from chiplog.protocol_changes.result import ChangesResult

SEEDS = 100 if LONG else 40
NOISE = SyntheticDisturbance(noise=0.05, outliers=0.01)
SIZES = size_grid()

pytestmark = pytest.mark.statistics


def measured(pieces: tuple[Piece, ...], seed: int) -> Dataset:
    return synthetic_dataset(pieces, SIZES, samples=20, visits=3, disturbance=NOISE, seed=seed)


def adjacent(change: Change, limit: int) -> bool:
    first_after = next(index for index, size in enumerate(SIZES) if size > limit)
    low, high = SIZES.index(change.last_before_bytes), SIZES.index(change.first_after_bytes)
    return abs(low - first_after + 1) <= 1 and abs(high - first_after) <= 1


def refined(
    dataset: Dataset, found: ChangesResult, seed: int, pieces: tuple[Piece, ...] = THREE_PROTOCOLS
) -> tuple[Change, ...]:
    refiner = Refiner(dataset, found.consensus, suspects=found.suspects, seed=seed)
    machine = Machine(pieces, seed=1000 + seed)
    while (request := refiner.next()) is not None:
        refiner.feed(machine.measure(request))
    return refiner.changes


def test_of_noisy_runs_99_in_100_show_both_changes_and_refine_them_to_the_byte() -> None:
    found, exact = 0, 0
    for seed in range(SEEDS):
        dataset = measured(THREE_PROTOCOLS, seed)
        result = find_changes(dataset)
        changes = result.consensus
        found += len(changes) == 2 and adjacent(changes[0], 8192) and adjacent(changes[1], 65536)
        limits = [
            (change.last_before_bytes, change.first_after_bytes)
            for change in refined(dataset, result, seed)
        ]
        exact += limits == [(8192, 8193), (65536, 65537)]
    assert found >= 0.99 * SEEDS
    assert exact >= 0.99 * SEEDS


def test_of_noisy_runs_of_one_protocol_at_most_one_in_100_shows_a_change() -> None:
    false, false_when_measured_again = 0, 0
    for seed in range(SEEDS):
        dataset = measured(ONE_PROTOCOL, seed)
        result = find_changes(dataset)
        false += bool(result.consensus)
        false_when_measured_again += bool(refined(dataset, result, seed, ONE_PROTOCOL))
    assert false <= 0.01 * SEEDS
    assert false_when_measured_again <= 0.01 * SEEDS
