// The ranks of one process agree through its memory.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "chiplog/bootstrap.hpp"
#include "transports/sim/fibers.hpp"

namespace chiplog::sim {

// The memory that all ranks see. It outlives their bootstraps.
struct Blackboard {
  explicit Blackboard(int ranks)
      : from_root(static_cast<std::size_t>(ranks)), to_root(static_cast<std::size_t>(ranks)) {}
  std::vector<std::deque<std::string>> from_root;
  std::vector<std::deque<std::string>> to_root;
};

class InProcessBootstrap final : public Bootstrap {
 public:
  InProcessBootstrap(Fibers& fibers, Blackboard& board, Rank rank) : fibers_(fibers), board_(board), rank_(rank) {}

  [[nodiscard]] Rank rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(board_.to_root.size()); }
  std::string broadcast(std::string_view blob) override;
  std::vector<std::string> gather(std::string_view blob) override;
  void barrier() override;

 private:
  std::string take(std::deque<std::string>& blobs);

  Fibers& fibers_;
  Blackboard& board_;
  Rank rank_;
};

}  // namespace chiplog::sim
