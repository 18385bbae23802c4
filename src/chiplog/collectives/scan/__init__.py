"""Algorithms of the operation scan."""
