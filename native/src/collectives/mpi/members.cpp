#include "collectives/mpi/members.hpp"

#include <numeric>
#include <set>
#include <utility>

namespace chiplog::collectives {
namespace {

bool is_intercommunicator(MPI_Comm communicator) {
  int inter = 0;
  PMPI_Comm_test_inter(communicator, &inter);
  return inter != 0;
}

void group_by_node(Members& members, const World& world) {
  if (world.messages() == MPI_COMM_NULL) {  // then all of them are here
    members.leaders = {0};
    members.neighbours.resize(members.world_ranks.size());
    std::iota(members.neighbours.begin(), members.neighbours.end(), 0);
    return;
  }
  std::set<int> nodes;
  const auto node_of = [&](int rank) { return world.node_of(members.world_rank(rank)); };
  for (int rank = 0; rank < members.count(); ++rank) {
    if (nodes.insert(node_of(rank)).second) members.leaders.push_back(rank);
    if (node_of(rank) == node_of(members.rank)) members.neighbours.push_back(rank);
  }
}

}  // namespace

std::vector<int> Members::world_ranks_of(const std::vector<int>& ranks) const {
  std::vector<int> found;
  for (const int one : ranks) found.push_back(world_rank(one));
  return found;
}

Members find_members(MPI_Comm communicator, World& world, std::string& why_not) {
  Members members;
  PMPI_Comm_rank(communicator, &members.rank);
  if (is_intercommunicator(communicator)) {
    why_not = "it is an intercommunicator";
    return members;
  }
  members.world_ranks = world.ranks_of(communicator);
  if (members.count() == 0) {
    why_not = "its group is not one of ranks of this program's MPI_COMM_WORLD";
  } else if (members.count() == 1) {
    why_not = "it has one rank";
  } else if (world.messages() == MPI_COMM_NULL && !world.has_here(members.world_ranks)) {
    why_not =
        "not all of its ranks were found on this node with the library; where every rank of the program has it, "
        "CHIPLOG_EVERY_RANK=1 says so";
  } else {
    group_by_node(members, world);
  }
  return members;
}

Members apart(Members members) {
  members.leaders.resize(members.world_ranks.size());
  std::iota(members.leaders.begin(), members.leaders.end(), 0);
  members.neighbours = {members.rank};
  return members;
}

}  // namespace chiplog::collectives
