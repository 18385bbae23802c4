#include "transports/sim/parameters.hpp"

#include <algorithm>
#include <string_view>

#include "chiplog/error.hpp"
#include "core/json_object.hpp"
#include "core/quantity.hpp"

namespace chiplog::sim {
namespace {

constexpr int max_ranks = 64;
// Virtual time counts picoseconds in 64 bits; with this bound a run can't overflow it.
constexpr double max_duration_ns = 100e9;

double checked(double duration_ns, const std::string& what) {
  if (duration_ns > max_duration_ns) throw UsageError(what + " accepts at most 100s");
  return duration_ns;
}

void set_parameter(Protocol& protocol, std::string_view key, double value_ns, const std::string& what) {
  if (key == "L") {
    protocol.L_ns = value_ns;
  } else if (key == "o") {
    protocol.o_s_ns = protocol.o_r_ns = value_ns;
  } else if (key == "o_s") {
    protocol.o_s_ns = value_ns;
  } else if (key == "o_r") {
    protocol.o_r_ns = value_ns;
  } else if (key == "g") {
    protocol.g_ns = value_ns;
  } else if (key == "G") {
    protocol.G_ns = value_ns;
  } else {
    throw UsageError(what + " accepts L, o, o_s, o_r, g and G behind its size, not '" + std::string(key) + "'");
  }
}

struct ChangeText {
  std::uint64_t above_bytes;
  std::string_view assignments;  // key=value:key=value
};

void apply(Protocol& protocol, std::string_view assignments, const std::string& what) {
  while (!assignments.empty()) {
    const std::size_t colon = assignments.find(':');
    const std::string_view item = assignments.substr(0, colon);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      throw UsageError(what + " accepts SIZE:key=value:..., such as 8KiB:L=9us:g=4us, not '" + std::string(item) + "'");
    }
    const std::string named = what + ", key " + std::string(item.substr(0, equals)) + ",";
    set_parameter(protocol, item.substr(0, equals), checked(parse_duration_ns(item.substr(equals + 1), named), named),
                  what);
    assignments = colon == std::string_view::npos ? std::string_view{} : assignments.substr(colon + 1);
  }
}

std::vector<ProtocolChange> parse_changes(const std::vector<std::string>& texts, const Protocol& first,
                                          const std::string& what) {
  std::vector<ChangeText> sorted;
  for (const std::string& text : texts) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string_view rest = std::string_view(text).substr(std::min(colon + 1, text.size()));
    sorted.push_back({parse_bytes(text.substr(0, colon), what), rest});
    if (rest.empty())
      throw UsageError(what + " accepts SIZE:key=value:..., such as 8KiB:L=9us:g=4us, not '" + text + "'");
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const ChangeText& a, const ChangeText& b) { return a.above_bytes < b.above_bytes; });
  std::vector<ProtocolChange> changes;
  Protocol protocol = first;
  for (const ChangeText& text : sorted) {
    if (!changes.empty() && changes.back().above_bytes == text.above_bytes) {
      throw UsageError(what + " is given twice for " + std::to_string(text.above_bytes) + " bytes");
    }
    apply(protocol, text.assignments, what);
    changes.push_back({text.above_bytes, protocol});
  }
  return changes;
}

JsonObject protocol_object(const Protocol& protocol) {
  return JsonObject()
      .add("L_ns", protocol.L_ns)
      .add("o_s_ns", protocol.o_s_ns)
      .add("o_r_ns", protocol.o_r_ns)
      .add("g_ns", protocol.g_ns)
      .add("G_ns_per_byte", protocol.G_ns);
}

}  // namespace

const Protocol& Parameters::protocol(std::size_t message_bytes) const {
  const Protocol* in_force = &first;
  for (const ProtocolChange& change : changes) {
    if (message_bytes > change.above_bytes) in_force = &change.protocol;
  }
  return *in_force;
}

bool Parameters::waits_for_receive(std::size_t message_bytes) const { return S_bytes && message_bytes > *S_bytes; }

std::string Parameters::json() const {
  std::string list;
  for (const ProtocolChange& change : changes) {
    if (!list.empty()) list += ',';
    list += protocol_object(change.protocol).add("above_bytes", change.above_bytes).text();
  }
  return protocol_object(first)
      .add_json("S_bytes", S_bytes ? std::to_string(*S_bytes) : "null")
      .add("handshake", handshake == Handshake::none ? "0" : "sync")
      .add("noise", noise)
      .add("outliers", outliers)
      .add("seed", seed)
      .add_json("changes", "[" + list + "]")
      .text();
}

Parameters parse_parameters(Options& options, std::uint64_t default_seed, int default_ranks) {
  Parameters parameters;
  Protocol& first = parameters.first;
  const auto duration_ns = [&](std::string_view key, double fallback_ns) {
    return checked(options.duration_ns(key, fallback_ns), options.named(key));
  };
  first.L_ns = duration_ns("L", first.L_ns);
  first.o_s_ns = first.o_r_ns = duration_ns("o", first.o_s_ns);
  first.o_s_ns = duration_ns("o_s", first.o_s_ns);
  first.o_r_ns = duration_ns("o_r", first.o_r_ns);
  first.g_ns = duration_ns("g", first.g_ns);
  first.G_ns = duration_ns("G", first.G_ns);
  if (options.has("S")) parameters.S_bytes = options.bytes("S", 0);
  parameters.handshake = options.choice("handshake", "0", {"0", "sync"}) == "0" ? Handshake::none : Handshake::sync;
  parameters.noise = options.number("noise", 0.0, 0.0, 10.0);
  parameters.outliers = options.number("outliers", 0.0, 0.0, 1.0);
  parameters.changes = parse_changes(options.repeated("change"), first, options.named("change"));
  constexpr std::int64_t largest_seed = std::int64_t{1} << 53;
  parameters.seed =
      static_cast<std::uint64_t>(options.integer("seed", static_cast<std::int64_t>(default_seed), 0, largest_seed));
  parameters.ranks = static_cast<int>(options.integer("ranks", default_ranks, 2, max_ranks));
  options.refuse_unknown();
  return parameters;
}

}  // namespace chiplog::sim
