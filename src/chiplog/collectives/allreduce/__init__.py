"""Algorithms of the operation allreduce."""
