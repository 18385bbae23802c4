// How the ranks of a communicator find each other and agree on a barrier.
#pragma once

#include <mpi.h>

#include <memory>

#include "collectives/mpi/barrier.hpp"
#include "collectives/mpi/world.hpp"

namespace chiplog::collectives {

// Collective over `communicator`, whose members have all come to it: they have just left the same barrier of the MPI's.
// The same comes out on all of them. Members without the library take no part: then the others find that out by
// themselves, and make no call of the MPI that communicates. No communicator is made.
struct SetUpResult {
  std::unique_ptr<Barrier> barrier;  // null where the MPI's own must do
  bool is_put_off = false;           // it must do for a while only
};
[[nodiscard]] SetUpResult set_up(MPI_Comm communicator, World& world);

}  // namespace chiplog::collectives
