"""Which protocol changes a fit may know of while some sizes are held out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from synthetic import size_grid, synthetic_dataset

from chiplog.comparison import changes_left as room
from chiplog.comparison import models
from chiplog.comparison.changes_left import changes_left
from chiplog.comparison.expression import part
from chiplog.comparison.models import compare_models
from chiplog.dataset.series import Dataset
from chiplog.models.piecewise import Piece
from chiplog.protocol_changes.change import Change
from chiplog.protocol_changes.result import ChangesResult

TRUTH = {"L": 5e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": 0.5e-9}
SIZES = size_grid(1 << 16, per_octave=1)
CHANGE = Change(5000, 5001, "jump")


def dataset(*again: int) -> Dataset:
    """The grid, and records that measured again at some sizes."""
    grid = synthetic_dataset([Piece(None, TRUTH)], SIZES, samples=3, visits=1)
    more = synthetic_dataset([Piece(None, TRUTH)], again, samples=3, visits=1) if again else grid
    bisected = tuple(replace(one, tag={"purpose": "bisect"}) for one in more.series)
    return replace(grid, series=(*grid.series, *(bisected if again else ())))


def without(run: Dataset, *sizes: int) -> Dataset:
    return part(run, lambda one: one.message_bytes not in sizes)


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[Dataset]:
    """What was searched; each search finds a change between 256 and 512 B."""
    seen: list[Dataset] = []

    def search(run: Dataset) -> ChangesResult:
        seen.append(run)
        return ChangesResult((), (Change(256, 512, "jump"),))

    monkeypatch.setattr(room, "find_changes", search)
    monkeypatch.setattr(models, "find_changes", search)
    return seen


def test_a_change_that_was_measured_again_is_kept_without_a_search(searches: list[Dataset]) -> None:
    run = dataset(5000, 5001)
    assert changes_left([CHANGE], run, without(run, 4096, 8192)) == (CHANGE,)
    assert not searches


def test_a_change_at_a_size_that_is_held_out_lies_between_those_left(
    searches: list[Dataset],
) -> None:
    run = dataset(4096, 4090, 4097)
    (left,) = changes_left([Change(4096, 4097, "jump")], run, without(run, 4096))
    assert (left.last_before_bytes, left.first_after_bytes) == (4090, 4097)
    assert not searches


def test_a_change_with_nothing_left_on_one_side_is_not_known(searches: list[Dataset]) -> None:
    run = dataset(1, 2)
    assert changes_left([Change(1, 2, "jump")], run, without(run, 1)) == ()
    assert not searches


def test_a_change_read_off_the_grid_is_looked_for_in_what_is_left(searches: list[Dataset]) -> None:
    run = dataset()
    training = without(run, 4096)
    (left,) = changes_left([Change(2048, 4096, "jump")], run, training)
    assert (left.last_before_bytes, left.first_after_bytes) == (256, 512)
    assert searches == [training]


def test_changes_are_found_once_for_all_folds_and_models(searches: list[Dataset]) -> None:
    run = dataset(256, 512)
    rows = compare_models(run, ("hockney", "loggp"), hold_out=5)
    assert len(searches) == 1
    assert {row.error.points for row in rows} == {len(SIZES)}


def test_the_decision_stored_with_a_run_is_not_that_of_a_part_of_it() -> None:
    stored = {"schema": "chiplog.changes/1", "operation": "send", "posting": "normal"}
    run = replace(dataset(), changes=stored)
    assert without(run, 4096).changes is None
