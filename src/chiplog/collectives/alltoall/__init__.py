"""Algorithms of the operation alltoall."""
