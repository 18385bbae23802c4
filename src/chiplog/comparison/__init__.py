"""Comparisons: of models on points that they were not fitted to, and of two runs of the same measurement."""
