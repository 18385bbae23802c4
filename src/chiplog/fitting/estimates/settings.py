"""Numbers by which parameters are read from lines, each with where it comes from."""

from __future__ import annotations

FORM_TOLERANCE = 0.02
"""Given: share of a predicted time that the form of a model may miss; half of what a good line misses single sizes
by."""
MIN_SIZES = 5
"""Given: sizes of a segment that must be left."""
MIN_SHARE = 0.25
"""Given: share of a segment's sizes that must be left."""
MAX_FACTOR = 2
"""Given: between a segment's first size and the first one left, and between the last ones."""
WAITED_SHARE = 0.5
"""Derived: a send whose time is nearer to the receiver's delay than to its own has waited for it."""
