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
