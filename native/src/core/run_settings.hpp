// What the command line asked for.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace chiplog {

// The same on every rank.
struct RunSettings {
  std::string version;
  std::string target;
  std::string pin = "filled";  // filled, round-robin, none or a list of CPUs, one a rank
  std::chrono::nanoseconds time_limit = std::chrono::seconds(30);
  std::uint64_t seed = 0;
  int ranks = 2;
  int launch = 0;
};

}  // namespace chiplog
