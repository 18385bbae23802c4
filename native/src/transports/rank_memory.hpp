// Memory that several ranks of one node share, and which of them still live.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "chiplog/bootstrap.hpp"
#include "core/node_memory.hpp"

namespace chiplog {

// While a rank lives it holds its own place in the memory, so the others can tell.
class RankMemory {
 public:
  // Collective. This rank opens the zeroed memory of `bytes` that the rank `maker` makes; ranks may have different
  // makers, each of which names itself. All ranks have opened theirs when it returns, or have told why not.
  RankMemory(Bootstrap& bootstrap, Rank maker, std::size_t bytes);

  // Null where this rank has none.
  [[nodiscard]] std::byte* data() const { return memory_.data(); }
  // For each rank the reason why it has no memory; empty if it has.
  [[nodiscard]] const std::vector<std::string>& failures() const { return failures_; }
  // Whether `peer`, which shares this memory, still lives. One system call.
  [[nodiscard]] bool lives(Rank peer) const { return memory_.is_held(peer); }

 private:
  NodeMemory memory_;
  std::vector<std::string> failures_;
};

}  // namespace chiplog
