#include "simulation/noise.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <stdexcept>

#include "chiplog/split_mix.hpp"

namespace chiplog::simulation {
namespace {

constexpr std::uint64_t place_stream = std::numeric_limits<std::uint64_t>::max();

std::uint64_t draw(std::uint64_t seed, std::uint32_t rank, std::uint64_t interval, std::uint64_t which) {
  return split_mix(split_mix(split_mix(split_mix(seed) + rank) + interval) + which);
}

// In (0, 1].
double uniform(std::uint64_t bits) { return static_cast<double>((bits >> 11) + 1) * 0x1p-53; }

double of_mean_one(Distribution distribution, double first, double second) {
  switch (distribution) {
    case Distribution::exponential:
      return -std::log(first);
    case Distribution::half_normal:
      return std::sqrt(std::numbers::pi / 2.0) * std::sqrt(-2.0 * std::log(first)) *
             std::fabs(std::cos(2.0 * std::numbers::pi * second));
    case Distribution::pareto:
      return 1.0 / std::sqrt(first) - 1.0;
    case Distribution::none:
      break;
  }
  return 0.0;
}

void check(const NoiseParameters& parameters) {
  if (!(parameters.mean_ps >= 0 && parameters.mean_share >= 0))
    throw std::invalid_argument("the mean of noise must not be negative");
  if (!(parameters.probability >= 0 && parameters.probability <= 1))
    throw std::invalid_argument("the probability of noise must lie in 0..1");
  Picoseconds before = 0;
  for (const Detour& one : parameters.detours) {
    if (one.start < before || one.length <= 0)
      throw std::invalid_argument("detours must ascend, lie apart and be longer than 0");
    before = add(one.start, one.length);
  }
}

}  // namespace

Noise::Noise(const NoiseParameters& parameters, std::uint32_t ranks)
    : parameters_(parameters), detours_(parameters.detours) {
  check(parameters_);
  if (parameters_.distribution != Distribution::none) drawn_.resize(ranks);
  if (detours_.empty()) return;
  period_ = detours_.back().start + detours_.back().length;
  Picoseconds lost = 0;
  for (const Detour& one : detours_) {
    worked_.push_back(one.start - lost);
    lost += one.length;
  }
  if (worked_.back() == 0) throw std::invalid_argument("detours must leave some time for work");
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    places_.push_back(
        static_cast<Picoseconds>(draw(parameters_.seed, rank, place_stream, 0) % static_cast<std::uint64_t>(period_)));
}

Picoseconds Noise::end(std::uint32_t rank, Picoseconds start, Picoseconds duration) {
  const Picoseconds longer = drawn_.empty() ? duration : add(duration, drawn(rank, duration));
  return detours_.empty() ? add(start, longer) : behind_detours(rank, start, longer);
}

Picoseconds Noise::drawn(std::uint32_t rank, Picoseconds duration) {
  const std::uint64_t interval = drawn_[rank]++;
  const auto number = [&](std::uint64_t which) { return uniform(draw(parameters_.seed, rank, interval, which)); };
  if (number(0) > parameters_.probability) return 0;
  const double mean = parameters_.mean_ps + parameters_.mean_share * static_cast<double>(duration);
  const double added = std::floor(mean * of_mean_one(parameters_.distribution, number(1), number(2)) + 0.5);
  if (!(added < 0x1p63)) throw TimeOverflow();
  return static_cast<Picoseconds>(added);
}

// Work is counted from the beginning of the trace: the work done by the interval's end is the work done by its start
// plus its duration. One pass over the trace holds worked_.back() of work.
Picoseconds Noise::behind_detours(std::uint32_t rank, Picoseconds start, Picoseconds duration) const {
  if (duration == 0) return start;
  const Picoseconds place = (places_[rank] + start % period_) % period_;
  const Picoseconds wanted = add(worked_until(place), duration);
  const Picoseconds rounds = (wanted - 1) / worked_.back();
  const Picoseconds in_round = wanted - rounds * worked_.back();
  // The detours that begin before all work is done.
  const auto behind = std::lower_bound(worked_.begin(), worked_.end(), in_round);
  Picoseconds lost = 0;
  if (behind != worked_.begin()) {
    const auto last = static_cast<std::size_t>(std::distance(worked_.begin(), behind)) - 1;
    lost = detours_[last].start + detours_[last].length - worked_[last];
  }
  Picoseconds whole_rounds = 0;
  if (__builtin_mul_overflow(rounds, period_, &whole_rounds)) throw TimeOverflow();
  return add(start, add(whole_rounds, in_round + lost) - place);
}

Picoseconds Noise::worked_until(Picoseconds place) const {
  const auto after = std::upper_bound(detours_.begin(), detours_.end(), place,
                                      [](Picoseconds at, const Detour& one) { return at < one.start; });
  if (after == detours_.begin()) return place;
  const auto last = static_cast<std::size_t>(std::distance(detours_.begin(), after)) - 1;
  const Picoseconds end = detours_[last].start + detours_[last].length;
  return worked_[last] + std::max<Picoseconds>(0, place - end);
}

}  // namespace chiplog::simulation
