"""Every number by which an answer is judged, with where it comes from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from scipy.special import stdtrit

from chiplog.protocol_changes.detect.thresholds import THRESHOLDS as DETECT


@dataclass(frozen=True)
class DecideThresholds:
    """Numbers of the room `decide`; those that errors allow are computed from how often a question is asked.

    `docs/numbers/protocol-changes.md` has the derivations and the series that show what they give.
    """

    false_changes: float = 1e-3
    """Derived: probability of a false change in a run that noise alone may cause; a tenth of the 1 % that is promised,
    since noise is not normal."""
    questions: int = 100
    """Derived: in a run, at most 20 places are asked whether they jump, in five quantities each; and at most 8
    intervals are halved, about 12 times each."""
    limit_questions: int = 20
    """Derived: a transport names up to four limits, and five quantities are asked about each."""
    min_jump: float = DETECT.least_jump
    """A smaller jump changes no prediction by more than runs differ (2 to 5 %)."""
    lasting_share: float = 0.5
    """Derived: a jump that is nearer to what it was before than to itself has not lasted."""
    lasting_error: float = 0.01
    """Derived: with five quantities of which most must last, noise lets a passing jump last once in 10^5."""
    contrast: float = 2.0
    """Derived: a jump beside another one of half its size is one place more likely than not."""
    halfway: float = 0.2
    """Derived: with a curve instead of a jump, places are uniform, and each halving ends there with probability 0.4:
    nine halvings follow a curve to the end once in 100."""
    trimmed: float = 0.2
    """Study: as efficient as a median with two states, and more with one."""
    replicates: int = 200
    """Derived: the spread of so many replicates is known to 1/sqrt(2 * 200) = 5 %."""
    neither: float = 1e-4
    """Derived: an outlier may turn no halving alone: less than 1/`questions` of one."""
    share_off: float = 0.15
    """Study: how far a line may be off between its two sizes, of the distance to the other line."""
    shape_off: float = 0.02
    """Study: the same for each unit of the logarithm of the ratio of the two sizes."""
    off_errors: float = 2.0
    """Derived: 19 of 20 places are nearer to their line than so many standard errors."""

    @property
    def jump_errors(self) -> float:
        """Standard errors by which a jump must differ from 0."""
        return _quantile(self.false_changes / (2 * self.questions))

    @property
    def limit_errors(self) -> float:
        """The same at a named limit, of which there are few."""
        return _quantile(self.false_changes / (2 * self.limit_questions))

    @property
    def turn_errors(self) -> float:
        """Standard errors by which a place must differ from the middle."""
        return _quantile(self.false_changes / self.questions)

    @property
    def turn_log_odds(self) -> float:
        """Log odds above which a size counts as being on one side."""
        return math.log(self.questions / self.false_changes)

    def lasting_errors(self, degrees_of_freedom: int) -> float:
        """Standard errors by which a step between two lines must differ from 0, for their scatter as it was seen."""
        return float(stdtrit(degrees_of_freedom, 1.0 - self.lasting_error))


def _quantile(probability: float) -> float:
    return -NormalDist().inv_cdf(probability)


THRESHOLDS = DecideThresholds()
