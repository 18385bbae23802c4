"""Regimes: the ranges of sizes over which one line predicts a series."""

from __future__ import annotations

from chiplog.fit.regimes.find import Regimes, find_regimes
from chiplog.fit.regimes.partition import Partition, Range, partition, whole

__all__ = ["Partition", "Range", "Regimes", "find_regimes", "partition", "whole"]
