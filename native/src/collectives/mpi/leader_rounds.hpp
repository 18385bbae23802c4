// The barrier over messages of the MPI, among one rank of each node.
#pragma once

#include <mpi.h>

#include <vector>

#include "collectives/tuning.hpp"
#include "core/barrier_algorithms.hpp"

namespace chiplog::collectives {

// The first ranks of the nodes, as one of them sees them. Their messages go on a communicator of the library's, which
// all barriers share, with a tag that no other barrier has there: no message of the program's is ever matched.
struct LeaderGroup {
  MPI_Comm messages = MPI_COMM_NULL;
  int tag = 0;
  std::vector<int> ranks;  // in `messages`
  int self = 0;            // which of them this process is

  [[nodiscard]] int size() const { return static_cast<int>(ranks.size()); }
  [[nodiscard]] int rank_of(int leader) const { return ranks[static_cast<std::size_t>(leader)]; }
};

// Peers and requests are made once. Errors are returned, not handled.
class LeaderRounds {
 public:
  // All leaders give the same choice, which has an algorithm. `error()` says whether the requests could be made.
  LeaderRounds(const LeaderGroup& group, const Choice& choice);
  ~LeaderRounds();
  LeaderRounds(const LeaderRounds&) = delete;
  LeaderRounds& operator=(const LeaderRounds&) = delete;

  [[nodiscard]] int error() const { return error_; }
  // MPI_SUCCESS, or the MPI's error.
  int run();

 private:
  // Which of the requests belong to a round.
  struct Part {
    std::size_t first_send = 0;
    std::size_t first_receive = 0;
    int sends = 0;
    int receives = 0;
  };

  void make_requests(const LeaderGroup& group, const BarrierSchedule& schedule);

  std::vector<Part> rounds_;
  std::vector<MPI_Request> receives_;
  std::vector<MPI_Request> sends_;
  int error_ = MPI_SUCCESS;
};

}  // namespace chiplog::collectives
