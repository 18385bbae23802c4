"""Numbers by which runs of several pairs are fitted, each with where it comes from."""

from __future__ import annotations

SQUARES_ROUNDING = 1e-13
"""Derived: share of all squares below which a rest is rounding, some hundred steps of a double."""
STARTS = (0.6, 0.8, 0.9, 0.97)
"""Given: the search begins with points limited by the node where their rate exceeds such a share of the largest rate;
the best of these searches is kept."""
MOST_ASSIGNMENTS = 25
"""Given: assignments of points to faces that have not settled by then go round in a circle; the best one is kept."""
FURTHER_SHARES = (1.0, 0.3, 0.05)
"""Given: shares of the first pair's rate that a search for that of further pairs begins with; the best is kept."""
DERIVATIVE_STEP = 1e-4
"""Derived: relative step of the derivatives: its square and a double's rounding over it are both below 1e-7."""
MARGIN = 2.0
"""Given: standard deviations of single points by which a fitted time is widened."""
FEWEST_PAIRS = 4
"""Derived: numbers of pairs below which none is held out: a trend over k needs three."""
KEPT_PAIRS = (0.5, 0.75)
"""Given: shares of the numbers of pairs, the smallest ones, from which the others are predicted."""
GAIN = 0.1
"""Given: share by which a form with more parameters, or with more regimes, must predict better."""
SIGNIFICANT = 1.0
"""Given: standard errors by which the mean gain of a form must be above 0: L. Breiman et al., "Classification and
regression trees" (1984), section 3.4.3."""
SIGNIFICANT_BORDER = 2.0
"""Given: the same of one more regime, whose border was looked for at every size."""
LEAST_SPAN = 1.5
"""Given: factor between the last and the first size of a protocol, at least."""
LESS_DEVIATION = 0.2
"""Given: share by which one more protocol must lower the residual deviation."""
RESAMPLES = 50
"""Given: resamples of the launches that must show the same borders."""
SUPPORT = 2 / 3
"""Given: share of the resamples that must have the same borders, give or take one size."""
FEW_PAIRS = 3
"""Given: so many of the smallest numbers of pairs say whether the time jumps."""
START_UP_SHARE = 0.5
"""Derived: the start-up takes most of a message's time where it takes more than this share of it."""
