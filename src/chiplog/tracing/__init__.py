"""Traces of MPI programs: what each rank called, when, with whom and how much."""
