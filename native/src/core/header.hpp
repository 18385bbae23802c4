// The first and the last line of a run file, and errors between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chiplog/availability.hpp"
#include "chiplog/error.hpp"
#include "core/endpoint.hpp"
#include "core/machine.hpp"
#include "core/nodes.hpp"
#include "core/pair_groups.hpp"
#include "core/pinning.hpp"
#include "core/run_settings.hpp"

namespace chiplog {

// What each rank tells rank 0 about itself.
struct RankFacts {
  std::string host;
  std::string boot;
  std::vector<int> cpus;
  std::optional<Cpu> place;  // where it is bound to one CPU
};

// All ranks of the run; the same on every rank.
struct World {
  std::vector<RankFacts> ranks;
  std::vector<Node> nodes;
  std::vector<PairGroups> pair_groups;
  Binding binding;
};

[[nodiscard]] std::string rank_facts_json(const RankFacts& facts);
[[nodiscard]] RankFacts parse_rank_facts(std::string_view json);

// These texts have no checksum.
[[nodiscard]] std::string header_json(const RunSettings& settings, Endpoint& endpoint, const World& world);
// A transport in the output of `--list`.
[[nodiscard]] std::string transport_json(std::string_view name, std::string_view summary, std::string_view options,
                                         const Capabilities& capabilities, const Availability& availability);
[[nodiscard]] std::string not_built_json(std::string_view name, std::string_view needs);
// For `--clock`: clock, machine and warnings; `why_not` says why the CPU's counter is not used, empty if it is.
[[nodiscard]] std::string machine_json(const ClockFacts& clock, std::string_view why_not, int local_ranks);

struct FooterFacts {
  std::int64_t records = 0;
  bool complete = true;
  std::string reason = "done";
  std::int64_t elapsed_ns = 0;
  double frequency_hz = 0.0;           // at the start; 0 if the clock has none
  double measured_frequency_hz = 0.0;  // over the whole run
};
[[nodiscard]] std::string footer_json(const FooterFacts& facts);
// With the rank that is lost, silent or wrong, where it is known.
[[nodiscard]] std::string error_json(const Error& error);

}  // namespace chiplog
