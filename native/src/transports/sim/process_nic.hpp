// The gap between the messages of one process, and the messages that are free of it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "transports/sim/picoseconds.hpp"

namespace chiplog::sim {

// LogfP: a bucket with room for f messages that takes a gap to let one go. After a rest the first f go as they come,
// and number i > f no earlier than i-f gaps after the first. f = 1 is LogGP: a gap between any two.
class ProcessNic {
 public:
  // The time at which a message goes that is there from `earliest` on.
  Picoseconds inject(Picoseconds earliest, Picoseconds gap, std::uint64_t f) {
    const Picoseconds credit = (f - 1) * gap;
    const Picoseconds injection = std::max(earliest, empty_at_ - std::min(empty_at_, credit));
    empty_at_ = std::max(injection, empty_at_) + gap;
    return injection;
  }

  // The time after which f messages are free again.
  [[nodiscard]] Picoseconds empty_at() const { return empty_at_; }

 private:
  Picoseconds empty_at_ = 0;
};

}  // namespace chiplog::sim
