// The time of one simulated rank.
#pragma once

#include <cmath>
#include <string_view>

#include "chiplog/clock.hpp"
#include "core/random.hpp"
#include "transports/sim/network.hpp"

namespace chiplog::sim {

// Ticks are picoseconds. Noise and outliers come with `interval_ns`, once a sample: the median stays the truth. Ranks
// that time a sample together have the noise in common, since the largest of several noises would be no median.
class VirtualClock {
 public:
  VirtualClock(Network& network, Rank rank, std::uint64_t seed, std::uint64_t common_seed)
      : network_(network),
        rank_(rank),
        noise_(network.parameters().noise),
        outliers_(network.parameters().outliers),
        random_(seed),
        common_seed_(common_seed) {}

  [[nodiscard]] Ticks now() const { return network_.now(rank_); }

  double interval_ns(Ticks begin, Ticks end) {
    const double duration_ns = static_cast<double>(end - begin) * 1e-3;
    const std::uint64_t meeting = network_.meeting(rank_);
    if (meeting == 0) return disturbed(duration_ns, random_);
    Random common(split_mix(common_seed_ ^ meeting));
    return disturbed(duration_ns, common);
  }

  Ticks busy_wait(double nanoseconds) {
    network_.compute(rank_, to_picoseconds(nanoseconds));
    return static_cast<Ticks>(to_picoseconds(nanoseconds));
  }
  // Without noise: waits are what was asked for.
  [[nodiscard]] static double exact_wait_ns(Ticks ticks) { return static_cast<double>(ticks) * 1e-3; }
  [[nodiscard]] double resolution_ns() const { return 1.0; }
  [[nodiscard]] double overhead_ns() const { return 0.0; }
  [[nodiscard]] std::string_view name() const { return "virtual"; }

 private:
  [[nodiscard]] double disturbed(double duration_ns, Random& random) const {
    if (noise_ > 0.0) duration_ns *= std::exp(noise_ * random.standard_normal());
    if (outliers_ > 0.0 && random.uniform() < outliers_) duration_ns *= 10.0;
    return duration_ns;
  }

  Network& network_;
  Rank rank_;
  double noise_;
  double outliers_;
  Random random_;
  std::uint64_t common_seed_;
};

static_assert(Clock<VirtualClock>);

}  // namespace chiplog::sim
