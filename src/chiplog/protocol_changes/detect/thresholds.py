"""Every number that decides about a protocol change, with what it follows from.

"Study" is `benchmarks/changes.py`; its figures are in docs/decisions/0037-one-noise-model.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

CACHE_LINE_BYTES = 64
"""Given: of all processors that are known."""


@dataclass(frozen=True)
class DetectThresholds:
    """What times over sizes must show to be evidence of a protocol change."""

    least_scatter: float = 0.002
    """Given: relative deviation of sizes, at least: a clock of 1 ns at 0.5 us, or three printed digits."""
    most_scatter: float = 0.15
    """Given: likewise at most; tables of twice that tell nothing."""
    scatters_tried: int = 9
    """Given: three to a factor of five."""
    cap_share: float = 0.75
    """Derived: between 2/3 and 1. Above 2/3, three outlying sizes are worth the two lines that a range of them costs;
    below 1, two are not, nor is one at an end the line that it costs there."""
    outlier_share: float = 0.1
    """Given: how many sizes are outliers before anything is known of a run."""
    most_lines: int = 40
    """Given: four protocol changes, as many changes of slope, and states that come and go between them."""
    most_passing: int = 3
    """Given: lines that a state which comes and goes may look like."""
    dense_sizes: int = 100
    """Given: sizes from which neighbours tell the scatter, since four changes move few of them."""
    false_share: float = 0.02
    """Derived: probability that noise makes a jump somewhere in a series. Shared by all places where a line may end, it
    gives the critical value of each. The study finds fewer, since a jump must pass the other tests, too."""
    least_jump: float = 0.02
    """Given: below the smallest of the reference answers (2.4 %, taurus at 1420 B)."""
    least_gain: float = 0.125
    """Study: share of the root mean square misfit that each line must take away to matter for predictions. The
    reference answers of real clusters come out from 10.1 to 13.1 %."""
    resolution: float = 0.01
    """Given: relative error that is added to each median's own where lines are counted that matter."""
    outlying: float = math.log(1.5)
    """Given: deviation of outlying sizes as logarithm: up to half as long again, a size is an outlier and no change."""
    noticeable: float = 0.10
    """Derived: half of the 20 % that must be found. A jump of a series of one value a size counts from here, a break is
    worth to be measured again, and a change of slope is named."""
    kink_octaves: float = 1.0
    """Given: range of sizes around a break within which a mere change of slope may lie that explains it."""
    kink_places: int = 13
    """Derived: places tried in that range, besides that where the lines cross; more don't change the answer."""
    local_freedom: int = 20
    """Derived: degrees of freedom from which two lines tell their own noise: its square to a third."""
    place_share: float = 0.95
    """Given: confidence of the sizes between which a change is."""
    drift_correlation: float = 0.9
    """Study: of what the machine adds to one record and to the next: that of a drift that lasts ten records."""
    drift_ratio: float = 10.0
    """Study: variance of the drift over that of a record's median. Levels are off by 0.9 % without drift for any ratio
    from 0 to 30; with one of 5 %, by 3.0, 1.7, 1.4, 1.3 and 1.3 % for 0, 1, 3, 10 and 30."""
    large_jump: float = 0.17
    """Derived: jump that counts whether or not it matters for predictions, and that a series may testify to alone:
    below the 20 % that must be found by two of the errors of 1.5 % that it is measured with."""
    clear: float = 3.0
    """Derived: strength of a smaller jump that a series may testify to alone: its standard errors are 1.7 times as many
    as the critical ones, so that any noise would have to be underestimated by as much."""
    coarse: float = 1.25
    """Given: factor between neighbouring sizes from which sizes between them would tell more: three an octave."""

    @property
    def scatters(self) -> tuple[float, ...]:
        """The relative deviations of sizes that are tried."""
        return tuple(
            np.geomspace(self.least_scatter, self.most_scatter, self.scatters_tried).tolist()
        )

    def cap(self, deviation: float) -> float:
        """What a size adds to a cost at most: minus twice the log likelihood of an outlier, over one on its line.

        A relative deviation beyond 1, as of a difference that isn't told from 0, counts as 1.
        """
        odds = 1.0 / self.outlier_share - 1.0
        return 2.0 * math.log(odds * self.outlying / min(deviation, 1.0))


THRESHOLDS = DetectThresholds()
