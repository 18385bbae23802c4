// Whether the MPI of the program is the one that the library was built with.
#pragma once

namespace chiplog::collectives {

// Ends the process with a sentence where the handles of the program's MPI are others than those of the library: Open
// MPI's are addresses, those of MPICH and of all that descend from it are numbers. To be called before the MPI is.
void end_under_other_mpi();

}  // namespace chiplog::collectives
