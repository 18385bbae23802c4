// What a rank does while it waits for others of its node.
#pragma once

#include <sched.h>

namespace chiplog::collectives {

// How long to look before doing something else: about a microsecond, or at once where ranks share cores.
struct Patience {
  bool crowded = false;  // more ranks than cores

  static constexpr int idle_looks = 32;
  static constexpr int crowded_looks = 2;

  [[nodiscard]] int looks() const { return crowded ? crowded_looks : idle_looks; }
};

// Called when looking was in vain. Between looks the MPI's own work must go on: another rank may wait, before its own
// barrier, for a message of this one that needs this one's help (a rendezvous, or remote memory access without
// hardware for it). `Progress` does a bit of that work and returns 0, or an MPI error.
template <class Progress>
class Waiting {
 public:
  Waiting(Patience patience, Progress progress) : progress_(progress), crowded_(patience.crowded) {}

  int operator()() {
    ++calls_;
    const int error = crowded_ && calls_ <= crowded_calls_before_progress ? 0 : progress_();
    if (crowded_ || calls_ > calls_before_yielding) sched_yield();
    return error;
  }

 private:
  // Some ten microseconds: whoever is so late may wait for this core.
  static constexpr unsigned calls_before_yielding = 16;
  // Where cores are shared, a rank's first turns are better spent by whom it waits for; whoever is on time comes within
  // them. In a longer wait turns may be a scheduler's tick apart, and others wait for this rank's help.
  static constexpr unsigned crowded_calls_before_progress = 4;

  Progress progress_;
  unsigned calls_ = 0;
  bool crowded_;
};

}  // namespace chiplog::collectives
