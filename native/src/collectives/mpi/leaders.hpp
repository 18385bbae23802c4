// The barrier among the first ranks of the nodes, which may get better while it is used.
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>

#include "collectives/mpi/leader_rounds.hpp"
#include "collectives/mpi/world.hpp"
#include "collectives/tuning.hpp"

namespace chiplog::collectives {

// Where nobody has said which barrier to take, the first ones are as good as what is known of the number of ranks. A
// communicator that goes on is worth a trial, once; as barriers are collective, all ranks begin it at the same one.
class Leaders {
 public:
  using Tell = std::function<void(const Choice&)>;

  static constexpr int barriers_before_trial = 1000;

  // All leaders give the same choice, which has an algorithm or is by trial. `tell` hears what a later trial found.
  // `error()` says whether what is needed could be made.
  Leaders(LeaderGroup group, OwnedTag tag, Choice& choice, Tell tell);

  [[nodiscard]] int error() const { return rounds_ ? rounds_->error() : MPI_ERR_OTHER; }

  // MPI_SUCCESS, or the MPI's error.
  int run() {
    if (until_trial_ > 0 && --until_trial_ == 0) try_all();
    return rounds_->run();
  }

 private:
  void try_all();

  LeaderGroup group_;
  OwnedTag tag_;
  std::unique_ptr<LeaderRounds> rounds_;
  Tell tell_;
  int until_trial_ = 0;  // 0: there is none to come
};

}  // namespace chiplog::collectives
