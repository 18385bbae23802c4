// The ranks of a communicator by node, as one of them sees them before any of them has been asked.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "collectives/mpi/world.hpp"

namespace chiplog::collectives {

struct Members {
  int rank = 0;                  // in the communicator
  std::vector<int> world_ranks;  // in the order of their ranks in the communicator
  std::vector<int> leaders;      // the first rank of each node, in the communicator
  std::vector<int> neighbours;   // the ranks of this node, in the communicator, this one among them

  [[nodiscard]] int count() const { return static_cast<int>(world_ranks.size()); }
  [[nodiscard]] int world_rank(int rank) const { return world_ranks[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::vector<int> world_ranks_of(const std::vector<int>& ranks) const;
};

// Sets `why_not`, on all members alike, where the library can't serve them.
[[nodiscard]] Members find_members(MPI_Comm communicator, World& world, std::string& why_not);

// The same members as if each had a node of its own.
[[nodiscard]] Members apart(Members members);

}  // namespace chiplog::collectives
