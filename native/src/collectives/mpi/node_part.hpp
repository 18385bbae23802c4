// The ranks of one communicator that share a node, and the memory in which they meet.
#pragma once

#include <mpi.h>

#include <string>

#include "collectives/node_flags.hpp"
#include "collectives/patience.hpp"
#include "core/node_memory.hpp"

namespace chiplog::collectives {

struct NodePart {
  NodeMemory memory;  // empty for a rank alone on its node, and where it couldn't be made
  int ranks = 1;
  int rank = 0;
  Patience patience;
  std::string failure;  // why this node can't meet in shared memory, or nothing

  [[nodiscard]] NodeFlags flags() const { return {memory.data(), ranks, rank, patience.looks()}; }
};

// Collective over `communicator`, whose errors must be returned. Rank 0 of each node is the one lowest in
// `communicator`. A failure is the same on all ranks of a node, but not on other nodes.
[[nodiscard]] NodePart meet_on_node(MPI_Comm communicator);

}  // namespace chiplog::collectives
