"""Algorithms of the operation bcast."""
