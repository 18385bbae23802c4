// The two groups of ranks between which k pairs exchange messages: two nodes, or two parts of one.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chiplog/transport.hpp"
#include "core/nodes.hpp"
#include "core/pattern.hpp"
#include "core/topology.hpp"

namespace chiplog {

// Pair i is clients[i] and servers[i]; both lists are equally long.
struct PairGroups {
  std::array<std::string, 2> between;  // the names of both groups: of nodes, or a node's with its part behind it
  std::vector<Rank> clients;
  std::vector<Rank> servers;

  // The role of a rank when the first `pairs` pairs run.
  [[nodiscard]] Role role(Rank rank, std::int64_t pairs) const;
  // The other rank of its pair. Only for a rank that has a role.
  [[nodiscard]] Rank partner(Rank rank) const;
};

// `places` has a member for each rank: the CPU that it is bound to, nothing if it is not bound to one.
//
// Several nodes: every two of them, in order, the first node's ranks being clients. One node: its first two sockets
// that have ranks; else NUMA nodes, last-level caches, or two halves of its cores (of its ranks, where those are not
// bound). Never empty; groups are as large as the smaller one.
[[nodiscard]] std::vector<PairGroups> find_pair_groups(const std::vector<Node>& nodes,
                                                       const std::vector<std::optional<Cpu>>& places);

// Returns the groups with these names, or the first ones if no names are given. Returns null for unknown names.
[[nodiscard]] const PairGroups* choose_pair_groups(std::span<const PairGroups> groups,
                                                   const std::optional<std::array<std::string, 2>>& between);

}  // namespace chiplog
