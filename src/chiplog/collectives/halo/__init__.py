"""Algorithms of the operation halo."""
