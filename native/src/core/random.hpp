// Random numbers that do not depend on the compiler or library.
#pragma once

#include <array>
#include <cstdint>

#include "chiplog/split_mix.hpp"

namespace chiplog {

// xoshiro256** (Blackman, Vigna 2018).
class Random {
 public:
  explicit Random(std::uint64_t seed);

  std::uint64_t bits();
  double uniform();          // in [0, 1)
  double standard_normal();  // Box-Muller

 private:
  std::array<std::uint64_t, 4> state_{};
  double spare_normal_ = 0.0;
  bool has_spare_ = false;
};

}  // namespace chiplog
