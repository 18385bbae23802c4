// Which barrier is the fastest among these ranks, found by trying.
#pragma once

#include <mpi.h>

#include <memory>

#include "collectives/mpi/leader_rounds.hpp"
#include "collectives/tuning.hpp"

namespace chiplog::collectives {

// Collective over `own`, whose errors are returned: the fastest, ready to run, and on all ranks the same `choice`.
// Null, with `choice` as it was, where the MPI refuses what is needed.
[[nodiscard]] std::unique_ptr<LeaderRounds> fastest_of_all(MPI_Comm own, Choice& choice);

}  // namespace chiplog::collectives
