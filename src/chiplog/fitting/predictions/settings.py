"""Numbers by which predictions go over what the data leave, each with where it comes from."""

from __future__ import annotations

ABOUT_OCTAVES = 2.0
"""Given: octaves on either side of a size whose errors are about as large as its own."""
LEAST_WIDTH = 1e-4
"""Given: relative; nothing is predicted better than clocks and rounding allow."""
FEWEST_HELD_OUT = 8
"""Given: held-out sizes from which there is a band."""
REFUSED = 1e9
"""Derived: seconds; only a parameter without an upper bound makes an answer that long."""
ENDLESS = 1e30
"""Derived: how many times its least value a rate, or a number of messages, is at the end of a range without an upper
bound; beyond any rate, and far from the largest double.

Between its ends, what goes evenly through the range is its inverse: the time that a byte takes.
"""
CORNERS = 6
"""Given: free parameters up to which all corners are tried, 64 at most; beyond it some of them."""
INSIDE = 16
"""Given: points inside the set that a search begins with, beside twice as many corners."""
HALVINGS = 5
"""Given: step lengths of a search, each half the one before: the last is a 32nd of the range."""
TRIES = 4
"""Given: moves of one step length after which the next one's turn comes."""
