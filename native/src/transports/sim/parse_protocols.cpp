#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "chiplog/error.hpp"
#include "core/quantity.hpp"
#include "transports/sim/assignments.hpp"
#include "transports/sim/parse.hpp"

namespace chiplog::sim {
namespace {

constexpr double slowest_bytes_per_second = 1e6;

Protocol parse_first(Options& options, bool has_rates) {
  Protocol first;
  const auto duration_ns = [&](std::string_view key, double fallback_ns) {
    return checked_duration(options.duration_ns(key, fallback_ns), options.named(key));
  };
  first.L_ns = duration_ns("L", first.L_ns);
  first.o_s_ns = first.o_r_ns = duration_ns("o", first.o_s_ns);
  first.o_s_ns = duration_ns("o_s", first.o_s_ns);
  first.o_s_ns = duration_ns("o_min", first.o_s_ns);
  first.o_r_ns = duration_ns("o_r", first.o_r_ns);
  first.g_ns = duration_ns("g", first.g_ns);
  first.G_ns = duration_ns("G", has_rates ? 0.0 : first.G_ns);
  first.O_s_ns = first.O_r_ns = duration_ns("O", 0.0);
  first.O_s_ns = duration_ns("O_s", first.O_s_ns);
  first.O_r_ns = duration_ns("O_r", first.O_r_ns);
  first.R_Cb = first.R_Ci = options.bytes_per_second("R_C", 0.0);
  first.R_Cb = options.bytes_per_second("R_Cb", first.R_Cb);
  first.R_Ci = options.bytes_per_second("R_Ci", first.R_Ci);
  return first;
}

// What the keys behind a size may be; under max-rate a byte takes what the rates say.
enum class Keys { loggops, rates, slopes };

std::string_view names_of(Keys keys) {
  if (keys == Keys::slopes) return "G, O, O_s and O_r";
  return keys == Keys::rates ? "L, o, o_s, o_r, g, R_C, R_Cb and R_Ci" : "L, o, o_s, o_r, g, G, O, O_s and O_r";
}

// The parameters that a key sets, none for a key that is not accepted.
std::vector<double*> set_by(Protocol& protocol, Keys keys, std::string_view key) {
  if (keys != Keys::rates) {
    if (key == "G") return {&protocol.G_ns};
    if (key == "O") return {&protocol.O_s_ns, &protocol.O_r_ns};
    if (key == "O_s") return {&protocol.O_s_ns};
    if (key == "O_r") return {&protocol.O_r_ns};
  }
  if (keys == Keys::slopes) return {};
  if (key == "L") return {&protocol.L_ns};
  if (key == "o") return {&protocol.o_s_ns, &protocol.o_r_ns};
  if (key == "o_s" || key == "o_min") return {&protocol.o_s_ns};
  if (key == "o_r") return {&protocol.o_r_ns};
  if (key == "g") return {&protocol.g_ns};
  if (keys != Keys::rates) return {};
  if (key == "R_C") return {&protocol.R_Cb, &protocol.R_Ci};
  if (key == "R_Cb") return {&protocol.R_Cb};
  if (key == "R_Ci") return {&protocol.R_Ci};
  return {};
}

void set(Protocol& protocol, Keys keys, const Assignment& one, const std::string& what) {
  const std::vector<double*> parameters = set_by(protocol, keys, one.key);
  if (parameters.empty()) {
    throw UsageError(what + " accepts " + std::string(names_of(keys)) + " behind its size, not '" +
                     std::string(one.key) + "'");
  }
  const std::string named = what + ", key " + std::string(one.key) + ",";
  const double value = one.key.starts_with("R_") ? parse_bytes_per_second(one.value, named)
                                                 : checked_duration(parse_duration_ns(one.value, named), named);
  for (double* parameter : parameters) *parameter = value;
}

struct ChangeText {
  Border border;
  std::uint64_t above_bytes;
  std::string_view assignments;
};

std::string_view form_of(Border border) {
  return border == Border::protocol ? "SIZE:key=value:..., such as 8KiB:L=9us:g=4us"
                                    : "SIZE:key=value:..., such as 64KiB:G=0.2ns";
}

void split(const std::vector<std::string>& texts, Border border, const std::string& what,
           std::vector<ChangeText>& into) {
  for (const std::string& text : texts) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string_view rest = std::string_view(text).substr(std::min(colon + 1, text.size()));
    into.push_back({border, parse_bytes(text.substr(0, colon), what), rest});
    if (rest.empty()) throw UsageError(what + " accepts " + std::string(form_of(border)) + ", not '" + text + "'");
  }
}

// Chooses the constants with which the lines of `above` meet those of `below` at a size, so that no time jumps there.
void meet_at(std::uint64_t bytes, const Protocol& below, Protocol& above, const std::string& what) {
  const double further_bytes = static_cast<double>(std::max<std::uint64_t>(bytes, 1) - 1);
  const auto meet = [&](double& constant_ns, double slope_below_ns, double slope_above_ns, const char* name) {
    constant_ns += further_bytes * (slope_below_ns - slope_above_ns);
    constexpr double rounding_ns = 1e-6;
    if (constant_ns > -rounding_ns) {
      constant_ns = std::max(constant_ns, 0.0);
      return;
    }
    throw UsageError(what + " accepts slopes whose lines meet at " + std::to_string(bytes) + " bytes without a " +
                     name + " below 0; this one needs " + std::to_string(std::lround(constant_ns)) + " ns");
  };
  meet(above.L_ns, below.G_ns, above.G_ns, "L");
  meet(above.g_ns, below.G_ns, above.G_ns, "g");
  meet(above.o_s_ns, below.O_s_ns, above.O_s_ns, "o_s");
  meet(above.o_r_ns, below.O_r_ns, above.O_r_ns, "o_r");
}

std::vector<ProtocolChange> parse_changes(Options& options, const Protocol& first, bool has_rates) {
  const std::vector<std::string> protocols = options.repeated("change");
  const std::vector<std::string> slopes = options.repeated("slope");
  std::vector<ChangeText> texts;
  split(protocols, Border::protocol, options.named("change"), texts);
  split(slopes, Border::slope, options.named("slope"), texts);
  std::stable_sort(texts.begin(), texts.end(),
                   [](const ChangeText& a, const ChangeText& b) { return a.above_bytes < b.above_bytes; });
  std::vector<ProtocolChange> changes;
  Protocol protocol = first;
  for (const ChangeText& text : texts) {
    const bool is_slope = text.border == Border::slope;
    const std::string what = options.named(is_slope ? "slope" : "change");
    if (!changes.empty() && changes.back().above_bytes == text.above_bytes) {
      throw UsageError(what + " is given beside another border at " + std::to_string(text.above_bytes) + " bytes");
    }
    const Protocol below = protocol;
    const Keys keys = is_slope ? Keys::slopes : has_rates ? Keys::rates : Keys::loggops;
    for (const Assignment& one : parse_assignments(text.assignments, what, form_of(text.border))) {
      set(protocol, keys, one, what);
    }
    if (is_slope) meet_at(text.above_bytes, below, protocol, what);
    changes.push_back({text.above_bytes, protocol, text.border});
  }
  return changes;
}

// Virtual time could overflow.
void refuse_standstill(const Options& options, const Protocol& protocol) {
  if (protocol.R_Cb >= slowest_bytes_per_second) return;
  throw UsageError(options.named(options.has("R_C") ? "R_C" : "R_Cb") + " accepts at least 1MB/s");
}

}  // namespace

void parse_protocols(Options& options, Parameters& parameters) {
  const bool has_rates = options.has("R_C") || options.has("R_Cb");
  parameters.first = parse_first(options, has_rates);
  parameters.changes = parse_changes(options, parameters.first, has_rates);
  if (!has_rates) return;
  refuse_standstill(options, parameters.first);
  for (const ProtocolChange& change : parameters.changes) refuse_standstill(options, change.protocol);
}

}  // namespace chiplog::sim
