"""Algorithms of the operation scatter."""
