// The ground truth that a simulated network follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "chiplog/transport.hpp"
#include "core/options.hpp"
#include "transports/sim/disturbances.hpp"
#include "transports/sim/lop.hpp"
#include "transports/sim/start_up.hpp"

namespace chiplog::sim {

// LogGOPS parameters of one protocol; G, O_s and O_r are times per byte. o_s is LogfP's o_min. Under max-rate a byte
// takes what the rates of the sending processes say, in bytes per second, instead of G.
struct Protocol {
  double L_ns = 5000.0;
  double o_s_ns = 1000.0;
  double o_r_ns = 1000.0;
  double g_ns = 2000.0;
  double G_ns = 0.5;
  double O_s_ns = 0.0;  // 0: LogGP
  double O_r_ns = 0.0;
  double R_Cb = 0.0;  // of the first process of a node
  double R_Ci = 0.0;  // that each further one adds
};

enum class Border { protocol, slope };

// A protocol in force above a message size. Where only slopes change, no time jumps.
struct ProtocolChange {
  std::uint64_t above_bytes = 0;
  Protocol protocol;
  Border border = Border::protocol;
};

enum class Handshake { none, sync };

// When a handshake goes on: at any time, or only while both ranks are in a call, not while they compute.
enum class Progress { always, calls };

// What all processes of a node share. There are two nodes, each with half of the ranks.
struct NodeLimit {
  double R_N = std::numeric_limits<double>::infinity();  // bytes per second
  bool hides_start_up = false;                           // the NIC works while L, o_s and o_r pass
};

// A rank whose CPU, or a pair of ranks whose link, takes so many times as long.
struct Slow {
  double factor = 1.0;
  Rank first = 0;
  std::optional<Rank> second = std::nullopt;  // of a pair
};

struct Parameters {
  Protocol first;
  std::vector<ProtocolChange> changes;   // ascending
  std::optional<std::uint64_t> S_bytes;  // above it a send waits for its receive
  Handshake handshake = Handshake::none;
  Progress progress = Progress::always;
  std::uint64_t f = 1;            // messages of a process that are free of the gap
  StartUp start_up;               // what beginning to send costs beyond o_s
  std::optional<LoP> lop;         // instead of L, g and G
  std::optional<NodeLimit> node;  // under max-rate
  Disturbances disturbances;
  std::vector<Slow> slow;
  double duplex =
      1.0;  // how many times as long a byte takes while its process receives another; 2: one engine for both
  std::uint64_t seed = 0;
  int ranks = 2;

  [[nodiscard]] const Protocol& protocol(std::size_t message_bytes) const;
  // What o_s, o_r, O_s and O_r of a rank, and L, g and G between two ranks are multiplied by.
  [[nodiscard]] double cpu_factor(Rank rank) const;
  [[nodiscard]] double link_factor(Rank one, Rank other) const;
  [[nodiscard]] bool waits_for_receive(std::size_t message_bytes) const;
  // Does what a send costs depend on how many are posted in a row?
  [[nodiscard]] bool counts_sends_in_a_row() const { return start_up.ns > 0.0 || lop.has_value(); }
  [[nodiscard]] std::string json() const;
};

// Throws UsageError for what is not accepted. A change inherits what it doesn't name from the protocol below it.
[[nodiscard]] Parameters parse_parameters(Options& options, std::uint64_t default_seed, int default_ranks);

}  // namespace chiplog::sim
