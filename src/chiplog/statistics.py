"""Constants of robust statistics: of the normal distribution, and of intervals that need no distribution."""

from __future__ import annotations

import math

MAD_TO_DEVIATION = 1.4826
"""Derived: standard deviation over median absolute deviation."""
MEDIAN_ABSOLUTE = 0.6745
"""Derived: median absolute value of a standard normal variable."""
DIFFERENCE_MEDIAN = 0.9539
"""Derived: median absolute difference of two standard normal variables."""
QUARTILE_RANGE = 1.349
"""Derived: interquartile range of a standard normal variable."""
MEDIAN_ERROR = 1.2533
"""Derived: standard error of a median over that of a mean: sqrt(pi/2)."""
UNIFORM_DEVIATION = 1.0 / math.sqrt(12.0)
"""Derived: standard deviation of a uniform variable over the width of its range."""
CONFIDENCE = 0.95
"""Given: probability with which an interval holds its value."""
TAILS = ((1.0 - CONFIDENCE) / 2.0, (1.0 + CONFIDENCE) / 2.0)
"""Derived: quantiles at the ends of an interval of that confidence."""
FEWEST_SAMPLES = math.ceil(1.0 - math.log2(1.0 - CONFIDENCE))
"""Samples from which their extremes hold the median with that confidence: the least n with 2 (1/2)^n <= 5 %, 6."""
NORMAL_975 = 1.959963984540054
"""Derived: standard deviations of a normal variable that hold 95 % of it on both sides."""
BEYOND_DOUBT = 3.0
"""Given: standard errors beyond which a difference is not chance."""
NO_DIFFERENCE = 0.05
"""Given: ratios closer to 1 than this are no difference in practice."""
