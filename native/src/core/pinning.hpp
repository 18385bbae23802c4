// On which CPU a rank runs.
#pragma once

#include <string_view>
#include <vector>

#include "chiplog/transport.hpp"

namespace chiplog {

// `request` is auto (rank i on the i-th of the allowed CPUs, counted round and round), none, or a list of CPUs with
// one for each rank, such as 0,2. UsageError for anything else.
struct PinRequest {
  enum class Kind { automatic, none, list };
  Kind kind = Kind::automatic;
  std::vector<int> cpus;
};
[[nodiscard]] PinRequest parse_pin(std::string_view request, int ranks);

// Binds the calling thread. UsageError if a listed CPU is not allowed here.
void pin_rank(const PinRequest& request, Rank rank);

}  // namespace chiplog
