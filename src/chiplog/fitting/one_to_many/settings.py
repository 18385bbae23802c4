"""Numbers by which runs of one rank with many are fitted, each with where it comes from."""

from __future__ import annotations

import numpy as np

LOGFP_NUMBERS = 3
"""Derived: L, g and f; with several sizes also G."""
FEWEST_PEERS = 4
"""Derived: `LOGFP_NUMBERS`, and one value of p to tell them by."""
FEWEST_POSTS = 4
"""Derived: l1, l2 and l3, and one value of p to tell them by."""
PLAUSIBLE = 0.01
"""Given: every candidate with a larger share than this must have two measured p beyond its P*."""
MOST_TURNS = 60
"""Given: turns of a search. Each turn lowers the sum of squares, so a search ends sooner; this only ends one that
rounding keeps moving."""
FEW_REPLICATES = 5
"""Given: replicates of fits that are asked for predictions only."""
LOOSE = 4.0
"""Given: an interval whose ends differ by such a factor says that the curve hardly depends on the parameter."""
POLE = 1e-3
"""Given: how near l2 and l3 may come to -1, where the curve is infinite at p = 1; its inverse is the largest
that they may be."""
POLES = (-0.9, -0.5, 0.0, 1.0, 8.0)
"""Given: values of l2 and l3 that searches begin with."""
DECAYS = 4.0 ** np.arange(5)
"""Given: values of tau that searches begin with, up to as many peers as are measured."""
DECAY_BOUNDS = (0.1, 1e4)
"""Given: the least and the largest tau: below and beyond any number of peers."""
POLISHED = 3
"""Given: how many of the starts are searched from."""
NEAR = 1e-4
"""Given: relative changes of the sum of squares and of the parameters at which the search of a replicate ends."""
DIFFERENCE = 1e-6
"""Derived: step of a nonlinear parameter by which the slope of the residuals is found; they are logarithms, of about 1.
A double's rounding over it is below 1e-9."""
FIRST_DAMPING, LESS, MORE = 1e-2, 0.2, 5.0
"""Given: share of the diagonal that is added to it, and factors after a step that was better, and that was not."""
