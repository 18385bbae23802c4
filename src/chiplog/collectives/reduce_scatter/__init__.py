"""Algorithms of the operation reduce_scatter."""
