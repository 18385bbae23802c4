"""Which algorithm an MPI takes for a collective call, where nothing is set."""
