// Which barrier is the fastest among these ranks, found by trying.
#pragma once

#include <mpi.h>

#include "collectives/tuning.hpp"

namespace chiplog::collectives {

// Collective over `own`, whose errors are returned: sets the same choice on all its ranks. False where the MPI refuses
// what is needed.
[[nodiscard]] bool try_all(MPI_Comm own, Choice& choice);

}  // namespace chiplog::collectives
