"""Whole jobs, put together from the stages: `measure`, `run` and `report`, each in the module of its name."""

from __future__ import annotations
