"""The names of methods that are not read off one pair's times over the size."""

from __future__ import annotations

ONE_TO_MANY = "one-to-many"
"""RTT(p) and post times over p."""
EVERY_K = "k=all"
PAIR_METHODS = (EVERY_K, "k=1", "k=max")
"""Of k pairs: which numbers of pairs are fitted to."""
