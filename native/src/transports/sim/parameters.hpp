// The ground truth that a simulated network follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/options.hpp"

namespace chiplog::sim {

// LogGP parameters of one protocol; G is a time per byte.
struct Protocol {
  double L_ns = 5000.0;
  double o_s_ns = 1000.0;
  double o_r_ns = 1000.0;
  double g_ns = 2000.0;
  double G_ns = 0.5;
};

// In force above a message size.
struct ProtocolChange {
  std::uint64_t above_bytes = 0;
  Protocol protocol;
};

enum class Handshake { none, sync };

struct Parameters {
  Protocol first;
  std::vector<ProtocolChange> changes;   // ascending
  std::optional<std::uint64_t> S_bytes;  // above it a send waits for its receive
  Handshake handshake = Handshake::none;
  double noise = 0.0;     // standard deviation of the samples' logarithm
  double outliers = 0.0;  // share of the samples that are ten times as long
  std::uint64_t seed = 0;
  int ranks = 2;

  [[nodiscard]] const Protocol& protocol(std::size_t message_bytes) const;
  [[nodiscard]] bool waits_for_receive(std::size_t message_bytes) const;
  [[nodiscard]] std::string json() const;
};

// UsageError for what is not accepted. A change inherits what it doesn't name from the protocol below it.
[[nodiscard]] Parameters parse_parameters(Options& options, std::uint64_t default_seed, int default_ranks);

}  // namespace chiplog::sim
