"""Has a node changed? A test that may be looked at after every run, with few false alarms in a year.

A change is three runs in a row that are all beyond a threshold on the same side of the node's own past
(docs/decisions/0035). The threshold makes three such runs of a healthy node rarer than one false alarm a year over all
nodes, for noise with the spread, the tails and the correlation from run to run that the machine has shown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist  # SciPy takes a second to load
from typing import TYPE_CHECKING

import numpy as np

from chiplog.statistics import CONFIDENCE, MAD_TO_DEVIATION, NORMAL_975

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

IN_A_ROW = 3
"""Study: docs/studies/changes-over-months.md. Runs beyond the threshold that make a change; two spikes make none."""
LEAST_PAST = 8
"""Given: runs of a node from which the next one can be judged."""
MOST_PAST = 60
"""Given: runs of the past that a run is held against at most."""
LEAST_SHIFT = 0.025
"""Given: the threshold is never below this, in logarithms: a change of 2 % is not worth a technician."""
FALSE_ALARMS_A_YEAR = 0.25
"""Given: what the threshold is made for, all nodes and kinds together; the bound that is promised is 1."""
LOOKS_A_YEAR = 365.0
"""Given: a look a day."""
LEAST_OF_LARGEST = 0.5
"""Given: the smallest of the runs in a row is at least this share of the largest; a shock that fades is no change."""
POWER_QUANTILE = NormalDist().inv_cdf(CONFIDENCE ** (1.0 / IN_A_ROW))
"""Derived: by so many spreads a shift exceeds the threshold for all runs in a row to be beyond it with 95 %."""
POOLED_RUNS = 30.0
"""Given: runs that the spread of all nodes counts as in the spread of one."""
_TAIL = 0.98
"""Given: the share of the past runs by whose spread the tails are judged."""
_MOST_CORRELATION = 0.95
"""Given: a node whose runs are more alike than this has shown too little of its noise."""
_CLIP = 3.0
"""Given: spreads beyond which a run counts as a spike in the correlation."""
_NORMAL_95 = NormalDist().inv_cdf(CONFIDENCE)
"""Derived: standard errors to an upper bound that holds with 95 %."""
_LIMITS = (-3.0, 8.0, 0.1)
"""Given: first, last and step of the thresholds, in spreads, between which the right one is interpolated."""
_NODES = 60
"""Given: nodes of Gauss and Legendre; more change no digit that is shown."""


@dataclass(frozen=True, slots=True)
class NodeShift:
    """A shift of one node that lasted for IN_A_ROW runs."""

    node: int
    since: int
    """The number of the first run after it."""
    seen: int
    """The number of the run at which it was certain."""
    before: float
    """The node's level before it, as slowness in logarithms."""
    half_width: float
    """Of the interval of 95 % of its effect."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What the test says after the last run; (n,) arrays are by node."""

    changes: tuple[NodeShift, ...]
    past: IntArray
    """(n,) the runs that the last one was held against."""
    threshold: FloatArray
    """(n,) of the last run; NaN where there is too little past."""
    detectable: FloatArray
    """(n,) a lasting shift of this size is found after three runs with 95 %, in logarithms."""
    pending: IntArray
    """(n,) the newest runs in a row beyond the threshold: fewer than three; negative where faster."""
    deviation: FloatArray
    """(n,) of the last run from the node's past."""


def watch(
    values: FloatArray,
    window_starts: IntArray,
    *,
    streams: int | None = None,
    looks_a_year: float = LOOKS_A_YEAR,
) -> Watched:
    """Looks at each run in turn.

    `values` (t, n) is the slowness of each node in each run, in logarithms; NaN where it was not there.
    `window_starts` (t,) is the number of the first run that each run is held against. `streams` is how many series are
    watched in all, by default n.
    """
    runs, nodes = values.shape
    alarms = FALSE_ALARMS_A_YEAR / (2 * (streams or max(1, nodes)) * max(looks_a_year, 1.0))
    state = _State(nodes)
    for run in range(runs):
        state.look(values, run, int(window_starts[run]), alarms)
    return Watched(
        tuple(state.changes),
        state.past,
        state.threshold,
        state.threshold + POWER_QUANTILE * state.spread,
        state.streak,
        state.deviation,
    )


class _State:
    """The test between two runs."""

    def __init__(self, nodes: int) -> None:
        self.changes: list[NodeShift] = []
        self.level_since = np.zeros(nodes, dtype=np.int64)
        self.streak = np.zeros(nodes, dtype=np.int64)
        self.streak_since = np.zeros(nodes, dtype=np.int64)
        self.streak_level = np.zeros(nodes)
        self.past = np.zeros(nodes, dtype=np.int64)
        self.threshold = np.full(nodes, np.nan)
        self.spread = np.full(nodes, np.nan)
        self.deviation = np.full(nodes, np.nan)

    def look(self, values: FloatArray, run: int, first: int, alarms: float) -> None:
        """Judges one run by those before it."""
        first = max(first, run - MOST_PAST)
        before = values[first:run]
        is_own_level = np.arange(first, run)[:, None] >= self.level_since
        before = before if is_own_level.all() else np.where(is_own_level, before, np.nan)
        self.past = np.isfinite(before).sum(axis=0)
        is_judged = self.past >= LEAST_PAST
        self.threshold = np.full(values.shape[1], np.nan)
        self.deviation = self.threshold.copy()
        self.spread = self.threshold.copy()
        if not is_judged.any():
            return
        level, spread, factor = _noise(before[:, is_judged], alarms)
        self.spread[is_judged] = spread
        self.threshold[is_judged] = np.maximum(LEAST_SHIFT, factor * spread)
        self.deviation[is_judged] = values[run, is_judged] - level
        self._count(run, np.nan_to_num(self.deviation), level, is_judged)
        for node in np.flatnonzero(np.abs(self.streak) >= IN_A_ROW).tolist():
            self._judge_streak(int(node), run, values)

    def _count(
        self, run: int, deviation: FloatArray, level: FloatArray, is_judged: NDArray[np.bool_]
    ) -> None:
        """Lengthens or ends the streaks of the nodes that this run has."""
        here = np.isfinite(self.deviation)
        limit = np.where(np.isfinite(self.threshold), self.threshold, np.inf)
        side = np.where(deviation > limit, 1, np.where(deviation < -limit, -1, 0))
        goes_on = (np.sign(self.streak) == side) & (side != 0)
        begins = here & (side != 0) & ~goes_on
        levels = np.full(side.size, np.nan)
        levels[is_judged] = level
        self.streak_since[begins] = run
        self.streak_level[begins] = levels[begins]
        self.streak = np.where(here, np.where(goes_on, self.streak + side, side), self.streak)

    def _judge_streak(self, node: int, run: int, values: FloatArray) -> None:
        """A change if the newest IN_A_ROW runs are alike; else the streak goes on without the oldest of them."""
        here = np.flatnonzero(np.isfinite(values[: run + 1, node]))[-IN_A_ROW:]
        sizes = np.abs(values[here, node] - self.streak_level[node])
        if sizes.min() < LEAST_OF_LARGEST * sizes.max():
            self.streak[node] = np.sign(self.streak[node]) * (IN_A_ROW - 1)
            self.streak_since[node] = here[1]
            return
        since = int(self.streak_since[node])
        error = self.spread[node] * (np.pi / 2 * (1 / IN_A_ROW + 1 / self.past[node])) ** 0.5
        self.changes.append(
            NodeShift(node, since, run, float(self.streak_level[node]), NORMAL_975 * float(error))
        )
        self.level_since[node] = since
        self.streak[node] = 0


def _noise(before: FloatArray, alarms: float) -> tuple[FloatArray, FloatArray, float]:
    """(n,) the level of each node, (n,) its spread, and the threshold in units of the spread, by runs before (t, n)."""
    is_known = np.isfinite(before)
    count = is_known.sum(axis=0)
    middle = np.median if is_known.all() else np.nanmedian
    level = middle(before, axis=0)
    rest = before - level
    small = (count / (count - 1.0)) ** 0.5
    own_spread = MAD_TO_DEVIATION * middle(np.abs(rest), axis=0) * small
    pooled = max(float(np.median(own_spread)), 1e-6)
    spread = np.sqrt((count * own_spread**2 + POOLED_RUNS * pooled**2) / (count + POOLED_RUNS))
    scaled = rest / spread
    typical = float(np.median(count))
    of_level = np.pi / 2 / typical  # the level's own error, which a node's next runs share
    settled = np.abs(
        scaled[: 1 - IN_A_ROW]
    )  # the runs that are judged now do not lengthen the tails
    tails = max(1.0, float(np.nanquantile(settled, _TAIL)) / -NormalDist().inv_cdf((1 - _TAIL) / 2))
    correlation = (_correlation(scaled, typical) + of_level) / (1 + of_level)
    factor = threshold_factor(round(correlation, 2), alarms) * tails * (1 + of_level) ** 0.5
    return level, spread, factor


def _correlation(scaled: FloatArray, runs: float) -> float:
    """Of a run with the next one, all nodes together; an upper bound, and at least 0."""
    clipped = np.clip(scaled, -_CLIP, _CLIP)
    products, squares = clipped[1:] * clipped[:-1], clipped**2
    pairs = np.isfinite(products).sum()
    correlation = (
        float(np.nanmean(products) / max(float(np.nanmean(squares)), 1e-12)) if pairs else 0.0
    )
    # Given: by Kendall (1954), what the correlation of so few runs misses, since their level is estimated from them.
    correlation += (1 + 3 * correlation) / runs
    correlation += _NORMAL_95 / max(1.0, float(pairs)) ** 0.5
    return float(min(max(correlation, 0.0), _MOST_CORRELATION))


@lru_cache(maxsize=512)
def threshold_factor(correlation: float, probability: float) -> float:
    """What three normal values in a row, each correlated with the next, are all above with this `probability`.

    >>> round(threshold_factor(0.0, 1e-6), 2)  # a hundredth each
    2.33
    """
    limits, logarithms = _all_above(correlation)
    return float(np.interp(-np.log(probability), -logarithms, limits))


@lru_cache(maxsize=128)
def _all_above(correlation: float) -> tuple[FloatArray, FloatArray]:
    """Limits, and the logarithm of the probability that three values in a row are above each."""
    limits = np.arange(*_LIMITS)
    chances = [_three_above(float(limit), correlation) for limit in limits]
    return limits, np.log(np.maximum(chances, 1e-300))


def _three_above(limit: float, correlation: float) -> float:
    rest = float((1 - correlation**2) ** 0.5)
    steps, weights = _nodes()
    width = 10.0
    points = limit + width * (steps + 1) / 2
    weights = weights * width / 2
    last = _above((limit - correlation * points) / rest)
    step = _density((points[None, :] - correlation * points[:, None]) / rest) / rest
    return float((weights * _density(points)) @ step @ (weights * last))


@lru_cache(maxsize=1)
def _nodes() -> tuple[FloatArray, FloatArray]:
    return np.polynomial.legendre.leggauss(_NODES)


def _above(values: FloatArray) -> FloatArray:
    """The normal distribution's probability above each value."""
    return np.array([math.erfc(value / 2**0.5) / 2 for value in values.tolist()])


def _density(values: FloatArray) -> FloatArray:
    density: FloatArray = np.exp(-(values**2) / 2) / (2 * np.pi) ** 0.5
    return density
