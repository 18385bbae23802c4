"""The names that the rooms beside `detect` take from it."""

from __future__ import annotations

from chiplog.fit.changes.detect.consensus import Verdict, Witness, agree, change_of

__all__ = ["Verdict", "Witness", "agree", "change_of"]
