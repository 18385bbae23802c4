// Simulated time: integer picoseconds since the start, checked.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace chiplog::simulation {

using Picoseconds = std::int64_t;

// Thrown where a time would exceed 2^63 ps, which are 106 days.
class TimeOverflow : public std::overflow_error {
 public:
  TimeOverflow() : std::overflow_error("a time exceeds 2^63 ps (106 days)") {}
};

[[nodiscard]] inline Picoseconds add(Picoseconds a, Picoseconds b) {
  Picoseconds sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw TimeOverflow();
  return sum;
}

}  // namespace chiplog::simulation
