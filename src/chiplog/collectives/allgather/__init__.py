"""Algorithms of the operation allgather."""
