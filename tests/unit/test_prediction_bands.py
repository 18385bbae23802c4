"""The band about a prediction, where the model is far off."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from chiplog.fitting.predictions.bands import bands
from chiplog.fitting.regimes.partition import HALF
from chiplog.fitting.result import Band

SIZES = 2 ** np.arange(20)
MEASURED = 1e-6 + SIZES * 1e-10


def band_of(predicted: NDArray[np.floating]) -> Band:
    """The band of a model that takes `predicted` seconds, whichever size is held out."""
    half: Any = SimpleNamespace(
        sizes=SIZES,
        seconds=MEASURED,
        held_out_seconds=predicted,
        lines=SimpleNamespace(at=lambda sizes: predicted),
    )
    twice: Any = lambda points: 2.0 * predicted  # noqa: E731
    (found,) = bands({HALF: half}, None, twice, int(SIZES[-1]))
    return found


@pytest.mark.parametrize("share", [0.4, 0.8, 1.5, 3.0])
def test_a_model_that_predicts_a_share_of_the_time_has_a_band_that_reaches_the_measurement(
    share: float,
) -> None:
    predicted = share * MEASURED
    reach = predicted * band_of(predicted).relative_half_width
    assert np.all(np.abs(MEASURED - predicted) <= reach * (1 + 1e-9))


def test_sizes_that_are_predicted_to_take_no_time_have_no_say() -> None:
    band = band_of(np.where(SIZES > 4, MEASURED, 0.0))
    assert band.message_bytes.min() > 4
    assert np.all(np.isfinite(band.relative_half_width))
