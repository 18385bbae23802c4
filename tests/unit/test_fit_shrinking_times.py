"""Times that shrink with the size bound no price of a byte: it is unknown then, and never 0."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import chiplog

from chiplog.fitting.estimates.parameters import unidentified
from chiplog.fitting.model_file import read_model

TARGET = (
    "sim:L=9.26us,o_s=1.27us,o_r=0us,g=9.44us,G=9.2ns,change=32768:g=52.01us:G=4.2ns,noise=0.01"
)


@pytest.mark.parametrize("high", [0.0, -1e-9, None])
def test_a_bound_that_leaves_nothing_is_none(high: float | None) -> None:
    assert unidentified("G", "s/B", "why", high=high).parameter.high is None
    assert unidentified("G", "s/B", "why", high=1e-9).parameter.high == 1e-9


def test_no_parameter_is_below_0_where_the_times_of_a_protocol_fall(tmp_path: Path) -> None:
    run, model = tmp_path / "run.jsonl", tmp_path / "model.json"
    measured = chiplog(
        *("measure", TARGET, "--pattern", "prtt", "--sizes", "1:60000:2", "--no-refine"),
        *("--seed", 7, "-o", run),
    )
    assert measured.code == 0, measured.stderr
    fitted = chiplog("fit", run, "-o", model)
    assert fitted.code == 0, fitted.stderr
    assert "<0 " not in fitted.stdout and "<0\n" not in fitted.stdout
    for fit in read_model(model):
        for segment in fit.segments:
            for one in segment.parameters.values():
                assert one.identified or one.high != 0.0, (fit.model, one)
