// Which ranks of this node still live, for transports whose libraries don't notice an end.
#pragma once

#include "bootstrap/socket.hpp"
#include "chiplog/bootstrap.hpp"
#include "core/nodes.hpp"

namespace chiplog {

// Each rank holds a lock on a byte of its own in a file without a name that the ranks of a node share; the system drops
// the lock with the object or with the process, however that ends.
class NodeLiveness {
 public:
  // Collective.
  explicit NodeLiveness(Bootstrap& bootstrap);

  // False once `peer` is gone. Ranks of other nodes, and those that this one can't share a file with, always seem to
  // live. One system call.
  [[nodiscard]] bool lives(Rank peer) const;

 private:
  std::vector<Node> nodes_;
  std::size_t here_;
  FileDescriptor file_;
};

}  // namespace chiplog
