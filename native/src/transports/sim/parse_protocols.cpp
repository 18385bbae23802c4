#include <algorithm>
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
  first.R_Cb = first.R_Ci = options.bytes_per_second("R_C", 0.0);
  first.R_Cb = options.bytes_per_second("R_Cb", first.R_Cb);
  first.R_Ci = options.bytes_per_second("R_Ci", first.R_Ci);
  return first;
}

// Null for a key that is no duration.
double* duration_named(Protocol& protocol, std::string_view key) {
  if (key == "L") return &protocol.L_ns;
  if (key == "o_s" || key == "o_min") return &protocol.o_s_ns;
  if (key == "o_r") return &protocol.o_r_ns;
  if (key == "g") return &protocol.g_ns;
  return key == "G" ? &protocol.G_ns : nullptr;
}

void set(Protocol& protocol, bool has_rates, const Assignment& one, const std::string& what) {
  const std::string named = what + ", key " + std::string(one.key) + ",";
  const auto duration_ns = [&] { return checked_duration(parse_duration_ns(one.value, named), named); };
  const auto rate = [&] { return parse_bytes_per_second(one.value, named); };
  double* const duration = duration_named(protocol, one.key);
  if (one.key == "o") {
    protocol.o_s_ns = protocol.o_r_ns = duration_ns();
  } else if (duration != nullptr && !(has_rates && one.key == "G")) {
    *duration = duration_ns();
  } else if (has_rates && one.key == "R_C") {
    protocol.R_Cb = protocol.R_Ci = rate();
  } else if (has_rates && one.key == "R_Cb") {
    protocol.R_Cb = rate();
  } else if (has_rates && one.key == "R_Ci") {
    protocol.R_Ci = rate();
  } else {
    const std::string accepted = has_rates ? "L, o, o_s, o_r, g, R_C, R_Cb and R_Ci" : "L, o, o_s, o_r, g and G";
    throw UsageError(what + " accepts " + accepted + " behind its size, not '" + std::string(one.key) + "'");
  }
}

struct ChangeText {
  std::uint64_t above_bytes;
  std::string_view assignments;
};

std::vector<ChangeText> split_changes(const std::vector<std::string>& texts, const std::string& what,
                                      std::string_view form) {
  std::vector<ChangeText> sorted;
  for (const std::string& text : texts) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string_view rest = std::string_view(text).substr(std::min(colon + 1, text.size()));
    sorted.push_back({parse_bytes(text.substr(0, colon), what), rest});
    if (rest.empty()) throw UsageError(what + " accepts " + std::string(form) + ", not '" + text + "'");
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const ChangeText& a, const ChangeText& b) { return a.above_bytes < b.above_bytes; });
  return sorted;
}

std::vector<ProtocolChange> parse_changes(Options& options, const Protocol& first, bool has_rates) {
  constexpr std::string_view form = "SIZE:key=value:..., such as 8KiB:L=9us:g=4us";
  const std::string what = options.named("change");
  const std::vector<std::string> texts = options.repeated("change");
  std::vector<ProtocolChange> changes;
  Protocol protocol = first;
  for (const ChangeText& text : split_changes(texts, what, form)) {
    if (!changes.empty() && changes.back().above_bytes == text.above_bytes) {
      throw UsageError(what + " is given twice for " + std::to_string(text.above_bytes) + " bytes");
    }
    for (const Assignment& one : parse_assignments(text.assignments, what, form)) {
      set(protocol, has_rates, one, what);
    }
    changes.push_back({text.above_bytes, protocol});
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
