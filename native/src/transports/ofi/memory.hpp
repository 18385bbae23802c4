// Memory that libfabric may read and write: message buffers, and windows that peers reach.
#pragma once

#include <rdma/fi_domain.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "chiplog/transport.hpp"
#include "transports/aligned_buffer.hpp"
#include "transports/ofi/library.hpp"

namespace chiplog::ofi {

// The registration ends before the memory does; there is none where the provider needs none.
class RegisteredMemory {
 public:
  RegisteredMemory(AlignedBuffer<0> memory, Owned<fid_mr> registration)
      : memory_(std::move(memory)), registration_(std::move(registration)) {}
  ~RegisteredMemory() = default;
  RegisteredMemory(RegisteredMemory&&) noexcept = default;
  RegisteredMemory& operator=(RegisteredMemory&& other) noexcept {
    registration_ = std::move(other.registration_);
    memory_ = std::move(other.memory_);
    return *this;
  }

  [[nodiscard]] std::byte* data() { return memory_.data(); }
  [[nodiscard]] std::size_t capacity() const { return memory_.capacity(); }
  [[nodiscard]] fid_mr* registration() const { return registration_.get(); }

 private:
  AlignedBuffer<0> memory_;
  Owned<fid_mr> registration_;
};

class OfiBuffer {
 public:
  explicit OfiBuffer(RegisteredMemory memory)
      : memory_(std::move(memory)),
        descriptor_(memory_.registration() == nullptr ? nullptr : fi_mr_desc(memory_.registration())) {}

  [[nodiscard]] std::byte* data() { return memory_.data(); }
  [[nodiscard]] std::size_t capacity() const { return memory_.capacity(); }
  // What local operands are named by.
  [[nodiscard]] void* descriptor() const { return descriptor_; }

 private:
  RegisteredMemory memory_;
  void* descriptor_;
};

class OfiWindow {
 public:
  // A peer's part, as operations name it.
  struct Part {
    std::uint64_t address;
    std::uint64_t key;
  };

  // One part a rank.
  OfiWindow(RegisteredMemory memory, std::vector<Part> parts) : memory_(std::move(memory)), parts_(std::move(parts)) {}

  [[nodiscard]] std::byte* data() { return memory_.data(); }
  [[nodiscard]] std::size_t capacity() const { return memory_.capacity(); }
  [[nodiscard]] const Part& part_of(Rank peer) const { return parts_[static_cast<std::size_t>(peer)]; }

 private:
  RegisteredMemory memory_;
  std::vector<Part> parts_;
};

}  // namespace chiplog::ofi
