// The ranks of one communicator that share a node, and the flags by which they meet.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "collectives/board.hpp"
#include "collectives/node_flags.hpp"
#include "collectives/patience.hpp"

namespace chiplog::collectives {

// A slot of this process' board, for as long as it lives.
class BoardSlot {
 public:
  BoardSlot() = default;
  explicit BoardSlot(Board& board) : board_(&board), slot_(board.claim().value_or(none)) {}
  ~BoardSlot() {
    if (has()) board_->release(slot_);
  }
  BoardSlot(BoardSlot&& other) noexcept { *this = std::move(other); }
  BoardSlot& operator=(BoardSlot&& other) noexcept {
    std::swap(board_, other.board_);
    std::swap(slot_, other.slot_);
    return *this;
  }

  [[nodiscard]] bool has() const { return slot_ != none; }
  [[nodiscard]] int number() const { return slot_; }
  // The last barrier that a communicator before has announced there.
  [[nodiscard]] std::uint64_t latest() const {
    const RankFlags& flags = *flags_on(board_->data(), slot_);
    const std::uint64_t entered = flags.entered.latest();
    const std::uint64_t released = flags.released.latest();
    return entered > released ? entered : released;
  }

 private:
  static constexpr int none = -1;

  Board* board_ = nullptr;
  int slot_ = none;
};

struct NodePart {
  std::vector<RankFlags*> flags;  // of all ranks of the node; empty for one that is alone there
  int rank = 0;
  Patience patience;
  std::uint64_t begun = 0;
  BoardSlot slot;

  [[nodiscard]] bool alone() const { return flags.size() < 2; }
  [[nodiscard]] NodeFlags node_flags() const { return {flags, rank, patience.looks(), begun}; }
};

}  // namespace chiplog::collectives
