#include "collectives/mpi/leaders.hpp"

#include <utility>

#include "collectives/mpi/trial.hpp"

namespace chiplog::collectives {

Leaders::Leaders(MPI_Comm own, Choice& choice, Tell tell) : tell_(std::move(tell)) {
  if (!choice.by_trial) {
    rounds_ = std::make_unique<LeaderRounds>(own, choice);
    if (choice.provisional) until_trial_ = barriers_before_trial;
    return;
  }
  rounds_ = fastest_of_all(own, choice);
  PMPI_Comm_free(&own);
}

// Where the MPI refuses something, all goes on as it was.
void Leaders::try_all() {
  Choice choice;
  auto found = fastest_of_all(rounds_->communicator(), choice);
  if (!found) return;
  rounds_ = std::move(found);
  if (tell_) tell_(choice);
}

}  // namespace chiplog::collectives
