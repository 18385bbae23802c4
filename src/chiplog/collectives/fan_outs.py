"""Barriers for models of one process and its p peers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FanOut:
    """`rounds` rounds, one after the other, in each of which the busiest rank addresses `peers` others."""

    peers: int
    rounds: int
