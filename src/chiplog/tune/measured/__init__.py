"""Choices that are measured: the MPI's algorithms race against its default, and only sure winners are written."""
