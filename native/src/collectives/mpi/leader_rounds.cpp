#include "collectives/mpi/leader_rounds.hpp"

#include "core/dissemination.hpp"

namespace chiplog::collectives {
namespace {

constexpr int tag = 0;  // two ranks exchange at most one message a barrier, and messages don't overtake

}  // namespace

LeaderRounds::LeaderRounds(MPI_Comm own, int peers) : own_(own) {
  PMPI_Comm_set_errhandler(own_, MPI_ERRORS_RETURN);
  if (peers > 0) make_requests(peers);
}

LeaderRounds::~LeaderRounds() {
  for (MPI_Request& request : receives_) PMPI_Request_free(&request);
  for (MPI_Request& request : sends_) PMPI_Request_free(&request);
  PMPI_Comm_free(&own_);
}

void LeaderRounds::make_requests(int peers) {
  int rank = 0;
  int ranks = 0;
  PMPI_Comm_rank(own_, &rank);
  PMPI_Comm_size(own_, &ranks);
  for (const std::vector<int>& steps : dissemination_steps(ranks, peers)) {
    rounds_.push_back({static_cast<int>(sends_.size()), static_cast<int>(steps.size())});
    for (const int step : steps) {
      MPI_Request request = MPI_REQUEST_NULL;
      error_ = PMPI_Recv_init(nullptr, 0, MPI_BYTE, (rank - step + ranks) % ranks, tag, own_, &request);
      if (error_ != MPI_SUCCESS) return;
      receives_.push_back(request);
      error_ = PMPI_Send_init(nullptr, 0, MPI_BYTE, (rank + step) % ranks, tag, own_, &request);
      if (error_ != MPI_SUCCESS) return;
      sends_.push_back(request);
    }
  }
}

int LeaderRounds::run() { return rounds_.empty() ? PMPI_Barrier(own_) : run_rounds(); }

// All receives are posted at once, so that no message of a later round comes unexpected.
int LeaderRounds::run_rounds() {
  const auto all = static_cast<int>(receives_.size());
  int error = PMPI_Startall(all, receives_.data());
  for (const Round& round : rounds_) {
    if (error == MPI_SUCCESS) error = PMPI_Startall(round.count, &sends_[static_cast<std::size_t>(round.first)]);
    if (error != MPI_SUCCESS) return error;
    error = PMPI_Waitall(round.count, &receives_[static_cast<std::size_t>(round.first)], MPI_STATUSES_IGNORE);
  }
  return error == MPI_SUCCESS ? PMPI_Waitall(all, sends_.data(), MPI_STATUSES_IGNORE) : error;
}

}  // namespace chiplog::collectives
