"""A regime with a single size: what its bytes cost is unknown, so bounds go on instead of a line."""

from __future__ import annotations

import numpy as np
import pytest
from synthetic import as_run

from chiplog.dataset.series import Dataset, Series
from chiplog.fitting.fit import fit
from chiplog.fitting.predictions.predictor import predictor
from chiplog.fitting.result import Fit
from chiplog.models.protocol import points

LIMIT = 32768
LAST = 65536
LAST_SECONDS = 50e-6


def table() -> Dataset:
    """Half round trips of a mean a size: a line up to 32 KiB, and one size of another protocol above."""
    sizes = 2 ** np.arange(17)
    seconds = np.where(sizes <= LIMIT, 2e-6 + 5e-10 * sizes, LAST_SECONDS)
    return as_run(
        [
            Series(
                pattern="ping_pong",
                operation="send",
                posting="normal",
                direction="one-way",
                message_bytes=int(size),
                train=1,
                delay_seconds=0.0,
                batch=1,
                launch=0,
                visit=0,
                record_id=k,
                placement_seconds=None,
                messages=1000,
                bytes_sent=1000 * int(size),
                elapsed_seconds=1.0,
                warmup_seconds=np.empty(0),
                seconds=np.array([second]),
            )
            for k, (size, second) in enumerate(zip(sizes, seconds, strict=True))
        ],
        0,
    )


def fitted(model: str) -> Fit:
    (found,) = fit(table(), models=(model,), boundaries=(LIMIT,))
    return found


@pytest.mark.parametrize(("model", "start"), [("loggp", "L_half"), ("hockney", "alpha")])
def test_the_start_up_time_of_a_single_size_is_a_bound(model: str, start: str) -> None:
    last = fitted(model).segments[-1]
    assert (last.first_bytes, last.last_bytes) == (LAST, LAST)
    parameter = last.parameters[start]
    assert not parameter.identified
    assert parameter.high == pytest.approx(LAST_SECONDS, rel=0.2)
    assert parameter.high >= LAST_SECONDS * (1 - 1e-9)


def test_a_byte_of_a_single_size_costs_at_most_all_of_its_time() -> None:
    gap = fitted("loggp").segments[-1].parameters["G"]
    assert not gap.identified
    assert gap.high >= LAST_SECONDS / LAST
    rate = fitted("hockney").segments[-1].parameters["R"]
    assert not rate.identified
    assert rate.low <= LAST / LAST_SECONDS * (1 + 1e-9)


@pytest.mark.parametrize("model", ["loggp", "hockney"])
def test_the_single_size_itself_is_predicted_as_measured(model: str) -> None:
    (round_trip,) = predictor(fitted(model))(points("ping_pong", np.array([LAST])))
    assert round_trip / 2.0 == pytest.approx(LAST_SECONDS, rel=0.01)


@pytest.mark.parametrize("model", ["loggp", "hockney", "loggops"])
def test_limits_that_no_size_separates_end_one_regime_together(model: str) -> None:
    """Limits that are asked for by themselves may lie between two sizes of the grid."""
    (found,) = fit(table(), models=(model,), boundaries=(20000, LIMIT - 1, LIMIT, 50000))
    ends = [(one.first_bytes, one.last_bytes) for one in found.segments]
    assert ends == [(2, LIMIT - 1), (LIMIT, 50000), (LAST, LAST)]
    (warning,) = (one for one in found.warnings if "between" in one)
    assert warning == (
        "No size was measured between the protocol changes at 20,000 B and 32,767 B, and 32,768 B and "
        "50,000 B: the fit takes each such two for one; measure sizes between them."
    )
