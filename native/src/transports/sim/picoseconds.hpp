// Virtual time.
#pragma once

#include <cmath>
#include <cstdint>

namespace chiplog::sim {

using Picoseconds = std::uint64_t;

[[nodiscard]] inline Picoseconds to_picoseconds(double nanoseconds) {
  return nanoseconds <= 0.0 ? 0 : static_cast<Picoseconds>(std::llround(nanoseconds * 1e3));
}

}  // namespace chiplog::sim
