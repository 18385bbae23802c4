#include "transports/sim/parameters.hpp"

#include "core/json_object.hpp"

namespace chiplog::sim {
namespace {

JsonObject protocol_object(const Protocol& protocol, bool has_rates) {
  JsonObject object;
  object.add("L_ns", protocol.L_ns)
      .add("o_s_ns", protocol.o_s_ns)
      .add("o_r_ns", protocol.o_r_ns)
      .add("g_ns", protocol.g_ns)
      .add("G_ns_per_byte", protocol.G_ns)
      .add("O_s_ns_per_byte", protocol.O_s_ns)
      .add("O_r_ns_per_byte", protocol.O_r_ns);
  if (has_rates) {
    object.add("R_Cb_bytes_per_second", protocol.R_Cb).add("R_Ci_bytes_per_second", protocol.R_Ci);
  }
  return object;
}

std::string lop_json(const LoP& lop) {
  return JsonObject()
      .add("C_ns", lop.C_ns)
      .add("l1_ns", lop.l1_ns)
      .add("l2", lop.l2)
      .add("A_ns", lop.A_ns)
      .add("tau", lop.tau)
      .text();
}

void add_disturbances(JsonObject& object, const Disturbances& disturbances) {
  object.add("noise", disturbances.noise)
      .add("noise_kind", disturbances.kind == NoiseKind::skewed ? "skewed" : "log-normal")
      .add("outliers", disturbances.outliers)
      .add("drift_correlation", disturbances.drift.correlation)
      .add("drift_deviation", disturbances.drift.deviation);
  if (!disturbances.states) return;
  object.add_json("states", JsonObject()
                                .add("factor", disturbances.states->factor)
                                .add("share", disturbances.states->share)
                                .add("mean_length_ns", disturbances.states->mean_length_ns)
                                .text());
}

std::string slow_json(const std::vector<Slow>& slow) {
  std::string list;
  for (const Slow& one : slow) {
    std::string ranks = std::to_string(one.first);
    if (one.second) ranks += "," + std::to_string(*one.second);
    list += list.empty() ? "" : ",";
    list += JsonObject().add("factor", one.factor).add_json("ranks", "[" + ranks + "]").text();
  }
  return "[" + list + "]";
}

}  // namespace

const Protocol& Parameters::protocol(std::size_t message_bytes) const {
  const Protocol* in_force = &first;
  for (const ProtocolChange& change : changes) {
    if (message_bytes > change.above_bytes) in_force = &change.protocol;
  }
  return *in_force;
}

double Parameters::cpu_factor(Rank rank) const {
  double factor = 1.0;
  for (const Slow& one : slow) {
    if (!one.second && one.first == rank) factor *= one.factor;
  }
  return factor;
}

double Parameters::link_factor(Rank one_end, Rank other_end) const {
  double factor = 1.0;
  for (const Slow& one : slow) {
    const bool same = one.first == one_end && one.second == other_end;
    const bool reverse = one.first == other_end && one.second == one_end;
    if (same || reverse) factor *= one.factor;
  }
  return factor;
}

bool Parameters::waits_for_receive(std::size_t message_bytes) const { return S_bytes && message_bytes > *S_bytes; }

std::string Parameters::json() const {
  std::string list;
  for (const ProtocolChange& change : changes) {
    if (!list.empty()) list += ',';
    list += protocol_object(change.protocol, node.has_value())
                .add("above_bytes", change.above_bytes)
                .add("border", change.border == Border::protocol ? "protocol" : "slope")
                .text();
  }
  JsonObject object = protocol_object(first, node.has_value());
  object.add_json("S_bytes", S_bytes ? std::to_string(*S_bytes) : "null")
      .add("handshake", handshake == Handshake::none ? "0" : "sync")
      .add("f", f)
      .add("start_up_ns", start_up.ns)
      .add("start_up_shift", start_up.shift)
      .add_json("lop", lop ? lop_json(*lop) : "null");
  if (node) {
    object.add("R_N_bytes_per_second", node->R_N).add("start_up", node->hides_start_up ? "hidden" : "added");
  }
  add_disturbances(object, disturbances);
  if (!slow.empty()) object.add_json("slow", slow_json(slow));
  if (duplex > 1.0) object.add("duplex", duplex);
  if (progress == Progress::calls) object.add("progress", "calls");
  return object.add("seed", seed).add_json("changes", "[" + list + "]").text();
}

}  // namespace chiplog::sim
