"""Algorithms of the operation reduce."""
