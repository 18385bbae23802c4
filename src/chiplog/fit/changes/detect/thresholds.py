"""Every number that decides about a protocol change, with what it follows from.

"Study" is `benchmarks/changes.py`, whose figures are in docs/decisions/0015-detecting-changes.md.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Thresholds:
    """What medians over sizes must show to be evidence of a protocol change."""

    resolution: float = 0.01
    """Relative error that is added to each median's own. It only sets the unit in which misfit is counted, and keeps
    weights finite: the noise is what the lines leave."""
    least_noise: float = 0.05
    """Mean square misfit in squared units of `resolution` below which no misfit is told from rounding: 0.2 %, which is
    a clock of 1 ns at 0.5 us."""
    penalty: float = 16.0
    """Noise variances that each further line must save, from the study: three parameters (two of the line, one of its
    place) would be 9 to 19 by BIC (3 ln n, 23 to 490 sizes). Noise may pass: what follows asks for a jump."""
    most_lines: int = 9
    """Four protocol changes and as many changes of slope."""
    false_share: float = 0.02
    """Probability that noise makes a jump somewhere in a series: shared by all places, it gives the critical value of
    each. The study finds fewer, since a jump must pass the other tests, too."""
    least_jump: float = 0.02
    """Relative jump, below the smallest of the reference answers (2.7 %, taurus at 1420 B)."""
    kink_octaves: float = 1.0
    """Range of sizes around a break within which a mere change of slope may lie that explains it."""
    kink_places: int = 13
    """Places tried in that range, besides that where the lines cross; more don't change the answer."""
    least_bend: float = 0.10
    """Change of slope, relative to the larger one, from which a jump is of kind `both`. Only a name hangs on it."""
    step_errors: float = 3.5
    """Standard errors by which a step must exceed what proportion explains: eight pairs of neighbours, the half of
    a table where time is nearly proportional, pass by chance in two tables of a thousand."""
    sure_step: float = 2.3
    """Step of a table from one size to its double that is a change whatever the noise: 15 % above proportion, which is
    3.5 standard errors where single values scatter by 3 %."""
    local_freedom: int = 20
    """Degrees of freedom from which two lines tell their own noise: its square to a third."""
    place_share: float = 0.95
    """Confidence of the sizes between which a change is."""
    drift_correlation: float = 0.9
    """Of what the machine adds to one record and to the next: that of a drift or a state that lasts ten records."""
    drift_ratio: float = 10.0
    """Variance of the drift over that of a record's median. Study: levels are off by 0.9 % without drift for any ratio
    from 0 to 30; with one of 5 %, by 3.0, 1.7, 1.4, 1.3 and 1.3 % for 0, 1, 3, 10 and 30."""
    least_gain: float = 0.125
    """Share of the root mean square misfit that each line must take away to matter for predictions. The reference
    answers of real clusters come out from 10.1 % (below, miriel's MPI_Isend changes at 33500 B, too) to 13.1 % (above,
    its ping-pong does not at 65536 B); an eighth lies between."""
    large_jump: float = 0.17
    """Jump that counts whether or not it matters for predictions, and that a series may testify to alone: below the
    20 % that must be found by two of the errors of 1.5 % that it is measured with."""
    clear: float = 3.0
    """Strength of a smaller jump that a series may testify to alone: its standard errors are 1.7 times as many as the
    critical ones, so that any noise would have to be underestimated by as much."""
    suspect_jump: float = 0.10
    """Relative jump of the lines at a break that makes it worth to measure again: half of what must be found."""
    coarse: float = 1.25
    """Factor between neighbouring sizes from which sizes between them would tell more: three an octave."""


THRESHOLDS = Thresholds()
