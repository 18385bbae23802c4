"""Series of k pairs whose true parameters are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from synthetic import SyntheticDisturbance, as_run, piecewise_seconds

from chiplog.dataset.series import Dataset, Series
from chiplog.models.piecewise import Piece
from chiplog.models.protocol import Model, points

UNDISTURBED = SyntheticDisturbance()


def pairs_dataset(
    model: Model,
    pieces: Sequence[Piece],
    sizes: Sequence[int],
    *,
    pairs: Sequence[int] = tuple(range(1, 17)),
    launches: int = 1,
    samples: int = 1,
    direction: str = "round-trip",
    disturbance: SyntheticDisturbance = UNDISTURBED,
    seed: int = 0,
) -> Dataset:
    """A complete Dataset with the exact time that `model` says of each size and number of pairs, then disturbed.

    `disturbance` acts on samples (`noise`) and on whole launches (`launch_noise`).
    """
    rng = np.random.default_rng(seed)
    made: list[Series] = []
    for launch in range(launches):
        factor = float(np.exp(disturbance.launch_noise * rng.standard_normal()))
        for size in sizes:
            exact = piecewise_seconds(model, pieces, points("pairs", size, pairs=pairs))
            for count, whole in zip(pairs, exact.tolist(), strict=True):
                scatter = np.exp(disturbance.noise * rng.standard_normal(samples))
                seconds = (whole if direction == "round-trip" else whole / 2.0) * factor * scatter
                made.append(
                    Series(
                        pattern="pairs",
                        operation="send",
                        posting="normal",
                        direction=direction,
                        message_bytes=size,
                        train=1,
                        delay_seconds=0.0,
                        batch=1,
                        launch=launch,
                        visit=0,
                        record_id=len(made),
                        placement_seconds=None,
                        messages=2 * count * samples,
                        bytes_sent=2 * count * samples * size,
                        elapsed_seconds=float(seconds.sum()),
                        warmup_seconds=np.empty(0),
                        seconds=seconds,
                        pairs=count,
                    )
                )
    return as_run(made, seed)
