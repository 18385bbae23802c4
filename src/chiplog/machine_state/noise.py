"""The noise of a run: what makes two measurements of the same thing differ.

    log(sample) = log(curve(size)) + state(moment) + drift(moment) + launch + visit + sample

A part is estimated where the run repeats what tells it: the sample's within a visit, the visit's within a launch, the
launch's between launches, state and drift in the order of time. Where a run has one launch, or a table one value a
size, the sizes that are given here bound it.
"""

from __future__ import annotations

import math

STATES_DIFFER = math.log(1.05)
"""Given: log ratio of a 1-byte message's or a train's time from which two levels of one launch are two states. Visits
of one size in one state differ by as much."""
LAUNCHES_DIFFER = math.log(1.25)
"""Given: log ratio up to which two launches of one system, or two moments of a run that does not tell its states, may
differ. States and launches were seen 5 to 25 % apart."""
OUTLIER = math.log(2.0)
"""Given: log ratio by which a single value of a table may be off, without a neighbour that follows it."""
