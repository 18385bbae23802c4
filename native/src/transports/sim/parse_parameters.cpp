#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "chiplog/error.hpp"
#include "transports/sim/parse.hpp"

namespace chiplog::sim {
namespace {

constexpr int max_ranks = 64;
constexpr std::int64_t most_free_messages = 10'000;
// Virtual time counts picoseconds in 64 bits; with this bound a run can't overflow it.
constexpr double max_duration_ns = 100e9;
constexpr double slowest_node_bytes_per_second = 1e6;

// Refuses two options that say the same in different ways, or of which one gives a truth that has no place for the
// other.
void refuse_beside(const Options& options, std::string_view key, std::initializer_list<std::string_view> others) {
  if (!options.has(key)) return;
  for (const std::string_view other : others) {
    if (options.has(other)) {
      throw UsageError(options.named(key) + " accepts no '" + std::string(other) + "' beside it");
    }
  }
}

void refuse_without(const Options& options, std::string_view key, std::string_view needed) {
  if (options.has(key) && !options.has(needed)) {
    throw UsageError(options.named(key) + " is accepted beside '" + std::string(needed) + "' only");
  }
}

void refuse_combinations(const Options& options) {
  refuse_beside(options, "o_min", {"o_s"});
  for (const std::string_view logfp : {"f", "o_max"}) {
    refuse_beside(options, logfp, {"S", "handshake", "O", "O_s", "O_r"});
  }
  refuse_beside(options, "R_C", {"R_Cb", "R_Ci"});
  for (const std::string_view max_rate : {"R_C", "R_Cb"}) {
    refuse_beside(options, max_rate, {"G", "O", "O_s", "O_r", "f", "o_max", "S", "handshake", "slope"});
  }
  refuse_without(options, "R_Cb", "R_Ci");
  refuse_without(options, "R_Ci", "R_Cb");
  if (!options.has("R_Cb")) refuse_without(options, "R_N", "R_C");
  refuse_without(options, "start-up", "R_N");
  refuse_beside(options, "lop",
                {"L", "o", "o_s", "o_r", "o_min", "o_max", "g", "G", "O", "O_s", "O_r", "f", "R_C", "R_Cb", "R_Ci", "S",
                 "handshake", "change", "slope"});
  refuse_beside(options, "states", {"lop", "o_max", "R_C", "R_Cb"});
  refuse_beside(options, "slow", {"lop", "f", "o_max", "R_C", "R_Cb", "S", "handshake"});
  refuse_beside(options, "duplex", {"lop", "f", "o_max", "R_C", "R_Cb"});
  refuse_without(options, "noise-kind", "noise");
  refuse_without(options, "progress", "handshake");
  refuse_without(options, "lop", "lop-overhead");
  refuse_without(options, "lop-overhead", "lop");
}

std::optional<NodeLimit> parse_node(Options& options) {
  NodeLimit node;
  node.R_N = options.bytes_per_second("R_N", node.R_N);
  if (node.R_N < slowest_node_bytes_per_second) throw UsageError(options.named("R_N") + " accepts at least 1MB/s");
  node.hides_start_up = options.choice("start-up", "added", {"added", "hidden"}) == "hidden";
  const bool has_rates = options.has("R_C") || options.has("R_Cb");
  return has_rates ? std::optional(node) : std::nullopt;
}

// Do answers to p messages wait for a receiver that is still sending or receiving? Then RTT(p) is not LogfP's.
bool answers_queue(const Protocol& protocol, const Parameters& parameters, int p) {
  const double posting_ns = p * protocol.o_s_ns + parameters.start_up.total_ns(p);
  const double each_ns = posting_ns / p;
  const double first_ns = protocol.o_s_ns + parameters.start_up.total_ns(1);
  double answer_ns = 0.0;
  double received_ns = posting_ns;
  for (int i = 1; i <= p; ++i) {
    const double waited = static_cast<double>(i) - static_cast<double>(parameters.f);
    const double sent_ns = std::max(i * each_ns, each_ns + waited * protocol.g_ns);
    answer_ns = sent_ns + 2.0 * protocol.L_ns + protocol.o_r_ns + first_ns;
    received_ns = std::max(received_ns, answer_ns) + protocol.o_r_ns;
  }
  constexpr double rounding_ns = 1e-3;
  return received_ns > answer_ns + protocol.o_r_ns + rounding_ns;
}

void refuse_slow_receives(const Options& options, const Parameters& parameters) {
  if (!options.has("f") && !options.has("o_max")) return;
  const auto refuse = [&](const Protocol& protocol) {
    for (int p = 1; p < parameters.ranks; ++p) {
      if (!answers_queue(protocol, parameters, p)) continue;
      throw UsageError(options.named("o_r") + " accepts less beside 'f' or 'o_max', as the answers of " +
                       std::to_string(p) + " peers would queue; 0 is LogfP's own");
    }
  };
  refuse(parameters.first);
  for (const ProtocolChange& change : parameters.changes) refuse(change.protocol);
}

}  // namespace

double checked_duration(double duration_ns, const std::string& what) {
  if (duration_ns > max_duration_ns) throw UsageError(what + " accepts at most 100s");
  return duration_ns;
}

Parameters parse_parameters(Options& options, std::uint64_t default_seed, int default_ranks) {
  refuse_combinations(options);
  Parameters parameters;
  parameters.ranks = static_cast<int>(options.integer("ranks", default_ranks, 2, max_ranks));
  parse_protocols(options, parameters);
  parameters.f = static_cast<std::uint64_t>(options.integer("f", 1, 1, most_free_messages));
  parameters.start_up.ns = checked_duration(options.duration_ns("o_max", 0.0), options.named("o_max"));
  parse_lop(options, parameters);
  parameters.node = parse_node(options);
  if (options.has("S")) parameters.S_bytes = options.bytes("S", 0);
  parameters.handshake = options.choice("handshake", "0", {"0", "sync"}) == "0" ? Handshake::none : Handshake::sync;
  parameters.progress =
      options.choice("progress", "always", {"always", "calls"}) == "always" ? Progress::always : Progress::calls;
  parameters.disturbances = parse_disturbances(options);
  parameters.slow = parse_slow(options, parameters.ranks);
  constexpr double two_engines = 1.0;
  constexpr double one_engine = 2.0;
  parameters.duplex = options.number("duplex", two_engines, two_engines, one_engine);
  constexpr std::int64_t largest_seed = std::int64_t{1} << 53;
  parameters.seed =
      static_cast<std::uint64_t>(options.integer("seed", static_cast<std::int64_t>(default_seed), 0, largest_seed));
  options.refuse_unknown();
  refuse_slow_receives(options, parameters);
  return parameters;
}

}  // namespace chiplog::sim
