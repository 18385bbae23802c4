// How a communicator gets its barrier.
#pragma once

#include <mpi.h>

#include <memory>

#include "collectives/mpi/barrier.hpp"

namespace chiplog::collectives {

// Collective over `communicator`. Null on all ranks where it can't be served: an intercommunicator, a single rank, or
// an MPI that refuses what is needed, or where one rank isn't `willing`. The program's attributes and error handlers
// are not called.
[[nodiscard]] std::unique_ptr<Barrier> set_up(MPI_Comm communicator, bool willing);

}  // namespace chiplog::collectives
