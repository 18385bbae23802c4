// The MPI's own work while ranks wait in memory that the MPI knows nothing of.
#pragma once

#include <mpi.h>

namespace chiplog::collectives {

// A communicator of this process alone, in which nobody ever sends: to probe it finds nothing, so every MPI does some of
// its work on the way. Made at the first use; MPI_COMM_NULL where the MPI refuses.
[[nodiscard]] MPI_Comm progress_communicator();

// In MPI_Finalize, while MPI is still up.
void free_progress_communicator();

// Returns 0 or the MPI's error.
inline int make_progress(MPI_Comm own) {
  int found = 0;
  return PMPI_Iprobe(0, 0, own, &found, MPI_STATUS_IGNORE);
}

}  // namespace chiplog::collectives
