#include "transports/sim/disturbances.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace chiplog::sim {
namespace {

double standard_exponential(Random& random) { return -std::log(1.0 - random.uniform()); }

}  // namespace

// Both kinds have the standard deviation `noise` of the logarithm and the median 1.
double Disturbances::factor(Random& random) const {
  double factor = 1.0;
  if (noise > 0.0) {
    const bool is_skewed = kind == NoiseKind::skewed;
    const double deviate = is_skewed ? standard_exponential(random) - std::numbers::ln2 : random.standard_normal();
    factor = std::exp(noise * deviate);
  }
  if (outliers > 0.0 && random.uniform() < outliers) factor *= 10.0;
  return factor;
}

double DriftChain::at(std::uint64_t step) {
  if (drift_.deviation <= 0.0) return 0.0;
  const double rest = std::sqrt(1.0 - drift_.correlation * drift_.correlation);
  for (; step_ < step; ++step_) {
    const double fresh = drift_.deviation * random_.standard_normal();
    value_ = step_ == 0 ? fresh : drift_.correlation * value_ + rest * fresh;
  }
  return value_;
}

StateHistory::StateHistory(const States& states, std::uint64_t seed)
    : states_(states), random_(seed), begins_slow_(random_.uniform() < states.share) {}

Picoseconds StateHistory::draw_length() {
  const bool is_slow = begins_slow_ == (changes_.size() % 2 == 0);
  const double mean_ns = states_.mean_length_ns * (is_slow ? 1.0 : (1.0 - states_.share) / states_.share);
  return std::max<Picoseconds>(to_picoseconds(mean_ns * standard_exponential(random_)), 1);
}

double StateHistory::factor(Picoseconds now) {
  while (changes_.empty() || changes_.back() <= now) {
    const Picoseconds last = changes_.empty() ? 0 : changes_.back();
    const Picoseconds next = last + draw_length();
    changes_.push_back(next);
  }
  const auto passed = std::upper_bound(changes_.begin(), changes_.end(), now) - changes_.begin();
  const bool is_slow = begins_slow_ == (passed % 2 == 0);
  return is_slow ? states_.factor : 1.0;
}

}  // namespace chiplog::sim
