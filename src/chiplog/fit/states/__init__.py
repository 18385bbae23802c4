"""States: which records of a run are fitted together, and which sizes lines leave out."""

from __future__ import annotations

from chiplog.fit.states.choose import InOneState, in_one_state
from chiplog.fit.states.unlike import without_unlike

__all__ = ["InOneState", "in_one_state", "without_unlike"]
