"""Regimes: the ranges of sizes over which one line predicts a series."""

from __future__ import annotations

from chiplog.fitting.regimes.find import Regimes, find_regimes
from chiplog.fitting.regimes.partition import Partition, Range, partition, whole

__all__ = ["Partition", "Range", "Regimes", "find_regimes", "partition", "whole"]
