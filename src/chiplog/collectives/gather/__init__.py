"""Algorithms of the operation gather."""
