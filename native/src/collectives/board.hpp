// The shared memory of one process in which the ranks of its node meet: one board a process, one slot a communicator.
#pragma once

#include <sched.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

#include "collectives/node_flags.hpp"
#include "core/node_memory.hpp"

namespace chiplog::collectives {

// What a process shows the others of its node.
struct BoardPage {
  cpu_set_t allowed_cpus;
};

inline constexpr int board_slots = 4096;
inline constexpr std::size_t board_page_bytes = 4096;
inline constexpr std::size_t board_bytes = board_page_bytes + board_slots * sizeof(RankFlags);
static_assert(sizeof(BoardPage) <= board_page_bytes);

// The memory of a board, own or opened, as its parts.
[[nodiscard]] inline BoardPage& page_of(std::byte* board) { return *reinterpret_cast<BoardPage*>(board); }
[[nodiscard]] inline RankFlags* flags_on(std::byte* board, int slot) {
  return reinterpret_cast<RankFlags*>(board + board_page_bytes) + slot;
}

// The board of this process. Pages that no communicator uses take no memory.
class Board {
 public:
  Board() : memory_(NodeMemory::make(board_bytes)) {
    if (memory_.data() != nullptr) show_allowed_cpus();
  }

  // Null where the system refuses shared memory.
  [[nodiscard]] std::byte* data() const { return memory_.data(); }
  [[nodiscard]] NodeMemoryAddress address() const { return memory_.address(); }

  // The CPUs on which this process may run now.
  void show_allowed_cpus() {
    CPU_ZERO(&page_of(data()).allowed_cpus);
    sched_getaffinity(0, sizeof(cpu_set_t), &page_of(data()).allowed_cpus);
  }

  // A slot that no communicator uses; none where all are taken.
  [[nodiscard]] std::optional<int> claim() {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      const int slot = free_.back();
      free_.pop_back();
      return slot;
    }
    if (data() == nullptr || used_ == board_slots) return std::nullopt;
    new (flags_on(data(), used_)) RankFlags;
    return used_++;
  }

  // The slot may be claimed again. A rank that is still in the last barrier may look at it for a moment longer: its
  // flags only grow, so it sees that this rank has come.
  void release(int slot) {
    const std::lock_guard lock(mutex_);
    free_.push_back(slot);
  }

 private:
  NodeMemory memory_;
  std::mutex mutex_;
  std::vector<int> free_;
  int used_ = 0;
};

}  // namespace chiplog::collectives
