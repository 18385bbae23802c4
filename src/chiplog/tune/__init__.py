"""From a fitted model to the files that make an MPI use what the model says is fastest."""
