"""Constants of the normal distribution that turn robust statistics into standard deviations."""

from __future__ import annotations

MAD_TO_DEVIATION = 1.4826
"""Standard deviation over median absolute deviation."""
MEDIAN_ABSOLUTE = 0.6745
"""Median absolute value of a standard normal variable."""
DIFFERENCE_MEDIAN = 0.9539
"""Median absolute difference of two standard normal variables."""
QUARTILE_RANGE = 1.349
"""Interquartile range of a standard normal variable."""
MEDIAN_ERROR = 1.2533
"""Standard error of a median over that of a mean: sqrt(pi/2)."""
