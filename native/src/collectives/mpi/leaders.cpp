#include "collectives/mpi/leaders.hpp"

#include <utility>

#include "collectives/mpi/trial.hpp"

namespace chiplog::collectives {

Leaders::Leaders(LeaderGroup group, OwnedTag tag, Choice& choice, Tell tell)
    : group_(std::move(group)), tag_(std::move(tag)), tell_(std::move(tell)) {
  if (choice.by_trial) {
    rounds_ = fastest_of_all(group_, choice);
    return;
  }
  rounds_ = std::make_unique<LeaderRounds>(group_, choice);
  if (choice.provisional) until_trial_ = barriers_before_trial;
}

// Where the MPI refuses something, all goes on as it was.
void Leaders::try_all() {
  Choice choice;
  auto fastest = fastest_of_all(group_, choice);
  if (!fastest) return;
  rounds_ = std::move(fastest);
  if (tell_) tell_(choice);
}

}  // namespace chiplog::collectives
