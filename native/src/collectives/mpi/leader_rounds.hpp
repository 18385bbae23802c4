// The n-way dissemination barrier over messages of the MPI, one rank of each node.
#pragma once

#include <mpi.h>

#include <vector>

namespace chiplog::collectives {

// Peers and requests are made once. Its communicator is its own, so no message of the program's is ever matched; errors
// are returned, not handled.
class LeaderRounds {
 public:
  // Takes the communicator; all its ranks give the same `peers` (0: the MPI's own barrier). `error()` says whether
  // the requests could be made.
  LeaderRounds(MPI_Comm own, int peers);
  ~LeaderRounds();
  LeaderRounds(const LeaderRounds&) = delete;
  LeaderRounds& operator=(const LeaderRounds&) = delete;

  [[nodiscard]] int error() const { return error_; }
  // MPI_SUCCESS, or the MPI's error.
  int run();

 private:
  struct Round {
    int first = 0;  // of its receives in `receives_`, and of its sends in `sends_`
    int count = 0;
  };

  void make_requests(int peers);
  int run_rounds();

  MPI_Comm own_;
  std::vector<Round> rounds_;
  std::vector<MPI_Request> receives_;
  std::vector<MPI_Request> sends_;
  int error_ = MPI_SUCCESS;
};

}  // namespace chiplog::collectives
