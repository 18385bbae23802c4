"""Algorithms of the operation barrier."""
