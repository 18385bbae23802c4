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
  // The descriptor by which libfabric names local memory.
  [[nodiscard]] void* descriptor() const { return descriptor_; }

 private:
  RegisteredMemory memory_;
  void* descriptor_;
};

class OfiWindow {
 public:
  // A peer's part, by the address and key that operations name it with.
  struct Part {
    std::uint64_t address;
    std::uint64_t key;
  };

  // There is one part for each rank.
  OfiWindow(RegisteredMemory memory, std::vector<Part> parts) : memory_(std::move(memory)), parts_(std::move(parts)) {}

  [[nodiscard]] std::byte* data() { return memory_.data(); }
  [[nodiscard]] std::size_t capacity() const { return memory_.capacity(); }
  [[nodiscard]] const Part& part_of(Rank peer) const { return parts_[static_cast<std::size_t>(peer)]; }

 private:
  RegisteredMemory memory_;
  std::vector<Part> parts_;
};

// Address space that takes what is too long for its receive. libfabric's shm never returns from a receive whose buffer
// is too short for a long message, so that must not happen. No memory is used until then.
class Overflow {
 public:
  Overflow() = default;
  // The space is empty where the system can't give that much.
  explicit Overflow(std::size_t bytes);
  ~Overflow();
  Overflow(const Overflow&) = delete;
  Overflow& operator=(const Overflow&) = delete;

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

 private:
  void* data_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace chiplog::ofi
