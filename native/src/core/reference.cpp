#include "core/reference.hpp"

#include <algorithm>

#include "chiplog/median.hpp"

namespace chiplog {
namespace {

constexpr std::int64_t train_messages = 10;
constexpr std::int64_t fewest_rounds = 3;
constexpr std::int64_t most_rounds = 8;
// The first round after other messages finds cold caches.
constexpr std::int64_t warmup_rounds = 1;

}  // namespace

Reference::Reference(Patterns patterns) {
  const Pattern& round_trips = get_pattern(patterns, "prtt");
  setups_[round_trip] = {.pattern = &round_trips, .message_bytes = 1};
  setups_[train] = {.pattern = &round_trips, .message_bytes = 1, .train = train_messages};
  setups_[posting] = {.pattern = &get_pattern(patterns, "send_overhead"), .message_bytes = 1};
}

std::int64_t Reference::sample(Endpoint& endpoint, std::int64_t rounds) {
  std::array<SeriesSamples, series> unused;
  endpoint.sample(setups_, warmup_rounds, unused);
  const std::int64_t own_rounds = std::clamp(rounds / 4, fewest_rounds, most_rounds);
  endpoint.sample(setups_, own_rounds, samples_);
  return warmup_rounds + own_rounds;
}

std::optional<ReferenceTimes> Reference::times() const {
  if (samples_[round_trip].durations_ns.empty()) return std::nullopt;
  const double round_trip_ns = median_of(samples_[round_trip].durations_ns);
  const double further_ns = (median_of(samples_[train].durations_ns) - round_trip_ns) / (train_messages - 1);
  return ReferenceTimes{round_trip_ns / 2.0, std::max(further_ns, 0.0), median_of(samples_[posting].durations_ns)};
}

}  // namespace chiplog
