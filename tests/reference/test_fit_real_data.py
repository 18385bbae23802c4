"""Fits of measurements of real clusters, where they are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from needs import require_data

from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.fitting.fit import fit
from chiplog.fitting.result import Fit

MIB = 1 << 20


@pytest.fixture(scope="module")
def tukey(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    data: Path = require_data("tukey_netgauge_prtt.dat")
    return read_run(import_file("netgauge", data, tmp_path_factory.mktemp("tukey") / "run.jsonl"))


def fits(tukey: Dataset) -> tuple[Fit, ...]:
    return fit(tukey, ["hockney", "logp", "loggp", "loggps"], boundaries=[8192, 8 * MIB])


def test_no_parameter_of_tukey_is_negative(tukey: Dataset) -> None:
    for found in fits(tukey):
        for segment in found.segments:
            for one in segment.parameters.values():
                assert one.value is None or one.value >= 0
                assert one.low is None or one.low >= 0


def test_rendezvous_on_tukey_hides_the_gap_that_netgauge_prints_as_minus_18_microseconds(
    tukey: Dataset,
) -> None:
    loggp = fits(tukey)[2]
    for segment in loggp.segments:
        if segment.first_bytes <= 8192:
            continue
        assert not segment.parameters["g"].identified
        assert "hides the gap" in (segment.parameters["g"].reason or "")


def test_tukey_agrees_with_netgauge_where_netgauge_is_sane(tukey: Dataset) -> None:
    loggp = fits(tukey)[2]
    by_size = {segment.last_bytes: segment.parameters for segment in loggp.segments}
    eager, rendezvous, last = by_size[8192], by_size[8 * MIB], by_size[max(by_size)]
    netgauge_g, netgauge_G = 1.015e-6, 0.446e-9
    assert eager["G"].value == pytest.approx(netgauge_G, rel=0.2)
    assert eager["g"].value is not None
    assert eager["g"].value < netgauge_g
    assert rendezvous["G"].value == pytest.approx(0.497e-9, rel=0.01)
    assert last["G"].value == pytest.approx(0.516e-9, rel=0.01)
    assert eager["o_s"].value == pytest.approx(1.15e-6, rel=0.05)


def test_the_cold_first_size_of_tukey_does_not_move_the_latency_by_a_quarter(
    tukey: Dataset,
) -> None:
    loggp = fits(tukey)[2]
    assert loggp.segments[0].parameters["L_half"].value == pytest.approx(5.4e-6, rel=0.06)
    assert loggp.segments[0].first_bytes == 2
    assert any("cold" in sentence for sentence in loggp.warnings)
