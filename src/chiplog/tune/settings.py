"""Numbers that several parts of this room share, each with where it comes from."""

from __future__ import annotations

import sys

ANSWER_SECONDS = 60.0
"""Given: a program of an MPI that takes longer to answer hangs."""
MOST_INT = (1 << 31) - 1
"""Given: the largest int of C, in which MPIs keep numbers of ranks and of algorithms."""
WITHOUT_END = sys.maxsize
"""The last number of a range that goes on for ever."""
