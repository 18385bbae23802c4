"""What is asked of a fit, and what comes of it: the fits, and the models that have nothing to say about a dataset.

Whether a model can be fitted is decided in one place, by fitting it: whatever it lacks (round trips, a second size, a
number of pairs) it refuses in a sentence, which the outcome keeps. Reports and comparisons print it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from chiplog.fitting.quantities.settings import REPLICATES
from chiplog.fitting.result import Fit
from chiplog.protocol_changes.change import Change

Boundaries = Sequence[Change] | Sequence[int] | Literal["auto"] | None
"""Protocol changes, or the last size in bytes before each; "auto" finds them, None means one protocol."""


@dataclass(frozen=True)
class FitRequest:
    """Which models are fitted to a dataset, and how; see `chiplog.fitting.fit.fit`."""

    models: Sequence[str] = ("loggp",)
    method: str | None = None
    boundaries: Boundaries = "auto"
    statistic: str = "median"
    seed: int = 0  # Given: any other is as good.
    replicates: int = REPLICATES


@dataclass(frozen=True)
class LeftOut:
    """A model that was not fitted, and why; `method` is None where no method could fit it."""

    model: str
    method: str | None
    reason: str

    @property
    def sentence(self) -> str:
        """Model, method and reason.

        >>> LeftOut("loggp", "prtt", "the run lacks round trips.").sentence
        'Model loggp by prtt: the run lacks round trips.'
        """
        return f"Model {self.model}{f' by {self.method}' if self.method else ''}: {self.reason}"


@dataclass(frozen=True)
class FitOutcome:
    """The fits that could be made, and the models that were left out."""

    fits: tuple[Fit, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @classmethod
    def joined(cls, outcomes: Iterable[FitOutcome]) -> FitOutcome:
        """All of several outcomes, in their order."""
        parts = list(outcomes)
        return cls(
            tuple(fit for part in parts for fit in part.fits),
            tuple(refusal for part in parts for refusal in part.left_out),
        )


def left_out_lines(left_out: Iterable[LeftOut]) -> tuple[str, ...]:
    """A line for each reason, with the models that it keeps out.

    >>> left_out_lines([LeftOut("logp", method, "the run lacks round trips.") for method in ("prtt", "bell")])
    ('Left out: logp (prtt, bell): the run lacks round trips.',)
    """
    by_reason: dict[str, dict[str, list[str]]] = {}
    for refusal in left_out:
        methods = by_reason.setdefault(refusal.reason, {}).setdefault(refusal.model, [])
        if refusal.method and refusal.method not in methods:
            methods.append(refusal.method)
    return tuple(
        f"Left out: {', '.join(_named(*model) for model in models.items())}: {reason}"
        for reason, models in by_reason.items()
    )


def _named(model: str, methods: list[str]) -> str:
    return f"{model} ({', '.join(methods)})" if methods else model
