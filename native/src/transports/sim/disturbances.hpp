// The disturbances between the true times and the samples.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/random.hpp"
#include "transports/sim/picoseconds.hpp"

namespace chiplog::sim {

enum class NoiseKind { log_normal, skewed };

// A drift of the samples' logarithm: an autoregressive process from one sample to the next.
struct Drift {
  double correlation = 0.0;
  double deviation = 0.0;
};

// The machine takes turns between its own speed and a state in which all that it does takes `factor` times as long.
struct States {
  double factor = 1.0;
  double share = 0.0;           // of the virtual time
  double mean_length_ns = 0.0;  // of the slow state
};

struct Disturbances {
  double noise = 0.0;  // standard deviation of the samples' logarithm
  NoiseKind kind = NoiseKind::log_normal;
  double outliers = 0.0;  // share of the samples that are ten times as long
  Drift drift;
  std::optional<States> states;

  // The factor of one sample; its median is 1.
  [[nodiscard]] double factor(Random& random) const;
};

// The values of a drift one after another; the same for all that have the same seed.
class DriftChain {
 public:
  DriftChain(const Drift& drift, std::uint64_t seed) : drift_(drift), random_(seed) {}

  // The logarithm at a step, which is never before the last one asked for.
  double at(std::uint64_t step);

 private:
  Drift drift_;
  Random random_;
  std::uint64_t step_ = 0;
  double value_ = 0.0;
};

// The states of the machine over time. Their lengths are exponentially distributed; any time may be asked for.
class StateHistory {
 public:
  StateHistory(const States& states, std::uint64_t seed);

  double factor(Picoseconds now);

 private:
  // The time from the last change to the next one.
  [[nodiscard]] Picoseconds draw_length();

  States states_;
  Random random_;
  bool begins_slow_;
  std::vector<Picoseconds> changes_;
};

}  // namespace chiplog::sim
