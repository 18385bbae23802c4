"""Protocol changes of real clusters, as people who know them put them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from needs import require_data

from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.protocol_changes.change import Change
from chiplog.protocol_changes.detect.breaks import find_breaks
from chiplog.protocol_changes.detect.observed import observe
from chiplog.protocol_changes.detect.segments import Lines
from chiplog.protocol_changes.find import find_changes

MIRIEL = (1420, 65536, 131072)
TAURUS = (1420, 33500, 65536)


def imported(kind: str, name: str, directory: Path) -> Dataset:
    return read_run(import_file(kind, require_data(name), directory / "run.jsonl"))


def is_at(change: Change, last_before_bytes: int, sizes: np.ndarray) -> bool:
    """Whether a change is where the limit is, give or take one sampled size."""
    first_after = int(np.searchsorted(sizes, last_before_bytes, side="right"))
    low = int(np.searchsorted(sizes, change.last_before_bytes))
    high = int(np.searchsorted(sizes, change.first_after_bytes))
    return low - 1 <= first_after - 1 <= high and low <= first_after <= high + 1 and high - low <= 3


@pytest.mark.parametrize(("name", "limits"), [("miriel_Isend", MIRIEL), ("taurus_Isend", TAURUS)])
def test_isend_durations_show_exactly_the_three_limits_of_the_cluster(
    tmp_path: Path, name: str, limits: tuple[int, ...]
) -> None:
    dataset = imported("simgrid-calibration", f"{name}.csv.gz", tmp_path)
    found = find_changes(dataset).consensus
    assert len(found) == len(limits)
    for change, limit in zip(found, limits, strict=True):
        assert is_at(change, limit, dataset.sizes()), change


@pytest.mark.parametrize(
    ("name", "limits"),
    [("miriel_PingPong", MIRIEL), ("taurus_PingPong", TAURUS), ("taurus_Recv", (1420, 65536))],
)
def test_other_operations_show_them_too(tmp_path: Path, name: str, limits: tuple[int, ...]) -> None:
    dataset = imported("simgrid-calibration", f"{name}.csv.gz", tmp_path)
    found = find_changes(dataset).consensus
    for limit in limits:
        assert any(is_at(change, limit, dataset.sizes()) for change in found), (limit, found)


def test_tukey_changes_above_128_b_above_8_kib_and_by_a_little_above_8_mib(tmp_path: Path) -> None:
    """Above 128 B a message is no longer inline: half round trips rise, gap and overhead fall, by 10 to 15 %."""
    dataset = imported("netgauge", "tukey_netgauge_prtt.dat", tmp_path)
    inline, large, small = find_changes(dataset).consensus
    assert inline.last_before_bytes <= 128 < inline.first_after_bytes <= 256
    assert set(inline.seen_in) == {"gap", "o_s", "half_round_trip"}
    assert (large.last_before_bytes, large.first_after_bytes) == (8192, 16384)
    assert (small.last_before_bytes, small.first_after_bytes) == (8 << 20, 16 << 20)
    assert "o_s" in large.seen_in
    assert large.relative_jump is not None
    assert small.relative_jump is not None
    assert large.relative_jump > 4.0
    assert 0.02 < small.relative_jump < 0.06


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("simgrid-calibration", "miriel_Isend.csv.gz"),
        ("simgrid-calibration", "taurus_PingPong.csv.gz"),
        ("netgauge", "tukey_netgauge_prtt.dat"),
    ],
)
def test_no_line_beside_a_change_has_a_negative_parameter(
    tmp_path: Path, kind: str, name: str
) -> None:

    for observed in observe(imported(kind, name, tmp_path)):
        for found in find_breaks(Lines.of(observed)):
            for line in (found.before, found.after):
                assert line.intercept_seconds >= 0.0
                assert line.slope_seconds_per_byte >= 0.0
