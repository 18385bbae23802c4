"""How long a measurement will go on, learnt from what its records took so far."""

from __future__ import annotations

from collections.abc import Sequence


class TimeLeft:
    """Predicts the time left from predictions for each record, corrected by the times of those that are finished.

    A record takes `a` + `b` * (its prediction): `a` is what starting and ending a record costs, which the prediction
    knows nothing of, and `b` is by how much messages are slower than predicted. Both are least squares over the
    finished records, not below 0; `b` begins at 1, which counts as much as one planned record. Least squares keep the
    sum of all times, and records come in shuffled order, so that the finished ones stand for the others.
    """

    def __init__(self) -> None:
        self._planned = 0
        self._planned_seconds = 0.0
        self._planned_squares = 0.0
        self._finished = 0
        self._predicted = 0.0
        self._squares = 0.0
        self._took = 0.0
        self._products = 0.0

    def expect(self, predictions: Sequence[float]) -> None:
        """Records with these predictions, in seconds, are planned."""
        self._planned += len(predictions)
        self._planned_seconds += sum(predictions)
        self._planned_squares += sum(prediction * prediction for prediction in predictions)

    def done(self, predicted: float, took: float) -> None:
        """A record is finished; both times in seconds."""
        self._finished += 1
        self._predicted += predicted
        self._squares += predicted * predicted
        self._took += took
        self._products += predicted * took

    @property
    def seconds(self) -> float:
        """The time left in seconds for what is planned."""
        per_record, factor = self._line()
        records = max(0, self._planned - self._finished)
        predicted = max(0.0, self._planned_seconds - self._predicted)
        return per_record * records + factor * predicted

    @property
    def took(self) -> float:
        """What the finished records took together, in seconds."""
        return self._took

    def _line(self) -> tuple[float, float]:
        """Seconds a record, and the factor on its prediction."""
        if not self._finished:
            return 0.0, 1.0
        mean, mean_took = self._predicted / self._finished, self._took / self._finished
        prior = self._planned_squares / max(1, self._planned)
        spread = self._squares - self._finished * mean * mean + prior
        common = self._products - self._finished * mean * mean_took + prior
        factor = max(0.0, common / spread) if spread > 0.0 else 0.0
        if factor * mean > mean_took:
            factor = mean_took / mean
        return mean_took - factor * mean, factor
