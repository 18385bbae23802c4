"""Numbers by which sizes are cut into regimes and lines are laid through them, each with where it comes from."""

from __future__ import annotations

import numpy as np

CLIPPED_SQUARE = 0.7737
"""Derived: mean square of those standard normal values that lie within `HUBER_DEVIATIONS`. The squares that it divides
are not left out beyond these but cut, whose mean is 0.92: a line is taken to miss single sizes by more than it does."""
MISFITS = np.concatenate(([0.0], np.geomspace(1e-4, 1.0, 41)))
"""Given: shares of its value that a line may miss single sizes by, ten to a factor of ten; between them is
interpolated."""
FULL_RISE = 0.25
"""Given: rise of a line above its intercept from which on sizes may miss it by the whole misfit."""
LEAST_RAMP = 0.3
"""Given: share of the misfit that sizes near the intercept may miss it by."""
BAD_MISFIT = 0.1
"""Given: misfit above which a line says little of single sizes: what those near its intercept may miss it by grows no
more."""
NEAR_OCTAVES, FAR_OCTAVES = 3.0, 5.0
"""Given: octaves from the smallest size up to which sizes are near the intercept of such a line; from which they
aren't."""
NOISY = 0.02
"""Given: typical error of a value from which residuals that are too large mean noise, not a curve."""
LINE_NUMBERS = 3
"""Derived: what one more line may choose: its intercept, its slope and where it begins."""
ALPHA = 0.01
"""Given: share of the series of one line in which noise may pass for a second one."""
TRAIN_STEPS = 9
"""Derived: a gap is judged as the part of a train of ten that it makes: nine of them follow one half round trip each
way."""
OVERHEAD_SHARE = 0.1
"""Given: share of the half round trip below which the errors of an overhead do not matter."""
