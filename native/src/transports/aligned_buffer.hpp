// Message memory: page-aligned, all pages touched, with room in front of the payload for a header.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

namespace chiplog {

// Room behind the payload is rounded up to whole cache lines, so that reading a little too far is harmless.
template <std::size_t headroom_bytes>
class AlignedBuffer {
 public:
  explicit AlignedBuffer(std::size_t capacity_bytes) : capacity_(capacity_bytes) {
    const std::size_t bytes = headroom + (capacity_bytes / line_bytes + 1) * line_bytes;
    memory_.reset(static_cast<std::byte*>(::operator new(bytes, alignment)));
    std::memset(memory_.get(), 0, bytes);
  }

  [[nodiscard]] std::byte* data() { return memory_.get() + headroom; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  // The bytes of a header just in front of the payload.
  [[nodiscard]] std::byte* frame() { return data() - headroom_bytes; }

 private:
  static constexpr std::size_t line_bytes = 64;
  static constexpr std::size_t headroom = (headroom_bytes + line_bytes - 1) / line_bytes * line_bytes;
  static constexpr std::align_val_t alignment{4096};
  struct Delete {
    void operator()(std::byte* memory) const { ::operator delete(memory, alignment); }
  };

  std::unique_ptr<std::byte, Delete> memory_;
  std::size_t capacity_;
};

}  // namespace chiplog
