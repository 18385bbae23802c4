// The barrier over messages of the MPI, among one rank of each node.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "collectives/tuning.hpp"
#include "core/barrier_algorithms.hpp"

namespace chiplog::collectives {

// Peers and requests are made once. Its communicator is its own, so no message of the program's is ever matched; errors
// are returned, not handled.
class LeaderRounds {
 public:
  // Takes the communicator; all its ranks give the same choice, which isn't `by_trial`. `error()` says whether the
  // requests could be made.
  LeaderRounds(MPI_Comm own, const Choice& choice);
  ~LeaderRounds();
  LeaderRounds(const LeaderRounds&) = delete;
  LeaderRounds& operator=(const LeaderRounds&) = delete;

  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] MPI_Comm communicator() const { return own_; }
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

  void make_requests(const BarrierSchedule& schedule);
  int run_rounds();

  MPI_Comm own_;
  std::vector<Part> rounds_;  // none: the MPI's own barrier
  std::vector<MPI_Request> receives_;
  std::vector<MPI_Request> sends_;
  int error_ = MPI_SUCCESS;
};

}  // namespace chiplog::collectives
