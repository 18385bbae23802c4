"""Two runs of the same measurement: `chiplog compare RUN_A RUN_B` as a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from chiplog.compare.chance import chance, in_common_state
from chiplog.compare.result import Compared, RunRow
from chiplog.compare.spread import ERROR_RATE
from chiplog.dataset.series import Dataset, Reference, Series
from chiplog.errors import UsageError
from chiplog.fit.quantities.measured import Measured
from chiplog.fit.quantities.over_sizes import series_quantity
from chiplog.fit.quantities.quantity import Quantity
from chiplog.fit.text import seconds_text
from chiplog.machine_state.states import common_reference, same_state

TOLERANCE = 0.05
"""Ratios closer to 1 than this are no difference in practice."""
SAME_PLACEMENT = 1.25
"""Up to this factor between their flag exchanges, two runs had their cores in the same placement state."""


KeyOf = Callable[[Series], Compared]


def _key_of(a: Dataset, b: Dataset) -> KeyOf:
    """What a series is compared as: with the placement of its ranks where either run has several."""
    several = any(len({one.placement for one in run.series}) > 1 for run in (a, b))

    def key_of(one: Series) -> Compared:
        return Compared(
            one.pattern,
            one.operation,
            one.posting,
            one.direction,
            one.train,
            one.pairs,
            one.peers,
            (one.placement or "") if several else "",
        )

    return key_of


def compare_runs(
    a: Dataset,
    b: Dataset,
    *,
    tolerance: float = TOLERANCE,
    statistic: str = "median",
    seed: int = 0,
) -> tuple[RunRow, ...]:
    """The ratio of B's times to A's, for all that is `Compared`, by size, and over all of them in the last row.

    The last row is the weighted mean of the others' logarithms: the less the visits of a row lie apart, the more it
    weighs.

    Series with a delay are left out: the delay, not the machine, makes their time. Records count that the machine was
    in one state in. Of a machine that has not changed, all intervals together hold the truth in 99 of 100 comparisons
    (`chiplog.compare.chance`). A verdict is `faster` or `slower` if the interval excludes 1 and the ratio is off by
    `tolerance` or more, `same` if the whole interval is within `tolerance`, else `unclear`. Runs whose cores were in
    different placement states are `unclear`: what differs may be where the ranks ran.

    Raises UsageError if the runs have no series in common.
    """
    doubt = _placement_reason(a, b)
    key_of = _key_of(a, b)
    compared_a, compared_b = in_common_state(*(_compared(one) for one in (a, b)))
    measured_a = Measured(compared_a, statistic, seed)
    measured_b = Measured(compared_b, statistic, seed + 1)
    found: list[tuple[Compared, int, float, NDArray[np.float64]]] = []
    for key in sorted(_keys(compared_a, key_of) & _keys(compared_b, key_of)):
        before, after = (_quantity(one, key, key_of) for one in (measured_a, measured_b))
        _, left, right = np.intersect1d(
            before.message_bytes, after.message_bytes, return_indices=True
        )
        for i, j in zip(left, right, strict=True):
            ratio = float(after.value[j] / before.value[i])
            draws = np.maximum(after.draws[j], 1e-15) / np.maximum(before.draws[i], 1e-15)
            found.append((key, int(before.message_bytes[i]), ratio, np.log(draws)))
    if not found:
        raise UsageError(f"{a.source} and {b.source} have no series without delay in common.")
    by_chance = chance(
        compared_a, compared_b, lambda one: (key_of(one), one.message_bytes), statistic
    )
    if doubt is None and by_chance.too_short:
        doubt = _TOO_SHORT
    more = _MORE_LAUNCHES if by_chance.launches_matter else ""
    rows = [
        _row(
            key,
            size,
            ratio,
            max(by_chance.rows[key, size], by_chance.whole + _of_samples(draws, len(found))),
            tolerance,
            doubt or (_FEW_LAUNCHES if (key, size) in by_chance.few_launches else None),
        )
        for key, size, ratio, draws in found
    ]
    shares = [by_chance.weights[key, size] for key, size, *_ in found]
    mean = float(np.exp(np.average([np.log(row.ratio) for row in rows], weights=shares)))
    overall = Compared("all", rows[0].what.operation, train=0)
    all_of_them = _row(overall, None, mean, by_chance.whole, tolerance, doubt)
    told = all_of_them.reason + _counts(rows) + _other_state(a, b)
    undecided = all_of_them.verdict == "unclear" and doubt is None
    rows.append(replace(all_of_them, reason=told + (more if undecided else "")))
    return tuple(rows)


_FEW_LAUNCHES = (
    "the time of a call depends on where a launch has its memory, and one or two launches do not tell that from a "
    "change; --launches 3 for both runs does."
)
_TOO_SHORT = (
    "the times wander as slowly as a run is long, so one run tells little of the next; measure both for several times "
    "as long, with a larger --budget and more --visits."
)
_MORE_LAUNCHES = " Ranks that are started anew differ by up to 20 %: measure both runs with --launches 5 to see less."


def _of_samples(logs: NDArray[np.float64], rows: int) -> float:
    """The half width of a row by its samples, at a level for all rows together."""
    return float(stats.norm.ppf(1.0 - ERROR_RATE / rows)) * float(np.std(logs))


def _compared(dataset: Dataset) -> Dataset:
    chosen = tuple(one for one in dataset.series if _is_compared(one))
    if not chosen:
        raise UsageError(
            f"{dataset.source} holds only series with a delay, and their times are the delay's own."
        )
    return Dataset(dataset.header, chosen, dataset.complete, dataset.source)


def _is_compared(one: Series) -> bool:
    return one.delay_seconds == 0 and one.seconds.size > 0


def _keys(dataset: Dataset, key_of: KeyOf) -> set[Compared]:
    return {key_of(one) for one in dataset.series if _is_compared(one)}


def _quantity(measured: Measured, key: Compared, key_of: KeyOf) -> Quantity:
    return series_quantity(measured, f"{key.pattern}({key.train})", lambda one: key_of(one) == key)


def _row(
    key: Compared,
    message_bytes: int | None,
    ratio: float,
    half_width: float,
    tolerance: float,
    doubt: str | None,
) -> RunRow:
    factor = float(np.exp(half_width))
    low, high = ratio / factor, ratio * factor
    verdict, reason = judge(ratio, low, high, tolerance)
    if doubt is not None:
        verdict, reason = "unclear", doubt
    return RunRow(key, message_bytes, ratio, low, high, verdict, reason)


def judge(ratio: float, low: float, high: float, tolerance: float) -> tuple[str, str]:
    """Verdict and reason for one ratio with its interval.

    >>> judge(1.2, 1.1, 1.3, 0.05)[0]
    'slower'
    >>> judge(1.2, 0.9, 1.5, 0.05)[0]
    'unclear'
    """
    if not np.isfinite(high):
        return (
            "unclear",
            f"{100 * (ratio - 1):+.1f} %: a single visit does not tell chance from change; --visits 4 does.",
        )
    change = f"{100 * (ratio - 1):+.1f} % ({100 * (low - 1):+.1f} to {100 * (high - 1):+.1f} %)"
    if low > 1.0 and ratio >= 1.0 + tolerance:
        return "slower", f"{change}: all of the interval is above 0."
    if high < 1.0 and ratio <= 1.0 - tolerance:
        return "faster", f"{change}: all of the interval is below 0."
    if low >= 1.0 - tolerance and high <= 1.0 + tolerance:
        return "same", f"{change}: all of the interval is within {100 * tolerance:.3g} %."
    return (
        "unclear",
        f"{change}: the interval holds both no difference and one above {100 * tolerance:.3g} %.",
    )


def _counts(rows: Sequence[RunRow]) -> str:
    counts = {
        verdict: sum(row.verdict == verdict for row in rows)
        for verdict in ("slower", "faster", "same", "unclear")
    }
    return (
        " Of "
        + f"{len(rows)}: "
        + ", ".join(f"{n} {name}" for name, n in counts.items() if n)
        + "."
    )


def _other_state(a: Dataset, b: Dataset) -> str:
    """A sentence if the references are of different states. It decides nothing: other software differs in them, too."""
    before, after = (common_reference(one.series) for one in (a, b))
    if before is None or after is None or same_state(before, after):
        return ""
    return (
        " Either what moves the messages is different, or the machine was in another state: half round trip, gap and "
        f"overhead of the reference were {_reference_text(before)} in A and {_reference_text(after)} in B."
    )


def _reference_text(reference: Reference) -> str:
    return ", ".join(seconds_text(part) for part in astuple(reference))


def _flag_seconds(dataset: Dataset) -> float | None:
    seen = [one.placement_seconds for one in dataset.series if one.placement_seconds is not None]
    return float(np.median(seen)) if seen else None


def _placement_reason(a: Dataset, b: Dataset) -> str | None:
    before, after = _flag_seconds(a), _flag_seconds(b)
    if before is None or after is None or before <= 0 or after <= 0:
        return None
    if max(before, after) <= SAME_PLACEMENT * min(before, after):
        return None
    return (
        f"the cores were in different placement states: a bare flag took {seconds_text(before)} in A and "
        f"{seconds_text(after)} in B."
    )
