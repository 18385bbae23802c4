"""MPI's collective operations measured: a global clock, start windows, several launches."""
