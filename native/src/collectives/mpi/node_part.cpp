#include "collectives/mpi/node_part.hpp"

#include <sched.h>

namespace chiplog::collectives {
namespace {

// Under simulation all ranks live in one process: memory would take no time there, and waiting would never end.
#ifdef CHIPLOG_SMPI
constexpr bool nodes_are_simulated = true;
#else
constexpr bool nodes_are_simulated = false;
#endif

// More ranks than all cores that they may run on together.
bool crowded(MPI_Comm node, int ranks) {
  cpu_set_t own;
  cpu_set_t together;
  CPU_ZERO(&own);
  CPU_ZERO(&together);
  sched_getaffinity(0, sizeof own, &own);
  if (PMPI_Allreduce(&own, &together, sizeof own, MPI_BYTE, MPI_BOR, node) != MPI_SUCCESS) return true;
  return ranks > CPU_COUNT(&together);
}

NodeMemory share(MPI_Comm node, int ranks, int rank) {
  const std::size_t bytes = NodeFlags::bytes(ranks);
  NodeMemory memory;
  if (rank == 0) memory = NodeMemory::make(bytes);
  NodeMemoryAddress address = memory.address();
  if (PMPI_Bcast(&address, sizeof address, MPI_BYTE, 0, node) != MPI_SUCCESS) return {};
  if (rank != 0) memory = NodeMemory::open(address, bytes);
  const int mine = memory.data() != nullptr ? 1 : 0;
  int all = 0;
  if (PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, node) != MPI_SUCCESS || all == 0) return {};
  memory.close();
  return memory;
}

}  // namespace

NodePart meet_on_node(MPI_Comm communicator) {
  NodePart part;
  if (nodes_are_simulated) return part;
  MPI_Comm node = MPI_COMM_NULL;
  int rank = 0;
  PMPI_Comm_rank(communicator, &rank);
  if (PMPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node) != MPI_SUCCESS) {
    part.failure = "the MPI doesn't tell which ranks share memory";
    return part;
  }
  PMPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
  PMPI_Comm_size(node, &part.ranks);
  PMPI_Comm_rank(node, &part.rank);
  if (part.ranks > 1) {
    part.patience.crowded = crowded(node, part.ranks);
    part.memory = share(node, part.ranks, part.rank);
    if (part.memory.data() == nullptr) part.failure = "ranks of a node can't open memory of each other";
  }
  PMPI_Comm_free(&node);
  return part;
}

}  // namespace chiplog::collectives
