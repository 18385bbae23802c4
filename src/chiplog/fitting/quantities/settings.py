"""Numbers by which samples become the value of a size, each with where it comes from."""

from __future__ import annotations

OUTLIER_SPREADS = 20.0
"""Given: a sample is far off above median + 20 (median - 10 % quantile): 25 standard deviations of a normal one."""
LOW_QUANTILE = 0.1
"""Given: quantile whose distance from the median is the spread that outliers are judged by; no outlier moves it."""
MOST_OUTLIERS = 0.2
"""Given: share of the samples from which those far off are a mode of the machine."""
NORMAL_SAMPLES = 10
"""Given: samples from which the place of the median among them is drawn from a normal distribution, which is faster."""
WORST_Z = 4.0
"""Given: standard errors by which one record's disagreement counts at most."""
REPLICATES = 400
"""Given: bootstrap replicates of each series, twice those of a fit's parameters."""
SELF_WEIGHT = 0.3
"""Given: how much a series' own standard error counts against those of its kind at neighbouring sizes."""
NEIGHBOURS = 3
"""Given: sizes on either side that count as neighbouring."""
LONG_TRAIN = 4
"""Given: messages from which trains are of one kind."""
