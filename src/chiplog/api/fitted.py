"""A fit as Python reads it: parameters by name, predictions with their band, the covariance of what was fitted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from chiplog.api.fitted_plot import draw, fitted_lines
from chiplog.api.predicted import Predicted, predict_of
from chiplog.api.tables import Rows
from chiplog.errors import UsageError
from chiplog.fitting.model_file import write_model
from chiplog.fitting.result import Fit, Parameter, Segment
from chiplog.fitting.verdict import rejection, require_usable
from chiplog.models.registry import find_model
from chiplog.optional import needed
from chiplog.report.names import model_name
from chiplog.report.parameter_text import bounds, is_known


@dataclass(frozen=True, repr=False)
class FittedModel:
    """One model, fitted: `fit["L"]`, `fit.predict(sizes)`, `fit.parameters`.

    Parameters hold for a range of sizes, the regime. `fit["L"]` is that of the smallest messages, `fit["L", 65536]`
    that of messages of 64 KiB.
    """

    details: Fit
    """All that is known of the fit: segments, protocol changes, curves, replicates."""

    @property
    def model(self) -> str:
        """The model's name, as in `chiplog list models`."""
        return self.details.model

    @property
    def target(self) -> str | None:
        """What was measured; None in files that do not say."""
        return self.details.target

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must be told, a sentence each."""
        return self.details.warnings

    @property
    def rejected(self) -> str | None:
        """Why the fit must not be predicted with, and what to do; None where its own check does not reject it."""
        return rejection(self.details)

    def __getitem__(self, asked: str | tuple[str, int]) -> Parameter:
        """The parameter of the first regime, or of that of a size in bytes; KeyError names those that there are."""
        symbol, size = (asked, None) if isinstance(asked, str) else asked
        parameters = self.regime(size).parameters
        if symbol not in parameters:
            raise KeyError(
                f"{model_name(self.model)} has no {symbol!r}; it has {', '.join(parameters)}"
            )
        return parameters[symbol]

    def __iter__(self) -> Iterator[str]:
        """The names of the parameters."""
        return iter(
            dict.fromkeys(name for segment in self.details.segments for name in segment.parameters)
        )

    def regime(self, message_bytes: int | None = None) -> Segment:
        """The regime of a size, which beyond all sizes is the nearest; the first one without a size."""
        segments = self.details.segments
        if not segments:
            raise UsageError(f"{model_name(self.model)} has no parameters here.")
        if message_bytes is None:
            return segments[0]
        inside = [segment for segment in segments if message_bytes <= segment.last_bytes]
        return inside[0] if inside else segments[-1]

    @property
    def parameters(self) -> Rows:
        """A row a regime and parameter: value and 95 % interval in SI units; None where it is not identified."""
        rows = []
        for segment in self.details.segments:
            for name, parameter in segment.parameters.items():
                known = is_known(parameter)
                rows.append(
                    {
                        "first_bytes": segment.first_bytes,
                        "last_bytes": segment.last_bytes,
                        "parameter": name,
                        "value": parameter.value if known else None,
                        "low": parameter.low,
                        "high": parameter.high,
                        "unit": parameter.unit,
                        "identified": known,
                        "reason": None if known else parameter.reason,
                    }
                )
        return Rows(tuple(rows))

    def predict(
        self,
        message_bytes: ArrayLike,
        *,
        peers: ArrayLike | None = None,
        pairs: ArrayLike | None = None,
        quantity: str | None = None,
        anyway: bool = False,
    ) -> Predicted:
        """Times of any sizes in bytes, to so many `peers` or of so many `pairs` at once, with 95 % intervals.

        All arguments broadcast to one shape. Without `peers` and `pairs` the times are half round trips. With `pairs`
        they are half round trips of each of so many pairs. With `peers` they are RTT(p), the whole round trip of one
        process with p peers (`quantity="round_trip"`), or the time to post one of p sends (`quantity="o_s"`, which
        LoP's overhead gives by default).

        UsageError for a model of something else, which names the argument that it takes, and for a fit that its own
        check rejects, unless `anyway`.
        """
        require_usable(self.details, anyway=anyway)
        return predict_of(self.details, message_bytes, peers, pairs, quantity)

    def covariance(self, message_bytes: int | None = None) -> dict[str, dict[str, float]]:
        """The covariances of the parameters of a regime by their names, from the bootstrap's replicates.

        Parameters that are not identified have none. Empty for fits without replicates, as those of old model files.
        """
        segment = self.regime(message_bytes)
        number = self.details.segments.index(segment)
        draws = {
            name: self.details.draws[f"{number}/{name}"]
            for name, parameter in segment.parameters.items()
            if is_known(parameter) and f"{number}/{name}" in self.details.draws
        }
        if not draws:
            return {}
        values = np.atleast_2d(np.cov(np.stack(list(draws.values()))))
        return {
            name: dict(zip(draws, row, strict=True))
            for name, row in zip(draws, values.tolist(), strict=True)
        }

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write a model file, which the commands predict, simulate and tune read; RunFailed where it can't be."""
        write_model(file, (self.details,))

    def plot(self, axes: Any = None) -> Any:
        """Measured times, the model's lines and their bands on matplotlib's `axes`, which are returned.

        Half round trips are drawn over the size, of k pairs a line for each k; of one process to many, RTT(p)/p (or
        the time to post one of p sends) over the number of peers p, a line for each size.

        UsageError where matplotlib is not installed, or nothing was measured that the model predicts.
        """
        pyplot = needed("matplotlib.pyplot", "a plot")
        lines = fitted_lines(self.details)
        shown = pyplot.subplots()[1] if axes is None else axes
        return draw(lines, shown)

    def __repr__(self) -> str:
        model = find_model(self.model)
        name = self.model if model is None else model_name(self.model)
        where = f" of {self.target}" if self.target else ""
        lines = [f"{name} ({self.details.method}){where}, 95 % intervals"]
        for segment in self.details.segments:
            values = ", ".join(
                _told(symbol, parameter) for symbol, parameter in segment.parameters.items()
            )
            lines.append(f"  {segment.first_bytes} to {segment.last_bytes} B: {values}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return self.parameters._repr_html_()


def _told(symbol: str, parameter: Parameter) -> str:
    if not is_known(parameter) or parameter.value is None:
        return f"{symbol} not identified" + (f" ({bounds(parameter)})" if bounds(parameter) else "")
    interval = (
        ""
        if parameter.low is None or parameter.high is None
        else f" [{parameter.low:.3g}, {parameter.high:.3g}]"
    )
    return f"{symbol} = {parameter.value:.3g} {parameter.unit}{interval}".rstrip()
