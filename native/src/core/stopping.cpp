#include "chiplog/stopping.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "chiplog/median.hpp"

namespace chiplog {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double tail_probability = 0.025;
// For more samples the tail of the binomial distribution is approximated by the normal distribution.
constexpr std::size_t exact_limit = 400;

double order_statistic(std::vector<double>& samples, std::size_t index) {
  const auto at = samples.begin() + static_cast<std::ptrdiff_t>(index);
  std::nth_element(samples.begin(), at, samples.end());
  return *at;
}

}  // namespace

std::size_t lower_order_statistic(std::size_t count) {
  if (count > exact_limit) {
    const auto n = static_cast<double>(count);
    return static_cast<std::size_t>(std::floor((n - 1.96 * std::sqrt(n)) / 2.0)) - 1;
  }
  // The largest k so that at most k of `count` fair coins fall low with a probability of at most 2.5 %.
  double probability = std::pow(0.5, static_cast<double>(count));
  double tail = 0.0;
  for (std::size_t k = 0; k <= count; ++k) {
    tail += probability;
    if (tail > tail_probability) return k == 0 ? count : k - 1;
    probability *= static_cast<double>(count - k) / static_cast<double>(k + 1);
  }
  return count;
}

MedianInterval median_interval(std::vector<double>& samples) {
  if (samples.empty()) return {-infinity, std::numeric_limits<double>::quiet_NaN(), infinity};
  for (double& sample : samples) {
    if (std::isnan(sample)) sample = infinity;
  }
  const double middle = median(samples);
  const std::size_t lower = lower_order_statistic(samples.size());
  if (lower >= samples.size()) return {-infinity, middle, infinity};
  return {order_statistic(samples, lower), middle, order_statistic(samples, samples.size() - 1 - lower)};
}

StoppingRule::StoppingRule(const Settings& settings, std::size_t series_count)
    : settings_(settings), samples_(series_count) {}

double StoppingRule::relative_half_width(std::vector<double>& samples) const {
  const MedianInterval interval = median_interval(samples);
  const double half_width = std::max(0.5 * (interval.high - interval.low), 0.5 * settings_.resolution);
  if (half_width == 0.0) return 0.0;
  const double relative = half_width / std::abs(interval.median);
  return std::isnan(relative) ? infinity : relative;
}

StoppingRule::Verdict StoppingRule::assess() {
  Verdict verdict;
  std::size_t fewest = samples_.empty() ? 0 : std::numeric_limits<std::size_t>::max();
  for (std::vector<double>& samples : samples_) {
    verdict.relative_half_width = std::max(verdict.relative_half_width, relative_half_width(samples));
    fewest = std::min(fewest, samples.size());
  }
  if (fewest >= settings_.min_samples && verdict.relative_half_width <= settings_.relative_half_width) {
    verdict.stop = Stop::precision;
  } else if (fewest >= settings_.max_samples) {
    verdict.stop = Stop::samples;
  }
  return verdict;
}

}  // namespace chiplog
