// Noise: other work of a rank's CPU, which makes calcs, sends and receives take longer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulation/time.hpp"

namespace chiplog::simulation {

enum class Distribution : std::uint8_t { none, exponential, half_normal, pareto };

// A CPU loses the time [start, start + length).
struct Detour {
  Picoseconds start = 0;
  Picoseconds length = 0;
};

struct NoiseParameters {
  Distribution distribution = Distribution::none;
  double mean_ps = 0;      // of what a hit adds to an interval
  double mean_share = 0;   // the same, as a share of the interval; the two add up
  double probability = 1;  // that an interval is hit
  // The lost times of a CPU, ascending and disjoint. The trace repeats after the last one; ranks start at random
  // places.
  std::vector<Detour> detours;
  std::uint64_t seed = 0;  // of the draws and of the places
};

// Draws are counted by rank: the k-th interval of a rank gets the same draws whatever the other ranks do.
//   exponential: mean -ln u; half-normal: mean sqrt(pi/2) |z|; Pareto: mean (1/sqrt(u) - 1), Lomax's form of shape 2
class Noise {
 public:
  // Throws std::invalid_argument unless means are >= 0, the probability in 0..1, and detours as described.
  Noise(const NoiseParameters& parameters, std::uint32_t ranks);

  [[nodiscard]] bool silent() const { return drawn_.empty() && detours_.empty(); }
  // The end of an interval of `duration` that starts at `start`. Throws TimeOverflow.
  [[nodiscard]] Picoseconds end(std::uint32_t rank, Picoseconds start, Picoseconds duration);

 private:
  [[nodiscard]] Picoseconds drawn(std::uint32_t rank, Picoseconds duration);
  [[nodiscard]] Picoseconds behind_detours(std::uint32_t rank, Picoseconds start, Picoseconds duration) const;
  [[nodiscard]] Picoseconds worked_until(Picoseconds place) const;

  NoiseParameters parameters_;
  std::vector<std::uint64_t> drawn_;  // by rank: how many intervals there were; empty without a distribution
  std::vector<Detour> detours_;
  std::vector<Picoseconds> worked_;  // by detour: time left for work before it, in one round of the trace
  std::vector<Picoseconds> places_;  // by rank: where in the trace it starts
  Picoseconds period_ = 0;
};

}  // namespace chiplog::simulation
