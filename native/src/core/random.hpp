// Random numbers that are the same with every compiler and library.
#pragma once

#include <array>
#include <cstdint>

namespace chiplog {

// One step of SplitMix64 (Steele, Lea, Flood 2014): mixes a counter into 64 well-spread bits.
[[nodiscard]] constexpr std::uint64_t split_mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

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
