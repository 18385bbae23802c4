"""Is a tuning file in force? Proved with the MPI at hand."""
