// The time of one simulated rank.
#pragma once

#include <cmath>
#include <string_view>

#include "chiplog/clock.hpp"
#include "chiplog/contract.hpp"
#include "core/random.hpp"
#include "transports/sim/disturbances.hpp"
#include "transports/sim/network.hpp"

namespace chiplog::sim {

// Ticks are picoseconds. Noise and outliers come with `interval_ns`, once a sample: the median stays the truth. Ranks
// that time a sample together have the noise in common, since the largest of several noises would be no median.
class VirtualClock {
 public:
  using Abilities = AbilityList<ability::RunsInVirtualTime, ability::WaitsExactly>;

  VirtualClock(Network& network, Rank rank, std::uint64_t seed, std::uint64_t common_seed)
      : network_(network),
        rank_(rank),
        disturbances_(network.parameters().disturbances),
        random_(seed),
        common_seed_(common_seed),
        drift_(disturbances_.drift, split_mix(seed)),
        common_drift_(disturbances_.drift, split_mix(common_seed)) {}

  [[nodiscard]] Ticks now() const { return network_.now(rank_); }

  double interval_ns(Ticks begin, Ticks end) {
    const double duration_ns = static_cast<double>(end - begin) * 1e-3;
    const std::uint64_t meeting = network_.meeting(rank_);
    if (meeting == 0) return duration_ns * disturbances_.factor(random_) * std::exp(drift_.at(++samples_));
    Random common(split_mix(common_seed_ ^ meeting));
    return duration_ns * disturbances_.factor(common) * std::exp(common_drift_.at(meeting));
  }

  Ticks busy_wait(double nanoseconds) {
    network_.compute(rank_, to_picoseconds(nanoseconds));
    return static_cast<Ticks>(to_picoseconds(nanoseconds));
  }
  // Work that a slow CPU takes longer for.
  void compute(double nanoseconds) {
    const double factor = network_.parameters().cpu_factor(rank_);
    network_.compute(rank_, to_picoseconds(nanoseconds * factor));
  }
  // Without noise: waits are what was asked for.
  [[nodiscard]] static double exact_wait_ns(Ticks ticks) { return static_cast<double>(ticks) * 1e-3; }
  [[nodiscard]] double resolution_ns() const { return 1.0; }
  [[nodiscard]] double overhead_ns() const { return 0.0; }
  [[nodiscard]] std::string_view name() const { return "virtual"; }

 private:
  Network& network_;
  Rank rank_;
  Disturbances disturbances_;
  Random random_;
  std::uint64_t common_seed_;
  DriftChain drift_;
  DriftChain common_drift_;
  std::uint64_t samples_ = 0;
};

static_assert(ClockContract<VirtualClock>::holds);

}  // namespace chiplog::sim
