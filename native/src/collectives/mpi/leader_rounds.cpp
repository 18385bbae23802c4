#include "collectives/mpi/leader_rounds.hpp"

namespace chiplog::collectives {
namespace {

// One that couldn't be made is none.
void free_all(std::vector<MPI_Request>& requests) {
  for (MPI_Request& request : requests) {
    if (request != MPI_REQUEST_NULL) PMPI_Request_free(&request);
  }
}

}  // namespace

LeaderRounds::LeaderRounds(const LeaderGroup& group, const Choice& choice) {
  make_requests(group, choice.algorithm->schedule(group.size(), group.self, choice.peers));
}

LeaderRounds::~LeaderRounds() {
  free_all(receives_);
  free_all(sends_);
}

// At most one message a barrier goes from one rank to another, and messages don't overtake, so one tag will do.
void LeaderRounds::make_requests(const LeaderGroup& group, const BarrierSchedule& schedule) {
  for (const BarrierRound& round : schedule) {
    rounds_.push_back(
        {sends_.size(), receives_.size(), static_cast<int>(round.tells.size()), static_cast<int>(round.hears.size())});
    for (const int other : round.hears) {
      error_ = PMPI_Recv_init(nullptr, 0, MPI_BYTE, group.rank_of(other), group.tag, group.messages,
                              &receives_.emplace_back(MPI_REQUEST_NULL));
      if (error_ != MPI_SUCCESS) return;
    }
    for (const int other : round.tells) {
      error_ = PMPI_Send_init(nullptr, 0, MPI_BYTE, group.rank_of(other), group.tag, group.messages,
                              &sends_.emplace_back(MPI_REQUEST_NULL));
      if (error_ != MPI_SUCCESS) return;
    }
  }
}

// All receives are posted at once, so that no message of a later round comes unexpected.
int LeaderRounds::run() {
  int error = PMPI_Startall(static_cast<int>(receives_.size()), receives_.data());
  for (const Part& round : rounds_) {
    if (error == MPI_SUCCESS) error = PMPI_Startall(round.sends, sends_.data() + round.first_send);
    if (error != MPI_SUCCESS) return error;
    error = PMPI_Waitall(round.receives, receives_.data() + round.first_receive, MPI_STATUSES_IGNORE);
  }
  if (error != MPI_SUCCESS) return error;
  return PMPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
}

}  // namespace chiplog::collectives
