// Finds the ranks that share a node: a host as its ranks see it, with its own memory and network interfaces.
#pragma once

#include <string>
#include <vector>

#include "chiplog/bootstrap.hpp"

namespace chiplog {

struct Node {
  std::string name;         // its host's name, with a number behind it where several nodes have that name
  std::vector<Rank> ranks;  // ascending
};

// All nodes in the order of their first ranks. Collective, the same on every rank.
[[nodiscard]] std::vector<Node> find_nodes(Bootstrap& bootstrap);

// The index of the node that a rank is on.
[[nodiscard]] std::size_t node_of(const std::vector<Node>& nodes, Rank rank);

}  // namespace chiplog
