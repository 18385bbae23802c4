// Memory of each rank that all ranks of the host read and write directly.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "core/failures.hpp"
#include "transports/shm/shared_memory.hpp"

namespace chiplog::shm {

class Window {
 public:
  // Collective. No cache line belongs to two ranks.
  Window(Bootstrap& bootstrap, std::size_t bytes);

  [[nodiscard]] std::byte* data() const { return at(own_, 0); }
  [[nodiscard]] std::size_t capacity() const { return bytes_; }

  // The last byte is stored after all others, and seen by others after them.
  void write(Rank peer, std::size_t offset, const std::byte* source, std::size_t bytes) {
    check(peer, offset, bytes);
    if (bytes == 0) return;
    std::byte* target = at(peer, offset);
    std::memcpy(target, source, bytes - 1);
    std::atomic_ref(target[bytes - 1]).store(source[bytes - 1], std::memory_order_release);
  }
  void read(Rank peer, std::size_t offset, std::byte* target, std::size_t bytes) const {
    check(peer, offset, bytes);
    std::memcpy(target, at(peer, offset), bytes);
  }
  // The word is 8 bytes long and aligned to 8 bytes.
  [[nodiscard]] std::atomic_ref<std::uint64_t> word(Rank peer, std::size_t offset) const {
    check(peer, offset, sizeof(std::uint64_t));
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at(peer, offset)));
  }

 private:
  [[nodiscard]] std::byte* at(Rank rank, std::size_t offset) const {
    return memory_->data() + static_cast<std::size_t>(rank) * stride_ + offset;
  }
  void check(Rank peer, std::size_t offset, std::size_t bytes) const {
    if (offset > bytes_ || bytes > bytes_ - offset) [[unlikely]] {
      throw_outside_window(peer, offset, bytes, bytes_);
    }
  }

  Rank own_;
  std::size_t bytes_;
  std::size_t stride_;
  std::unique_ptr<RankMemory> memory_;
};

}  // namespace chiplog::shm
