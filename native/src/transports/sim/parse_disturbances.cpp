#include <array>
#include <string>
#include <string_view>

#include "chiplog/error.hpp"
#include "core/quantity.hpp"
#include "transports/sim/parse.hpp"

namespace chiplog::sim {
namespace {

// Histories of shorter states would grow without need.
constexpr double shortest_state_ns = 10e3;

template <std::size_t count>
std::array<std::string_view, count> split(std::string_view text, const std::string& what, std::string_view form) {
  std::array<std::string_view, count> parts;
  std::string_view rest = text;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t colon = i + 1 == count ? rest.size() : rest.find(':');
    if (colon == std::string_view::npos) {
      throw UsageError(what + " accepts " + std::string(form) + ", not '" + std::string(text) + "'");
    }
    parts[i] = rest.substr(0, colon);
    rest = i + 1 == count ? std::string_view{} : rest.substr(colon + 1);
  }
  return parts;
}

Drift parse_drift(const std::string& text, const std::string& what) {
  const auto parts = split<2>(text, what, "CORRELATION:DEVIATION, such as 0.9:0.05");
  const Drift drift{parse_number(parts[0], what), parse_number(parts[1], what)};
  if (drift.correlation < 0.0 || drift.correlation >= 1.0 || drift.deviation < 0.0 || drift.deviation > 10.0) {
    throw UsageError(what + " accepts a correlation of at least 0 and below 1, and a deviation from 0 to 10");
  }
  return drift;
}

States parse_states(const std::string& text, const std::string& what) {
  const auto parts = split<3>(text, what, "FACTOR:SHARE:LENGTH, such as 1.5:0.3:20ms");
  const States states{parse_number(parts[0], what), parse_number(parts[1], what),
                      checked_duration(parse_duration_ns(parts[2], what), what)};
  if (states.factor < 0.1 || states.factor > 100.0 || states.share <= 0.0 || states.share >= 1.0 ||
      states.mean_length_ns < shortest_state_ns) {
    throw UsageError(what + " accepts a factor from 0.1 to 100, a share above 0 and below 1, and at least 10us");
  }
  return states;
}

Slow parse_one_slow(const std::string& text, const std::string& what, int ranks) {
  const auto parts = split<2>(text, what, "FACTOR:RANK or FACTOR:RANK-RANK, such as 3:2 or 3:2-5");
  const auto rank = [&](std::string_view digits) {
    return static_cast<Rank>(parse_integer(std::string(digits), what, 0, ranks - 1));
  };
  Slow slow{.factor = parse_number(parts[0], what)};
  if (slow.factor < 0.1 || slow.factor > 100.0) throw UsageError(what + " accepts a factor from 0.1 to 100");
  const std::size_t dash = parts[1].find('-');
  slow.first = rank(parts[1].substr(0, dash));
  if (dash == std::string_view::npos) return slow;
  slow.second = rank(parts[1].substr(dash + 1));
  if (slow.first == *slow.second) throw UsageError(what + " accepts two different ranks of a pair");
  return slow;
}

}  // namespace

std::vector<Slow> parse_slow(Options& options, int ranks) {
  std::vector<Slow> slow;
  const std::string what = options.named("slow");
  for (const std::string& text : options.repeated("slow")) slow.push_back(parse_one_slow(text, what, ranks));
  return slow;
}

Disturbances parse_disturbances(Options& options) {
  Disturbances disturbances;
  disturbances.noise = options.number("noise", 0.0, 0.0, 10.0);
  const bool is_skewed = options.choice("noise-kind", "log-normal", {"log-normal", "skewed"}) == "skewed";
  disturbances.kind = is_skewed ? NoiseKind::skewed : NoiseKind::log_normal;
  disturbances.outliers = options.number("outliers", 0.0, 0.0, 1.0);
  const bool drifts = options.has("drift");
  const std::string drift = options.text("drift", "");
  if (drifts) disturbances.drift = parse_drift(drift, options.named("drift"));
  const bool takes_turns = options.has("states");
  const std::string states = options.text("states", "");
  if (takes_turns) disturbances.states = parse_states(states, options.named("states"));
  return disturbances;
}

}  // namespace chiplog::sim
