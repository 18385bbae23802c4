"""What one record of interleaved sizes says: is a size before or after a change, and does the time jump there?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.series import Series
from chiplog.protocol_changes.decide.surroundings import Surroundings
from chiplog.protocol_changes.decide.thresholds import THRESHOLDS
from chiplog.protocol_changes.detect.line import Line
from chiplog.protocol_changes.detect.observed import samples_of
from chiplog.protocol_changes.detect.thresholds import CACHE_LINE_BYTES
from chiplog.statistics import MAD_TO_DEVIATION

Floats = NDArray[np.float64]
FLAT = Line.flat()


@dataclass(frozen=True)
class ChangeMark:
    """A quantity with the lines that it follows before and after the change; only their ratios are used."""

    quantity: str
    before: Line
    after: Line
    rounds: float
    """Rounds that should do to tell one side from the other."""
    unknown: bool = False
    """Whether nothing is known of the lines, so that only a large difference counts."""


class KnownPlace(Enum):
    """What is known beforehand of the place of a supposed jump."""

    LIMIT = "the transport names a limit here"
    ELSEWHERE = "the transport names its limits, and none of them here"
    OPEN = "the transport names no limit"


@dataclass(frozen=True)
class Jump:
    """What the sizes around a place say about a jump there."""

    quantities: tuple[str, ...]
    """Those that jump, the one that jumps most first."""
    relative: float
    """How much that one jumps."""
    is_change: bool
    """Whether it is a protocol change."""


@dataclass(frozen=True)
class StepEstimate:
    """A value with its standard error."""

    value: float
    error: float

    @property
    def size(self) -> float:
        """The value without its sign."""
        return abs(self.value)

    def significant(self, errors: float) -> bool:
        """Whether the value is at least so many standard errors from 0."""
        return self.size >= errors * self.error


class Evidence:
    """The rounds of one or more records at the same sizes, resampled jointly so that pairs stay pairs."""

    def __init__(
        self, marks: Sequence[ChangeMark], sizes: Sequence[int], random: np.random.Generator
    ) -> None:
        self._marks = marks
        self._sizes = tuple(sizes)
        self._random = random
        self._rounds: dict[str, list[Floats]] = {}
        self._means: dict[str, Floats] = {}

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._means)

    def add(self, record: Sequence[Series]) -> None:
        """Takes the rounds of one more record."""
        for mark in self._marks:
            columns = [samples_of(mark.quantity, record, size) for size in self._sizes]
            known = [column for column in columns if column is not None]
            if len(known) < len(columns) or not known:
                continue
            rounds = min(column.size for column in known)
            if rounds == 0:
                continue
            table = np.column_stack([column[:rounds] for column in known])
            self._rounds.setdefault(mark.quantity, []).append(table)
        self._means = {
            name: self._resampled(np.concatenate(rows)) for name, rows in self._rounds.items()
        }

    def _resampled(self, rounds: Floats) -> Floats:
        """Trimmed means by size, shape (1 + THRESHOLDS.replicates, sizes): of all rounds first, then of resamples."""
        count = rounds.shape[0]
        picks = self._random.integers(0, count, (THRESHOLDS.replicates, count))
        return np.concatenate([_trimmed_mean(rounds[None, :]), _trimmed_mean(rounds[picks])])

    def seconds(self, quantity: str) -> Floats:
        """Trimmed mean of all rounds of a quantity, shape (sizes,)."""
        means: Floats = self._means[quantity][0]
        return means

    def rounds(self, quantity: str) -> int:
        """Of a quantity, over all records."""
        return sum(len(table) for table in self._rounds[quantity])

    @property
    def fewest_rounds(self) -> int:
        """Of all quantities, over all records; 0 without any."""
        return min((self.rounds(name) for name in self._rounds), default=0)

    def steps(self) -> list[tuple[str, Floats]]:
        """By quantity, how much more its logarithm rises between two neighbouring sizes than beside them.

        Shape (1 + replicates, sizes - 3): entry i belongs to sizes i + 1 and i + 2, of all rounds first, then of
        resamples. Of the two rises beside it the more similar one counts: a smooth curve rises alike, and the
        neighbour of a jump has another neighbour. Drift moves all sizes alike.
        """
        steps = []
        for mark in self._usable():
            rise = np.diff(_log(self._means[mark.quantity]), axis=1)
            middle, left, right = rise[:, 1:-1], rise[:, :-2], rise[:, 2:]
            to_left = np.abs(middle[0] - left[0]) <= np.abs(middle[0] - right[0])
            steps.append((mark.quantity, middle - np.where(to_left, left, right)))
        return steps

    def place(self, size: int, low: int, high: int) -> StepEstimate:
        """Where `size` lies between the lines through `low` (0: before the change) and `high` (1: after it)."""
        return _combined([self._place(mark, size, low, high) for mark in self._usable()])

    def log_odds(self, size: int, low: int, high: int) -> float:
        """Logarithm of the odds that `size` is before the change, as `low` is, and not after it, as `high` is.

        A size scatters as those on its side do. So one protocol may vary by much, and the other hardly at all.
        """
        return sum(self._log_odds(mark, size, low, high) for mark in self._usable())

    def jump(self, size: float, low: int, high: int) -> StepEstimate:
        """Largest relative jump of a quantity at `size`, by the lines through `low` and `high`, in its errors."""
        estimates = [self._jump(mark, size, low, high) for mark in self._usable()]
        if not estimates:
            return StepEstimate(0.0, np.inf)
        return max(estimates, key=lambda e: e.size / e.error)

    def jump_at(self, around: Surroundings, place: KnownPlace, *, least: float) -> Jump:
        """Whether the time jumps from one byte to the next, by more than beside it, and stays there.

        One quantity must jump by the share `least`. At a named limit that one must last until a cache line further.
        Elsewhere at least half of all that jump by half of `least` must last, over all sizes around; and most of all
        quantities must where the transport names other limits: its protocols are known, so that what only some
        quantities show is the machine's.
        """
        usable = self._usable()
        is_limit = place is KnownPlace.LIMIT
        errors = THRESHOLDS.limit_errors if is_limit else THRESHOLDS.jump_errors
        jumps = {mark: self._jump_beside(mark, around) for mark in usable}
        small = [
            mark
            for mark in usable
            if self._stands_out(mark, jumps[mark], around, errors, 0.5 * least)
        ]
        small.sort(key=lambda mark: jumps[mark].size, reverse=True)
        large = [mark for mark in small if jumps[mark].size >= least]
        lasting = [mark for mark in small if self._lasts(mark, jumps[mark], around)]
        if is_limit:
            is_change = any(mark in lasting for mark in large)
        else:
            is_change = bool(large) and 2 * len(lasting) >= len(small)
            if place is KnownPlace.ELSEWHERE:
                is_change = is_change and 2 * len(lasting) > len(usable)
        relative = jumps[small[0]].value if small else 0.0
        return Jump(tuple(mark.quantity for mark in small), relative, is_change)

    def _jump_beside(self, mark: ChangeMark, around: Surroundings) -> StepEstimate:
        """The relative jump between the sizes just before a place and those just after it.

        Those a cache line away count where a line is so small a part of the message that no time is proportional to it.
        """
        before, after = [around.below, around.low], [around.high, around.above]
        if CACHE_LINE_BYTES <= THRESHOLDS.min_jump * around.low:
            before, after = [around.line_below, *before], [*after, around.line_above]
        ratio = self._mean(mark, after) / self._mean(mark, before) - 1.0
        return StepEstimate(float(ratio[0]), spread(ratio))

    def _mean(self, mark: ChangeMark, sizes: Sequence[int]) -> Floats:
        mean: Floats = np.mean([self._at(mark, size) for size in sizes], axis=0)
        return mean

    def _stands_out(
        self,
        mark: ChangeMark,
        jump: StepEstimate,
        around: Surroundings,
        errors: float,
        least: float,
    ) -> bool:
        beside = (
            self._jump(mark, around.low, around.below, around.low),
            self._jump(mark, around.high, around.high, around.above),
        )
        disturbance = max(
            estimate.size if estimate.significant(errors) else 0.0 for estimate in beside
        )
        return jump.significant(errors) and jump.size >= max(
            least, THRESHOLDS.contrast * disturbance
        )

    def _lasts(self, mark: ChangeMark, jump: StepEstimate, around: Surroundings) -> bool:
        sign = math.copysign(1.0, jump.value)
        afar = [
            self._jump(mark, around.high, around.low, around.line_above),
            self._jump(mark, around.high, around.line_below, around.high),
        ]
        least = THRESHOLDS.lasting_share * jump.size
        if not all(sign * estimate.value + estimate.error >= least for estimate in afar):
            return False
        return not around.far_above or sign * self._step_between_lines(mark, around) > 0.0

    def _step_between_lines(self, mark: ChangeMark, around: Surroundings) -> float:
        """The relative step between lines through the sizes on each side; 0 where their scatter may be it.

        The two sizes at the jump are left out: the first one of a protocol may carry a fragment of one byte.
        """
        sizes = np.array(around.beyond, dtype=np.float64)
        seconds = np.array([self._at(mark, size)[0] for size in around.beyond])
        after = (sizes > around.low).astype(np.float64)
        distance = (sizes - around.low) / around.low
        basis = np.column_stack([np.ones(sizes.size), distance, after, distance * after])
        freedom = sizes.size - basis.shape[1]
        if freedom < 1:
            return 0.0
        level = float(np.median(seconds))
        solution, *_ = np.linalg.lstsq(basis, seconds / level, rcond=None)
        residual = seconds / level - basis @ solution
        covariance = np.linalg.pinv(basis.T @ basis) * float(residual @ residual) / freedom
        error = math.sqrt(max(float(covariance[2, 2]), 0.0))
        step = float(solution[2])
        return step if abs(step) >= THRESHOLDS.lasting_errors(freedom) * error else 0.0

    def _usable(self) -> list[ChangeMark]:
        return [
            m
            for m in self._marks
            if m.quantity in self._means and np.all(self._means[m.quantity][0] > 0.0)
        ]

    def _at(self, mark: ChangeMark, size: int) -> Floats:
        means: Floats = self._means[mark.quantity][:, self._sizes.index(size)]
        return means

    def _lines(self, mark: ChangeMark, size: float, low: int, high: int) -> tuple[Floats, Floats]:
        before = self._at(mark, low) * (mark.before(size) / mark.before(float(low)))
        after = self._at(mark, high) * (mark.after(size) / mark.after(float(high)))
        return before, after

    def _place(self, mark: ChangeMark, size: int, low: int, high: int) -> StepEstimate:
        if mark.unknown and not self._differs(mark, low, high):
            return StepEstimate(0.5, np.inf)
        # Ratios, since one protocol may take twenty times as long as the other. Linear in the replicates: dividing
        # them by a distance near zero would have no spread to speak of.
        before, after = (_log(times) for times in self._lines(mark, size, low, high))
        here = _log(self._at(mark, size))
        distance = float(after[0] - before[0])
        if distance == 0.0:
            return StepEstimate(0.5, np.inf)
        value = float(here[0] - before[0]) / distance
        return StepEstimate(
            value, spread((here - before) - value * (after - before)) / abs(distance)
        )

    def _log_odds(self, mark: ChangeMark, size: int, low: int, high: int) -> float:
        if mark.unknown and not self._differs(mark, low, high):
            return 0.0
        before, after = (_log(times) for times in self._lines(mark, size, low, high))
        here = _log(self._at(mark, size))[0]
        lines = max(
            THRESHOLDS.share_off * abs(after[0] - before[0]),
            THRESHOLDS.shape_off * np.log(high / low),
        )
        error_before, error_after = (
            float(np.hypot(np.sqrt(2.0) * spread(times), lines)) for times in (before, after)
        )
        on_neither = THRESHOLDS.neither / max(error_before, error_after)
        densities = (
            np.exp(-0.5 * ((here - line) / error) ** 2) / error + on_neither
            for line, error in ((before[0], error_before), (after[0], error_after))
        )
        return float(np.subtract(*np.log(list(densities))))

    def _differs(self, mark: ChangeMark, low: int, high: int) -> bool:
        """Whether a quantity without known lines differs by more than any line through the origin would."""
        ratio = float(self._at(mark, high)[0] / self._at(mark, low)[0])
        return max(ratio, 1.0 / ratio) >= 2.0 * high / low

    def _jump(self, mark: ChangeMark, size: float, low: int, high: int) -> StepEstimate:
        if mark.unknown and not self._differs(mark, low, high):
            return StepEstimate(0.0, np.inf)
        before, after = self._lines(mark, size, low, high)
        ratio = after / before - 1.0
        return StepEstimate(float(ratio[0]), spread(ratio))


def _trimmed_mean(rounds: Floats) -> Floats:
    """Over the last axis but one, without the shortest and the longest fifth.

    Sizes that follow one another may leave each other in one of two states: a median would jump between them.
    """
    ordered = np.sort(rounds, axis=-2)
    count = ordered.shape[-2]
    off = int(THRESHOLDS.trimmed * count)
    means: Floats = ordered[..., off : count - off, :].mean(axis=-2)
    return means


def _log(seconds: Floats) -> Floats:
    """Logarithms, of replicates that are not positive too: those of a difference may not be.

    So far out, only their order matters to a robust spread.
    """
    logarithms: Floats = np.log(np.maximum(seconds, np.finfo(np.float64).eps * seconds[0]))
    return logarithms


def spread(values: Floats) -> float:
    """Robust standard deviation of the replicates, which follow the first value; never 0."""
    replicates = values[1:]
    deviation = MAD_TO_DEVIATION * float(np.median(np.abs(replicates - np.median(replicates))))
    return max(deviation, 1e-9 * float(np.max(np.abs(values))), np.finfo(np.float64).tiny)


def _combined(estimates: Sequence[StepEstimate]) -> StepEstimate:
    known = [e for e in estimates if np.isfinite(e.error)]
    if not known:
        return StepEstimate(0.5, np.inf)
    # Clipped, so that one quantity with a steep line can't outvote the others by an absurd place. And one that
    # lies beyond either line counts for the less beside the others the farther off it is.
    places = np.array([float(np.clip(e.value, -1.0, 2.0)) for e in known])
    errors = np.array([max(e.error, 1e-6) for e in known])
    beyond = np.maximum(-places, places - 1.0)
    weights = 1.0 / (errors**2 + np.maximum(beyond - THRESHOLDS.off_errors * errors, 0.0) ** 2)
    weights /= np.sum(weights)
    return StepEstimate(float(weights @ places), float(np.linalg.norm(weights * errors)))
