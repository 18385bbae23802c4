// Which barrier is the fastest among these ranks, found by trying.
#pragma once

#include <mpi.h>

#include <memory>

#include "collectives/mpi/leader_rounds.hpp"
#include "collectives/tuning.hpp"

namespace chiplog::collectives {

// All leaders call it: the fastest, ready to run, and on all of them the same `choice`. Null, with `choice` as it was,
// where the MPI refuses what is needed.
[[nodiscard]] std::unique_ptr<LeaderRounds> fastest_of_all(const LeaderGroup& group, Choice& choice);

}  // namespace chiplog::collectives
