"""What a fit predicts of sizes, peers and pairs, as arrays and as a table."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chiplog.api.tables import Rows
from chiplog.errors import UsageError
from chiplog.fitting.predictions.predictor import HALF_ROUND_TRIP, predictor
from chiplog.fitting.result import Fit
from chiplog.models.protocol import Model, Points, points
from chiplog.models.registry import load_model
from chiplog.prediction.network import is_beyond_sizes
from chiplog.prediction.patterns import PAIRS, POSTS, ROUND_TRIPS, pattern_times

QUANTITIES = {"round_trip": ROUND_TRIPS, "o_s": POSTS}
"""What is predicted over peers, and the pattern that measures it."""


@dataclass(frozen=True, repr=False)
class Predicted:
    """Predicted times; all arrays have the shape of the broadcast arguments, times are in seconds, NaN where unknown.

    The next measured median lies between `low_seconds` and `high_seconds` 19 times of 20; both are NaN of a fit that
    has too few points to tell. Where nothing of the size, the peers or the pairs was measured, `extrapolated` is true.
    """

    message_bytes: NDArray[np.int64]
    seconds: NDArray[np.float64]
    low_seconds: NDArray[np.float64]
    high_seconds: NDArray[np.float64]
    extrapolated: NDArray[np.bool_]
    peers: NDArray[np.int64] | None = None
    """The numbers of peers, where they were asked about."""
    pairs: NDArray[np.int64] | None = None
    """The numbers of pairs, where they were asked about."""
    quantity: str = HALF_ROUND_TRIP
    """`half_round_trip`, `round_trip` (RTT(p), whole) or `o_s` (the time to post one of p sends)."""

    @property
    def rows(self) -> Rows:
        """A row a time."""
        order = ("message_bytes", "peers", "pairs", "seconds", "low_seconds", "high_seconds")
        names = [name for name in (*order, "extrapolated") if getattr(self, name) is not None]
        columns = (getattr(self, name).ravel().tolist() for name in names)
        return Rows(tuple(dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)))

    def to_dataframe(self) -> Any:
        """A pandas.DataFrame; UsageError where pandas is not installed."""
        return self.rows.to_dataframe()

    def __repr__(self) -> str:
        return repr(self.rows)

    def _repr_html_(self) -> str:
        return self.rows._repr_html_()

    def shaped(self, shape: tuple[int, ...]) -> Predicted:
        """The same times with arrays of another shape."""
        arrays: dict[str, Any] = {
            field.name: value.reshape(shape)
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), np.ndarray)
        }
        return replace(self, **arrays)


def predict_of(
    fit: Fit,
    message_bytes: ArrayLike,
    peers: ArrayLike | None,
    pairs: ArrayLike | None,
    quantity: str | None,
) -> Predicted:
    """What `FittedModel.predict` returns."""
    model = load_model(fit.model)
    _refuse_unlike(fit, model, peers, pairs, quantity)
    sizes = _counts("message_bytes", message_bytes, least=0)
    if pairs is not None:
        sizes, counts = np.broadcast_arrays(sizes, _counts("pairs", pairs, least=1))
        asked = points(PAIRS, sizes.ravel(), pairs=counts.ravel())
        return _of_pattern(fit, asked, HALF_ROUND_TRIP, pairs=asked.pairs).shaped(sizes.shape)
    if peers is not None:
        name = quantity or ("round_trip" if ROUND_TRIPS in model.patterns else "o_s")
        sizes, counts = np.broadcast_arrays(sizes, _counts("peers", peers, least=1))
        asked = points(QUANTITIES[name], sizes.ravel(), peers=counts.ravel())
        return _of_pattern(fit, asked, name, peers=asked.peers).shaped(sizes.shape)
    return _half_round_trips(fit, model, sizes.ravel()).shaped(sizes.shape)


def _of_pattern(fit: Fit, asked: Points, quantity: str, **counts: NDArray[np.int64]) -> Predicted:
    times = pattern_times(fit, asked)
    return Predicted(
        asked.message_bytes,
        times.seconds,
        times.low_seconds,
        times.high_seconds,
        times.extrapolated,
        quantity=quantity,
        **counts,
    )


def _half_round_trips(fit: Fit, model: Model, sizes: NDArray[np.int64]) -> Predicted:
    seconds = predictor(fit)(points("ping_pong", sizes)) / 2.0
    if not np.isfinite(seconds).any():
        raise UsageError(
            f"{model.label} does not predict half round trips of these sizes; LogGP and Hockney do."
        )
    band = fit.band(HALF_ROUND_TRIP)
    width = np.full(sizes.shape, np.nan) if band is None else band.at(sizes)
    low, high = seconds * np.maximum(0.0, 1.0 - width), seconds * (1.0 + width)
    return Predicted(sizes, seconds, low, high, is_beyond_sizes(fit, sizes))


def _refuse_unlike(
    fit: Fit, model: Model, peers: ArrayLike | None, pairs: ArrayLike | None, quantity: str | None
) -> None:
    """Raises UsageError where the arguments do not suit the model."""
    over_peers = ROUND_TRIPS in model.patterns or model.patterns == (POSTS,)
    over_sizes = "ping_pong" in model.patterns
    takes = "pairs" if PAIRS in model.patterns else "peers" if over_peers else "neither"
    given = [name for name, numbers in (("peers", peers), ("pairs", pairs)) if numbers is not None]
    if given and given != [takes]:
        hint = "" if takes == "neither" else f"; give {takes}"
        raise UsageError(f"{' and '.join(given)}: {model.label} has no number of such{hint}.")
    if not given and not over_sizes and takes != "neither":
        raise UsageError(
            f"{takes}: {model.label} predicts times by size and number of {takes}; say how many."
        )
    if quantity is None:
        return
    known = [name for name, pattern in QUANTITIES.items() if pattern in model.patterns]
    if peers is None or quantity not in known:
        accepted = f"; with peers, {model.label} takes {', '.join(known)}" if over_peers else ""
        raise UsageError(f"quantity: is {quantity!r}{accepted}.")


def _counts(name: str, values: ArrayLike, *, least: int) -> NDArray[np.int64]:
    """Whole numbers as an array of one dimension or more; UsageError below `least`."""
    given = np.atleast_1d(np.asarray(values))
    if given.size and (given.dtype.kind not in "iuf" or np.any(given != np.floor(given))):
        raise UsageError(f"{name}: accepts whole numbers only.")
    counts = given.astype(np.int64)
    if np.any(counts < least):
        raise UsageError(f"{name}: is {counts.min()}; it accepts {least} or more.")
    return counts
