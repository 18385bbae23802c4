"""Numbers that several fits share, each with where it comes from."""

from __future__ import annotations

FEWEST_SIZES = 3
"""Derived: sizes that tell whether they lie on a line; two always do."""
HUBER_DEVIATIONS = 2.0
"""Given: standard deviations from which a value loses weight in a fit by Huber's loss."""
FOLDS = 5
"""Given: parts that sizes are dealt out to, each held out once."""
REPLICATES = 200
"""Given: draws of a fit's parameters. The ends of a 95 % interval are known to a twentieth of its width then."""
LEAST_FREEDOM = 2
"""Derived: degrees of freedom of a spread, however few values it is of; one would give no interval of use."""
SEEN_SHARE = 0.03
"""Given: share by which a gap must exceed the overheads to count as seen."""
AS_GOOD = 0.02
"""Given: share by which held-out errors may be larger for fewer regimes to be taken."""
RESOLUTION = 0.01
"""Given: share of its scale by which a series may miss a line; nothing finer is worth a regime of its own."""
MOST_REGIMES = 12
"""Given: the most regimes, or protocols, that a series is cut into: it bounds the search. What decides is what they
predict."""
LINE_COEFFICIENTS = 2
"""Derived: a line has an intercept and a slope; so many values leave no residual."""
MOST_ROUNDS = 8
"""Given: rounds of a fit whose weights, or members, follow from the round before. Most settle in three; those that go
round in a circle end here."""
SINGULAR = 1e-12
"""Derived: share of its terms below which a determinant is what rounding leaves of 0; some thousand steps of a
double."""
ROUNDING_SHARE = 1e-9
"""Derived: share below which a difference is rounding: some million steps of a double, and no clock has so many
digits."""
NEGLIGIBLE = 1e-6
"""Given: share of a time, or of a curve, below which nothing is measured: a nanosecond in a millisecond."""
SMALLEST_PART = 1e-3
"""Given: share of a time below which no part of it is seen."""
SHORTEST_SECONDS = 1e-15
"""Derived: stands for a time of 0 in divisions and logarithms; far below the step of any clock."""
UNLIMITED = 1e12
"""Derived: stands for a parameter without an upper bound; far above what any machine has."""
