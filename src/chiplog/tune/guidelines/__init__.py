"""Whether an MPI's collective operations hold the self-consistent performance guidelines."""
