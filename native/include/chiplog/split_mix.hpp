// One step of the generator SplitMix64.
#pragma once

#include <cstdint>

namespace chiplog {

// Mixes a counter into 64 well-spread bits.
// Source: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 (SplitMix64).
[[nodiscard]] constexpr std::uint64_t split_mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

}  // namespace chiplog
