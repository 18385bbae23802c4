// Chooses the CPU on which each rank runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chiplog/bootstrap.hpp"
#include "core/nodes.hpp"
#include "core/topology.hpp"

namespace chiplog {

// `filled` takes the cores of one socket (and of one NUMA node in it) after those of another; `round_robin` takes one
// of each in turn. Both take second threads of cores when every core has a rank.
enum class Placement { filled, round_robin };

// The CPUs in the order in which the ranks of a node get them.
[[nodiscard]] std::vector<int> placement_order(Placement placement, std::vector<Cpu> cpus);

// `request` is filled, round-robin, none, or a list of CPUs with one for each rank, such as 0,2.
// UsageError for anything else.
struct PinRequest {
  enum class Kind { filled, round_robin, none, list };
  Kind kind = Kind::filled;
  std::vector<int> cpus;
};
[[nodiscard]] PinRequest parse_pin(std::string_view request, int ranks);

// The result of a request.
struct Binding {
  // filled, round-robin, none, list; or launcher, where that had given the ranks of a node CPUs of their own.
  std::string placement = "none";
  // Whether filled and round-robin would bind any rank of this run differently.
  bool placements_differ = false;
};

// Binds the calling thread; collective. Ranks of a node that may run on the same CPUs share those out. UsageError if
// a listed CPU is not allowed here.
[[nodiscard]] Binding bind_ranks(const PinRequest& request, Bootstrap& bootstrap, const std::vector<Node>& nodes);

}  // namespace chiplog
