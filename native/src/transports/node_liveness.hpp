// Tells which ranks of this node are still alive, for transports whose libraries don't notice a death.
#pragma once

#include <cstddef>
#include <vector>

#include "chiplog/bootstrap.hpp"
#include "core/nodes.hpp"
#include "transports/rank_memory.hpp"

namespace chiplog {

// By a memory that the ranks of a node share.
class NodeLiveness {
 public:
  // Collective.
  explicit NodeLiveness(Bootstrap& bootstrap);

  // False once `peer` is gone. Ranks of other nodes always seem to live, and so do all where those of this node can't
  // share memory. One system call.
  [[nodiscard]] bool lives(Rank peer) const;

 private:
  std::vector<Node> nodes_;
  std::size_t here_;
  RankMemory memory_;
  bool shares_;
};

}  // namespace chiplog
