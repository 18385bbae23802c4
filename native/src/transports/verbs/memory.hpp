// Memory that the device may reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "transports/aligned_buffer.hpp"
#include "transports/verbs/device.hpp"

namespace chiplog::verbs {

// Zeroed memory, registered for everything that this rank and its peers do with it. It must be destroyed before its
// device.
class RegisteredMemory {
 public:
  // Throws Error if the device refuses; the usual reason is the limit of locked memory.
  RegisteredMemory(const Device& device, std::size_t bytes);

  [[nodiscard]] std::byte* data() { return memory_.data(); }
  [[nodiscard]] std::size_t capacity() const { return memory_.capacity(); }
  [[nodiscard]] std::uint32_t local_key() const { return region_->lkey; }
  [[nodiscard]] std::uint32_t remote_key() const { return region_->rkey; }

  // What a work request says of a part of this memory.
  [[nodiscard]] ibv_sge part(std::size_t offset, std::size_t bytes) {
    return {reinterpret_cast<std::uintptr_t>(data() + offset), static_cast<std::uint32_t>(bytes), local_key()};
  }

 private:
  AlignedBuffer<0> memory_;
  Owned<ibv_mr> region_;
};

// Where a peer's memory is, as work requests name it.
struct RemoteMemory {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
};

// This rank's part of memory that all ranks may reach, and where the parts of the others are.
class Window {
 public:
  Window(RegisteredMemory memory, std::vector<RemoteMemory> peers)
      : memory_(std::move(memory)), peers_(std::move(peers)) {}

  [[nodiscard]] std::byte* data() { return memory_.data(); }
  [[nodiscard]] std::size_t capacity() const { return memory_.capacity(); }
  [[nodiscard]] RemoteMemory at(int peer, std::size_t offset) const {
    const RemoteMemory& there = peers_[static_cast<std::size_t>(peer)];
    return {there.address + offset, there.key};
  }

 private:
  RegisteredMemory memory_;
  std::vector<RemoteMemory> peers_;
};

}  // namespace chiplog::verbs
